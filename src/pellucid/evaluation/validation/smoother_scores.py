r"""Leave-one-out and generalised cross-validation without a refit, for every linear smoother.

    yhat = H y:   LOO = mean ((y_i - yhat_i)/(1 - h_ii))^2,   GCV = MSE / (1 - tr(H)/n)^2

Least squares, ridge, smoothing splines and kernel ridge are such smoothers.

References: Craven & Wahba (1979); Golub, Heath & Wahba (1979); ESL, eq. 7.52 and 7.64.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.linear.least_squares import smoother


def _pair(y: ArrayLike, fitted: ArrayLike) -> tuple[Array, Array]:
    """Finite numbers of one shape."""
    found = []
    for name, values in (("y", y), ("fitted", fitted)):
        array = np.asarray(values, dtype=np.float64)
        if array.ndim not in (1, 2) or len(array) == 0:
            raise ValueError(f"{name} must hold one row per example, got shape {array.shape}")
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            raise ValueError(f"{name} contains NaN or infinity in row {row}")
        found.append(array)
    if found[0].shape != found[1].shape:
        raise ValueError(f"y has shape {found[0].shape} and fitted {found[1].shape}")
    return found[0], found[1]


def leave_one_out(y: ArrayLike, fitted: ArrayLike, leverage: ArrayLike) -> Any:
    """Mean squared leave-one-out error of a linear smoother, from one fit.

    ``y`` and ``fitted`` are (n,) or (n, k); ``leverage`` is h_ii, the diagonal of H, each below 1
    (a row with 1 is named). A number, or one per target.

    >>> from pellucid.evaluation import leave_one_out
    >>> float(leave_one_out([1, 2, 3, 4, 5, 6], [3.5] * 6, [1 / 6] * 6).round(6))
    4.2
    """
    y, fitted = _pair(y, fitted)
    h = np.asarray(leverage, dtype=np.float64)
    if h.shape != (len(y),) or not np.isfinite(h).all():
        raise ValueError(f"leverage must be {len(y)} finite numbers, got shape {h.shape}")
    return (smoother.leave_one_out(y - fitted, h) ** 2).mean(axis=0)


def generalised_cross_validation(y: ArrayLike, fitted: ArrayLike, effective_df: float) -> Any:
    """MSE / (1 - tr(H)/n)^2: leave-one-out with every leverage replaced by their mean.

    ``y`` and ``fitted`` are (n,) or (n, k); ``effective_df`` is tr(H), below n. A number, or one
    per target.

    >>> from pellucid.evaluation import generalised_cross_validation
    >>> float(generalised_cross_validation([1, 2, 3, 4, 5, 6], [3.5] * 6, 1).round(6))
    4.2
    """
    y, fitted = _pair(y, fitted)
    n = len(y)
    df = np.asarray(effective_df, dtype=np.float64)
    if not ((df >= 0) & (df < n)).all():
        raise ValueError(f"effective_df must be >= 0 and below the {n} rows, got {effective_df!r}")
    return ((y - fitted) ** 2).mean(axis=0) / (1 - df / n) ** 2
