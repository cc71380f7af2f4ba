r"""Kernel ridge regression.

Model        f(x) = sum_i a_i k(x_i, x), no intercept
Estimator    argmin sum_i v_i (y_i - f(x_i))^2 + alpha |f|_H^2
Algorithm    a = S (S K S + alpha I)^-1 S y, S = diag(sqrt v), by Cholesky.    n^3/3
             linear kernel, p < n: ridge weights w first, then a = v (y - X w)/alpha.    n p^2
Leave out    the residual of row i under the fit without it is m_i / (s_i M_ii), where
             M = (S K S + alpha I)^-1 and m = M S y: no fit is repeated

References: Saunders, Gammerman & Vovk (1998); Murphy (2012), section 14.4.3.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack, lstsq
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.functions import kernels
from pellucid.core.functions.kernels import Kernel, KernelLike, LinearKernel, PrecomputedKernel
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.kernel.functions.named import named_kernel

STEADY = 1e-6  # alpha relative to |X|^2 from which the ridge weights lose no digits that matter


class KernelRidgeFit(NamedTuple):
    dual_coef: Array  # (n, t)
    left_out: Array | None  # (n, t) residuals


def solve_dual(
    K: Array, Y: Array, v: Array, alpha: float, leave_out: bool, *, own: bool = False
) -> KernelRidgeFit:
    """a for targets (n, t) with one alpha; ``own`` (weights 1): K may be overwritten."""
    s = np.sqrt(v)
    G = K if own else K.copy()
    if (v != 1).any():
        G *= np.outer(s, s)
    diagonal = np.diagonal(G) + alpha
    np.fill_diagonal(G, diagonal)
    L, info = lapack.dpotrf(G.T, lower=1, clean=0, overwrite_a=1)  # leaves G below its diagonal
    SY = s[:, None] * Y
    if info:  # alpha = 0 and a singular kernel: the least-squares solution
        G = np.tril(G, -1)
        G += G.T
        np.fill_diagonal(G, diagonal)
        K = G - alpha * np.eye(len(G)) if own else K
        M = np.linalg.pinv(G, hermitian=True) if leave_out else None
        m = lstsq(G, SY)[0]
    else:
        m = lapack.dpotrs(L, SY, lower=1)[0]
        M = lapack.dpotri(L, lower=1, overwrite_c=1)[0] if leave_out else None
    left = None
    if M is not None:
        scale = s * np.diag(M)
        seen = scale > 0
        left = np.where(seen[:, None], m / np.where(seen, scale, 1.0)[:, None], np.nan)
        if not seen.all():  # a row without weight was never in
            left[~seen] = (Y - K @ (s[:, None] * m))[~seen]
    return KernelRidgeFit(s[:, None] * m, left)


def solve_primal(X: Array, Y: Array, v: Array, alpha: float) -> Array:
    """a of the linear kernel from the ridge weights."""
    V = v[:, None]
    H = X.T @ (V * X)
    H[np.diag_indices(len(H))] += alpha
    w = cho_solve(cho_factor(H, lower=True), X.T @ (V * Y))
    return V * (Y - X @ w) / alpha


class KernelRidge(Regressor):
    """Ridge regression in the feature space of a kernel.

    Parameters
    ----------
    alpha : float or array of one for each target, default=1
        Strength of the penalty, at least 0.
    kernel : str, Kernel or callable, default="linear"
        linear, poly, rbf, laplacian, sigmoid, cosine, chi2, additive_chi2, precomputed; a callable
        takes two rows.
    gamma : float or None, default=None
        Of rbf, laplacian, poly, sigmoid: None is 1/n_features; of chi2: None is 1.
    degree : float, default=3
        Of poly.
    coef0 : float, default=1
        Constant inside poly and sigmoid.
    kernel_params : dict or None, default=None
        Further arguments of a callable.
    leave_one_out : bool, default=False
        Keep the leave-one-out residuals (another n^3 flops).

    Attributes
    ----------
    dual_coef_ : array (n,) or (n, t)
    X_fit_ : the training rows (their Gram matrix for "precomputed")
    leave_one_out_residuals_ : y minus the prediction of the fit without the row
    leave_one_out_error_ : their mean square, weighted

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import KernelRidge
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = KernelRidge(0.01, kernel="rbf", gamma=1.0, leave_one_out=True)
    >>> model.fit(X, np.sin(X[:, 0])).predict([[1.5]]).round(2), model.leave_one_out_error_ < 1e-3
    (array([1.]), True)
    """

    _squares_x = True

    _accepts_sparse = True

    def __init__(
        self,
        alpha: float | Sequence[float] | Array = 1,
        *,
        kernel: KernelLike = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: dict[str, Any] | None = None,
        leave_one_out: bool = False,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.leave_one_out = leave_one_out

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return kernels.is_precomputed(self.kernel)

    def _kernel(self) -> Kernel:
        numbers = self.gamma, self.degree, self.coef0
        return named_kernel(self.kernel, *numbers, self.kernel_params, self.n_features_in_)

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """Solve for the dual coefficients of the rows."""
        check.non_negative(degree=self.degree)
        check._number("coef0", self.coef0)
        check.boolean(leave_one_out=self.leave_one_out)
        rows = self._check_training(X, y, sample_weight)
        if self._precomputed and rows.X.shape[0] != rows.X.shape[1]:
            square = "Precomputed matrix must be a square matrix, that of the training rows"
            raise ValueError(f"{square}, got shape {rows.X.shape}")
        Y = rows.y.reshape(rows.n_rows, -1)
        alphas = self._alphas(Y.shape[1])
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=sample_weight)
        dual, left = self._solve(rows.X, Y, rows.w, alphas)
        self.dual_coef_ = dual.reshape(rows.y.shape)
        self.X_fit_ = rows.X.copy()  # the caller may change its own
        if left is not None:
            self.leave_one_out_residuals_ = left.reshape(rows.y.shape)
            squares = (left**2).mean(axis=1)
            self.leave_one_out_error_ = float(rows.w @ squares / rows.w.sum())
        context.end()
        return self

    def _alphas(self, n_targets: int) -> Array:
        alphas = np.atleast_1d(np.asarray(self.alpha))
        finite = alphas.dtype.kind in "iuf" and bool(np.isfinite(alphas).all())
        if not finite or not (alphas >= 0).all() or alphas.ndim > 1:
            need = "one finite number >= 0 or one a target"
            raise ValueError(f"alpha must be {need}, got {self.alpha!r}")
        if len(alphas) not in (1, n_targets):
            raise ValueError(f"alpha must be 1 or {n_targets} numbers, got {len(alphas)}")
        return np.broadcast_to(alphas.astype(np.float64), (n_targets,))

    def _solve(
        self, X: np.ndarray, Y: Array, v: Array, alphas: Array
    ) -> tuple[Array, Array | None]:
        kernel, dual, left = self._kernel(), np.empty_like(Y), None
        n, p = X.shape
        low = isinstance(kernel, LinearKernel) and isinstance(X, np.ndarray) and 2 * p < n
        if low and not self.leave_one_out and alphas.min() > STEADY * np.square(X).sum():
            for alpha in np.unique(alphas):
                dual[:, alphas == alpha] = solve_primal(X, Y[:, alphas == alpha], v, alpha)
            return dual, None
        K = np.asarray(kernel(X))
        left = np.empty_like(Y) if self.leave_one_out else None
        several = np.unique(alphas)
        own = len(several) == 1 and (v == 1).all() and kernel.code() is not None  # made here
        for alpha in several:
            chosen = alphas == alpha
            found = solve_dual(K, Y[:, chosen], v, float(alpha), self.leave_one_out, own=own)
            dual[:, chosen] = found.dual_coef
            if left is not None:
                left[:, chosen] = found.left_out
        return dual, left

    def predict(self, X: ArrayLike) -> Array:
        """sum_i a_i k(x_i, x), block by block."""
        rows = self._check_input(X)
        kernel, fitted = self._kernel(), self.X_fit_
        if isinstance(kernel, PrecomputedKernel):
            return np.asarray(rows @ self.dual_coef_)
        if isinstance(kernel, LinearKernel):
            return np.asarray(rows @ (fitted.T @ self.dual_coef_))

        def block(start: int) -> Array:
            return np.asarray(kernel(rows[start : start + LEAF_ROWS], fitted)) @ self.dual_coef_

        return np.concatenate(list(map_threads(block, range(0, rows.shape[0], LEAF_ROWS))))

    def _check_state(self) -> None:
        if hasattr(self, "dual_coef_"):
            expected = len(self.dual_coef_), self.n_features_in_
            if self.X_fit_.shape != expected:
                raise ValueError("X_fit_ and dual_coef_ do not fit together")

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        n = len(self.dual_coef_)
        numbers = {"rows": n, "largest |a|": float(np.abs(self.dual_coef_).max())}
        if hasattr(self, "leave_one_out_error_"):
            numbers["leave-one-out mean square"] = self.leave_one_out_error_
        return Card(
            representation="f(x) = sum_i a_i k(x_i, x)",
            evaluation=f"sum of squared errors + alpha |f|^2 in the kernel's space, "
            f"alpha = {self.alpha}, kernel = {self.kernel}",
            optimisation="one Cholesky factorisation: the minimum is exact",
            numbers=numbers,
        )
