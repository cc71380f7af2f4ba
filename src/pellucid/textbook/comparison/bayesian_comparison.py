r"""Bayesian comparison: how probable is it that one model is better?

Given       differences d_1, ..., d_k of two models' scores, fold by fold, and a width that matters
Solve       P(mean difference < -rope), P(within), P(> rope)
Step        with a flat prior and normal, equally correlated differences the posterior of the mean
            is Student's t of k - 1 degrees around mean(d), of squared scale (1/k + n_test/n_train)
            s^2 (Corani and Benavoli): the corrected t-test read as a belief. It can say "the same",
            which a test cannot.
Cost        k.
The fast version is the same formula.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr


class Belief(NamedTuple):
    worse: float
    equivalent: float
    better: float


def bayesian_comparison(d: np.ndarray, ratio: float, rope: float = 0.01) -> Belief:
    """``ratio`` is n_test / n_train."""
    k = len(d)
    scale = np.sqrt((1 / k + ratio) * d.var(ddof=1))
    low, high = (stdtr(k - 1, (edge - d.mean()) / scale) for edge in (-rope, rope))
    return Belief(float(low), float(high - low), float(1 - high))
