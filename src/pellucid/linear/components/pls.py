r"""Partial least squares regression: directions of X that vary and go with y.

Model        y = ybar + sum_m q_m z_m + e,  z_m linear in X and orthogonal to each other
Algorithm    for m = 1..M on standardised X, y (both centred):
                 u_m = leading left singular vector of X'Y     (one target: X'y / |X'y|)
                 z_m = X u_m,  p_m = X'z_m/(z_m'z_m),  q_m = Y'z_m/(z_m'z_m)
                 X <- X - z_m p_m',   Y <- Y - z_m q_m'
             z_m = X_original r_m with r_m = u_m - sum_(j < m) (p_j'u_m) r_j,  w_M = sum r_m q_m'
             on the few rows that stand for all (``core.algebra.least_squares.Compact``), so one
             pass over the data is enough; M = rank gives least squares.     O(n p^2 + M p^2)

NIPALS iterates towards u_m; here it is computed exactly, so ``n_iter_`` is 1 for every component.

References: Wold (1975); Wegelin (2000); ESL, section 3.5.2.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from pellucid.base import Transformer, with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.components import scores
from pellucid.linear.components.scores import (
    deviations,
    refuse_components,
    rotate,
    warn_used_up,
)
from pellucid.linear.least_squares.summary import bare
from pellucid.linear.linear_model import LinearModel, one_dimensional


class LatentFit(NamedTuple):
    """M components of p columns and k targets, in standardised units; unused ones are 0."""

    weights: Array  # (p, M) u
    x_loadings: Array  # (p, M)
    y_loadings: Array  # (k, M) q; also the y weights
    rotations: Array  # (p, M) r
    rss: Array  # (k, M + 1) squares of y left over after 0..M components, within the span of X
    used: int


def fit_latent(A: Array, C: Array, n_components: int) -> LatentFit:
    """Partial least squares of centred rows C (m, k) on A (m, p); both are copied."""
    A, C = A.copy(), C.copy()
    (m, p), k = A.shape, C.shape[1]
    U, P, R = (np.zeros((p, n_components)) for _ in range(3))
    Q, rss = np.zeros((k, n_components)), np.tile((C**2).sum(axis=0)[:, None], n_components + 1)
    size = np.linalg.norm(A)
    limit = max(m, p) * EPS * size * np.linalg.norm(C)
    for j in range(n_components):
        u = leading_direction(A.T @ C, limit)
        z = A @ u if u is not None else np.zeros(m)
        squares = z @ z
        if u is None or squares <= (max(m, p) * EPS * size) ** 2:
            return LatentFit(U, P, Q, R, rss, j)
        U[:, j], P[:, j], Q[:, j] = u, A.T @ z / squares, C.T @ z / squares
        R[:, j] = u - R[:, :j] @ (P[:, :j].T @ u)
        A -= np.outer(z, P[:, j])
        C -= np.outer(z, Q[:, j])
        rss[:, j + 1 :] = (C**2).sum(axis=0)[:, None]
    return LatentFit(U, P, Q, R, rss, n_components)


def leading_direction(S: Array, limit: float) -> Array | None:
    """The leading left singular vector of X'Y, its largest entry positive; None where X'Y = 0."""
    if not np.linalg.norm(S) > limit:
        return None
    u = S[:, 0] / np.linalg.norm(S[:, 0]) if S.shape[1] == 1 else leading_left(S)
    return u if u[np.abs(u).argmax()] > 0 else -u


def leading_left(S: Array) -> Array:
    """By the smaller of the two Gram matrices, polished by one step on S itself."""
    if S.shape[0] <= 2 * S.shape[1]:
        return np.linalg.svd(S, full_matrices=False)[0][:, 0]
    R = np.linalg.qr(S, mode="r")  # (k, k): S = QR has the right singular vectors of R
    u = S @ np.linalg.svd(R)[2][0]
    return u / np.linalg.norm(u)


class PLSRegression(ClassNamePrefixFeaturesOutMixin, Transformer, LinearModel):
    """Partial least squares regression of one or several targets.

    Parameters
    ----------
    n_components : int, default=2
        Components to keep, at most min(n, p); as many as the rank of X give least squares.
    scale : bool, default=True
        Divide the columns of X and y by their standard deviation (n - 1) first.
    max_iter, tol
        Accepted for scikit-learn's sake; the directions are exact, not iterated.
    copy : bool, default=True
        Accepted for scikit-learn's sake; X and y are never changed.

    Attributes
    ----------
    coef_, intercept_ : (k, p) and (k,), y = X @ coef_.T + intercept_
    x_weights_, x_loadings_, x_rotations_ : (p, M); transform is standardised X @ x_rotations_
    y_weights_, y_loadings_, y_rotations_ : (k, M)
    x_scores_, y_scores_ : (n, M), after a fit in memory only
    coef_path_ : (p, M + 1), or (k, p, M + 1) for 2-D y; column m for m components
    rss_path_ : (M + 1,) or (k, M + 1), entry 0 is the mean
    n_iter_ : 1 for each component

    Examples
    --------
    >>> from pellucid import PLSRegression
    >>> X = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [2.0, 2.0, 2.0], [2.0, 5.0, 4.0]]
    >>> model = PLSRegression(n_components=2).fit(X, [0.1, 0.9, 6.2, 11.9])
    >>> model.rss_path_.round(3)
    array([89.668,  0.316,  0.217])
    """

    _check_parameters = scores.check_parameters
    _state_shapes = scores.state_shapes
    predict = scores.predict
    transform = scores.transform
    fit_transform = scores.fit_transform
    inverse_transform = scores.inverse_transform

    def __init__(
        self,
        n_components: int = 2,
        *,
        scale: bool = True,
        max_iter: int = 500,
        tol: float = 1e-06,
        copy: bool = True,
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.copy = copy

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the components one after the other and regress on them."""
        return self._fit_memory(X, y, sample_weight)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        refuse_components(self, min(rows.n_rows, self.n_features_in_), rows.n_rows)
        small = self._compact(rows, map_, intercept=True)
        with single_threaded_blas():
            x_std = deviations((small.A**2).sum(axis=0), small.weight, scale=self.scale)
            y_std = deviations(small.tss, small.weight, scale=self.scale)
            fit = fit_latent(small.A / x_std, small.c / y_std, self.n_components)
            self._set(small, fit, x_std, y_std, one_dimensional(rows))
            if fit.rss[:, -1].sum() <= EPS * fit.rss[:, 0].sum():
                warn_used_up(self, fit.used, "y", "all of y that X can explain is explained")
            for name in ("x_scores_", "y_scores_"):
                self.__dict__.pop(name, None)
            if isinstance(rows, Rows):
                self.x_scores_, self.y_scores_ = self._scores(rows)

    def _set(
        self, small: Compact, fit: LatentFit, x_std: Array, y_std: Array, single: bool
    ) -> None:
        self.x_weights_, self.x_loadings_, self.x_rotations_ = fit[0], fit.x_loadings, fit.rotations
        self.y_weights_, self.y_loadings_ = fit.y_loadings.copy(), fit.y_loadings
        Q = fit.y_loadings
        self.y_rotations_ = Q @ np.linalg.pinv(Q.T @ Q)
        terms = fit.rotations[:, None, :] * Q  # (p, k, M)
        path = np.zeros((*terms.shape[:2], terms.shape[2] + 1))
        np.cumsum(terms, axis=2, out=path[:, :, 1:])
        path = path * y_std[:, None] / x_std[:, None, None]
        left = np.maximum(np.diag(small.rest), 0.0)[:, None]
        rss = fit.rss * y_std[:, None] ** 2 + left
        self.coef_ = np.ascontiguousarray(path[:, :, -1].T)
        self.intercept_ = small.intercept(path[:, :, -1])
        self.coef_path_ = path[:, 0].copy() if single else path.transpose(1, 0, 2).copy()
        self.rss_path_ = rss[0] if single else rss
        self.rss_ = float(rss[0, -1]) if single else rss[:, -1].copy()
        self._x_mean, self._y_mean = small.mean, small.y_mean
        self._x_std, self._y_std, self._single = x_std, y_std, single
        self.n_iter_: Any = [1] * max(fit.used, 1)
        self.n_observations_ = small.weight
        self._used, self._n_features_out = fit.used, self.n_components

    def _scores(self, rows: Rows) -> tuple[Array, Array]:
        """Scores of the training rows; those of y are of what the components before left over."""
        T, Q = rotate(self, rows.X), self.y_loadings_
        Y = (rows.y.reshape(len(rows.y), -1) - self._y_mean) / self._y_std
        squares = (Q**2).sum(axis=0)
        V = Q / np.where(squares > 0, squares, 1.0)
        return T, Y @ V - T @ np.triu(Q.T @ V, 1)

    def predict_path(self, X: ArrayLike) -> Array:
        """Predictions with 0, 1, .. components: (n, M + 1), or (n, k, M + 1)."""
        rows = self._dense_input(X) - self._x_mean
        if self._single:
            return self._y_mean[0] + rows @ self.coef_path_
        return self._y_mean[:, None] + np.einsum("np,kpm->nkm", rows, self.coef_path_)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        notes: tuple[str, ...] = ()
        if self._used < self.n_components:
            early = f"stopped after {self._used} of {self.n_components} components"
            notes = (f"{early}: nothing of y (or of X) is left to explain",)
        first, last = np.atleast_2d(self.rss_path_)[:, [0, -1]].sum(axis=0)
        numbers = {"n": self.n_observations_, "components": self._used, "targets": len(self.coef_)}
        numbers |= {"rss": bare(self.rss_), "r2": 1 - last / first if first > 0 else np.nan}
        return Card(
            representation=f"y = b + x'w, w in the span of {self._used} directions r_m of the "
            f"{'standardised' if self.scale else 'centred'} columns",
            evaluation="covariance of z_m = x'r_m with y, z_m orthogonal; then RSS on the z_m",
            optimisation="leading singular vector of X'Y, deflated for each component: exact",
            numbers=numbers,
            warnings=notes,
        )
