r"""Bootstrap .632+: an error between that of seen and of unseen rows.

Given       bootstrap samples: n draws with replacement, and the rows each leaves out
Solve       value = (1 - w) apparent + w out_of_bag, w = .632 / (1 - .368 R)
Step        the apparent error, on the rows of the fit, is too small; the out-of-bag error is a
            little too large, since a sample holds only 63.2 % of the rows: .632 weighs them. A
            model that fits anything makes the apparent error useless: R = (oob - apparent) / (none
            - apparent) measures it, "none" being the error if truth and prediction were unrelated.
Cost        B + 1 fits.
The fast version fits in parallel, for any metric.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

Predictor = Callable[[np.ndarray], np.ndarray]
Learner = Callable[[np.ndarray, np.ndarray], Predictor]


class Estimate(NamedTuple):
    value: float
    apparent: float
    out_of_bag: float
    no_information: float


def bootstrap_632(
    learn: Learner, X: np.ndarray, y: np.ndarray, samples: list[np.ndarray]
) -> Estimate:
    """The error rate of a classifier; ``samples`` holds the drawn rows of each sample."""
    said = learn(X, y)(X)
    apparent = float((said != y).mean())
    none = float((said[:, None] != y[None, :]).mean())  # all n^2 pairs
    errors = []
    for sample in samples:
        out = np.setdiff1d(np.arange(len(y)), sample)
        errors.append((learn(X[sample], y[sample])(X[out]) != y[out]).mean())
    oob = float(np.mean(errors))
    R = min(max((oob - apparent) / (none - apparent), 0.0), 1.0)
    w = 0.632 / (1 - 0.368 * R)
    return Estimate((1 - w) * apparent + w * oob, apparent, oob, none)
