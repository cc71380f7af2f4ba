r"""The best constant: which number to predict depends on what an error costs.

Minimise    f(a) = sum_i loss(y_i - a) over a
Step        squared: f' = -2 sum (y_i - a) = 0 at the mean. Absolute: the slope at a is (rows below)
            - (rows above), so it changes sign at the median. Quantile q: errors above cost q, below
            1 - q each, so the sign changes where a share q lies below.
Cost        n, or a sort.
The fast version knows more losses, weights, and distributions in the place of samples.
"""

import numpy as np


def best_constant(y: np.ndarray, loss: str, q: float = 0.5) -> float:
    """The least minimiser for ``loss`` in squared, absolute, quantile."""
    if loss == "squared":
        return float(y.mean())
    share = 0.5 if loss == "absolute" else q
    ordered = np.sort(y)
    below = np.arange(1, len(y) + 1) / len(y)  # share of rows up to and including each
    return float(ordered[np.argmax(below >= share - 1e-12)])
