r"""One-standard-error rule: the simplest model that is not clearly worse than the best.

Given       estimated losses m_j with standard errors s_j, and how complex each model is
Solve       among the models with m_j <= m_best + s_best the least complex one
Step        the best of many estimates is best partly by luck; models within its noise cannot be
            told apart by these data, and a simpler one is easier to explain and varies less.
Cost        the number of models.
The fast version is the same rule, for scores and losses.
"""

import numpy as np


def one_standard_error(m: np.ndarray, s: np.ndarray, complexity: np.ndarray) -> int:
    """Position of the chosen model; among equally simple ones the better."""
    best = int(m.argmin())
    near = np.flatnonzero(m <= m[best] + s[best])
    return int(min(near, key=lambda j: (complexity[j], m[j])))
