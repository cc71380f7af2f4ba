r"""Reliability: do events foreseen with probability p happen with frequency p?

Given       probabilities p_i, outcomes y_i = 0 or 1, in groups of equal p
Solve       Brier mean (p - y)^2 = reliability - resolution + uncertainty
Step        in a group with n_k rows, probability p_k and observed share o_k, the mean of (p_k -
            y)^2 is (p_k - o_k)^2 + o_k (1 - o_k). Over groups, with o the share of all: reliability
            sum n_k/n (p_k - o_k)^2 (0 if calibrated), resolution sum n_k/n (o_k - o)^2 (how far
            groups differ), uncertainty o (1 - o). The expected calibration error is sum n_k/n |p_k
            - o_k|.
Cost        n log n.
The fast version bins by quantiles or width, with Wilson limits for every bin.
"""

from typing import NamedTuple

import numpy as np


class Reliability(NamedTuple):
    observed: np.ndarray  # of every distinct probability, rising
    ece: float
    brier: float
    reliability: float
    resolution: float
    uncertainty: float


def reliability(p: np.ndarray, y: np.ndarray) -> Reliability:
    """One group per distinct probability."""
    values = np.unique(p)
    share = np.array([(p == v).mean() for v in values])
    o = np.array([y[p == v].mean() for v in values])
    mean = y.mean()
    return Reliability(
        o,
        float(share @ np.abs(values - o)),
        float(((p - y) ** 2).mean()),
        float(share @ (values - o) ** 2),
        float(share @ (o - mean) ** 2),
        float(mean * (1 - mean)),
    )
