r"""Linear smoothers: fits that are a fixed matrix times y, yhat = H y.

With z = (1, x - mean) and Cov(theta) in the coordinates of z,

    h(x) = z' A z = sum_r (z'T_r)^2 g_r,     H_ij = sum_r (z_i'T_r)(z_j'T_r) g_r

where A = T diag(g) T' is (D'D)^-1 for least squares and (D'D + alpha I_w)^-1 for ridge. From H
follow, with no refit,

    df = tr H,   r_i^(-i) = r_i / (1 - h_ii)   (leave one out),   GCV = MSE / (1 - tr H / n)^2.

References: Craven & Wahba (1979); Golub, Heath & Wahba (1979); ESL, eq. 7.52 and 7.64.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_number_target, check_weights
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.linear.least_squares.jackknife import jackknife_plus


class Smoother(NamedTuple):
    """What H needs: nothing of the size of the data is kept."""

    mean: Array  # (p,) the point the rows are looked at from
    intercept: bool
    basis: Array  # (q, r) T, the intercept's row first
    gain: Array  # (r,) or, with one penalty per target, (r, k)
    reason: str  # why there is no H, or nothing


def scores(X: Array, smoother: Smoother) -> Array:
    """z'T for every row: (n, r)."""
    slopes = smoother.basis[1:] if smoother.intercept else smoother.basis
    Q = (X - smoother.mean) @ slopes
    if smoother.intercept:
        Q += smoother.basis[0]
    return Q


def leverages(X: Array, smoother: Smoother) -> Array:
    """h(x) for every row: (n,) or (n, k).

    >>> line = Smoother(np.zeros(1), True, np.eye(2), np.ones(2), "")
    >>> leverages(np.array([[2.0]]), line)
    array([5.])
    """
    return scores(X, smoother) ** 2 @ smoother.gain


def leave_one_out(residuals: Array, leverage: Array) -> Array:
    """r_i / (1 - h_ii); a row with h_ii = 1 decides its own fit and has no such residual."""
    h = leverage if leverage.ndim == residuals.ndim else leverage[:, None]
    room = 1 - h
    tight = room <= 1e-10  # beyond rounding, such a row is fitted exactly whatever its y
    if tight.any():
        row = int(np.argwhere(tight)[0][0])
        raise ValueError(f"{own_fit(row)}, so leaving it out cannot be judged from this fit")
    return residuals / room


def own_fit(row: int) -> str:
    """Why a row cannot be left out."""
    return f"row {row} has leverage 1: the fit goes through it whatever its y"


def no_freedom(n: float, df: float) -> str:
    """Why there is no estimate of the noise."""
    what = f"{n:g} observations for {df:g} degrees of freedom"
    return f"{what} leave nothing to estimate the noise from"


def intercept_first(b: float | Array, coef: Array, *, intercept: bool) -> Array:
    """All parameters of k targets, the intercept first: (k, q)."""
    coef = np.atleast_2d(coef)
    return np.column_stack([np.atleast_1d(b), coef]) if intercept else coef


class Smoothing(Protocol):
    """A linear model whose fit is H y; the functions below become its methods."""

    _smoother: Smoother
    df_: Any

    def predict(self, X: ArrayLike) -> Array: ...

    def _dense_input(self, X: ArrayLike) -> Array: ...


def linear_smoother(model: Smoothing) -> Smoother:
    """What H needs, refused where the fit is not H y."""
    check_is_fitted(model)
    if model._smoother.reason:
        raise ValueError(model._smoother.reason)
    return model._smoother


def leverage(self: Smoothing, X: ArrayLike) -> Array:
    """h(x) = z'Az for any rows; on the training rows the diagonal of H, with sum ``df_``."""
    return leverages(self._dense_input(X), linear_smoother(self))


def hat_matrix(self: Smoothing, X: ArrayLike) -> Array:
    """H of the training rows X: the matrix with yhat = H y (one copy of each row)."""
    smoother = linear_smoother(self)
    if smoother.gain.ndim == 2:
        raise ValueError("hat_matrix needs one alpha for all targets, got one per target")
    Q = scores(self._dense_input(X), smoother)
    return (Q * smoother.gain) @ Q.T


def loo_residuals(self: Smoothing, X: ArrayLike, y: ArrayLike) -> Array:
    """y_i minus its prediction by the fit without row i; X, y are the training data."""
    smoother = linear_smoother(self)
    fit, X = self.predict(X), self._dense_input(X)
    y = check_number_target(y, len(X), True, self)
    return leave_one_out(y - fit, leverages(X, smoother))


def loocv(
    self: Smoothing, X: ArrayLike, y: ArrayLike, sample_weight: np.ndarray | None = None
) -> Any:
    """Mean squared leave-one-out residual; X, y, weights are the training data."""
    r = loo_residuals(self, X, y)
    mean = np.average(r**2, axis=0, weights=check_weights(sample_weight, r))
    return mean if r.ndim == 2 else float(mean)


def gcv(
    self: Smoothing, X: ArrayLike, y: ArrayLike, sample_weight: np.ndarray | None = None
) -> Any:
    """Generalised cross-validation, MSE / (1 - tr H / n)^2, on the training data."""
    linear_smoother(self)
    fit = self.predict(X)
    y = check_number_target(y, len(fit), True, self)
    w = check_weights(sample_weight, fit)
    mse = np.average((y - fit) ** 2, axis=0, weights=w)
    value = mse / (1 - np.asarray(self.df_) / w.sum()) ** 2
    return value if y.ndim == 2 else float(value)


def jackknife_interval(
    self: Smoothing,
    X_new: ArrayLike,
    X: ArrayLike,
    y: ArrayLike,
    *,
    confidence: float = 0.95,
    sample_weight: np.ndarray | None = None,
) -> Array:
    """Jackknife+ intervals (n_new, 2), or (n_new, k, 2), from the training data X, y.

    They use the fits without each row, without refitting, and need no normal noise: for
    exchangeable rows they cover with probability at least 1 - 2 (1 - confidence) whatever the
    distribution, and in practice about ``confidence``.

    >>> from pellucid import LinearRegression
    >>> x = [[float(i)] for i in range(20)]
    >>> y = [float(i + i % 3) for i in range(20)]
    >>> model = LinearRegression().fit(x, y)
    >>> model.jackknife_interval([[10.0]], x, y, confidence=0.8).round(2)
    array([[ 9.78, 12.09]])
    """
    smoother = linear_smoother(self)
    residuals = loo_residuals(self, X, y)
    w = check_weights(sample_weight, residuals)
    Q, new = scores(self._dense_input(X), smoother), scores(self._dense_input(X_new), smoother)
    return jackknife_plus(self.predict(X_new), new, Q, smoother.gain, residuals, w, confidence)
