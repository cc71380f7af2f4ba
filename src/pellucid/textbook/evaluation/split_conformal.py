r"""Split conformal prediction: intervals that cover, whatever the model and the noise.

Given       a model f fitted on some rows, residuals R_i = |y_i - f(x_i)| of n other rows
Solve       f(x) -+ q, q the ceil((n + 1) c)-th smallest residual, for coverage c
Step        if the n rows and the new one could come in any order with the same probability, the new
            residual is equally likely to take each of the n + 1 places among them: it is at most
            the k-th smallest with probability at least k / (n + 1). Nothing is assumed about f.
Cost        one fit and one sort.
The fast version has widths that follow x, and uses all rows (jackknife+, cv+).
"""

import numpy as np


def conformal_quantile(scores: np.ndarray, c: float) -> float:
    """Infinity if there are too few rows to promise c."""
    k = int(np.ceil((len(scores) + 1) * c - 1e-9))
    return float(np.sort(scores)[k - 1]) if k <= len(scores) else float("inf")


def split_conformal(
    f_calibration: np.ndarray, y_calibration: np.ndarray, f_new: np.ndarray, c: float = 0.95
) -> np.ndarray:
    """Intervals (m, 2) around the predictions of new rows."""
    q = conformal_quantile(np.abs(y_calibration - f_calibration), c)
    return np.column_stack([f_new - q, f_new + q])
