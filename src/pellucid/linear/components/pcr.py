r"""Principal component regression: least squares on the directions in which X spreads most.

Model        y = ybar + sum_m theta_m z_m + e,   z_m = X v_m of the standardised X
Estimator    X = U diag(d) V' (standardised by 1/n),  theta_m = <z_m, y>/<z_m, z_m> = u_m'y/d_m,
             w = sum_(m <= M) theta_m v_m;   M = rank is least squares
Algorithm    the moments of [X y], the few rows that stand for all, one SVD.  O(n p^2 + p^3)
Smoother     H = 11'/n + sum_(m <= M) u_m u_m',   df = M + 1

The components do not look at y: a direction of small spread is dropped however well it predicts.

References: Massy (1965); ESL, section 3.5.1.
"""

from typing import Any, Literal, NamedTuple, Self

import numpy as np

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Map
from pellucid.core.loops.selection import one_standard_error
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares import smoother as smoothing
from pellucid.linear.least_squares.smoother import Smoother, no_freedom
from pellucid.linear.least_squares.summary import bare
from pellucid.linear.linear_model import LinearModel, one_dimensional
from pellucid.linear.sum_folds import check_folds, folds


class ComponentFit(NamedTuple):
    """All components of k targets; w of M components is V[:, :M] theta[:M] / scale."""

    V: Array  # (p, r) directions, the widest first
    d: Array  # (r,) singular values of the standardised X
    theta: Array  # (r, k)
    rss: Array  # (k, r + 1) of 0..r components
    scale: Array  # (p,)


def fit_components(small: Compact, *, scale: bool, tolerance: float) -> ComponentFit:
    """The principal components of the compact rows and y on each of them."""
    p = small.A.shape[1]
    spread = np.linalg.norm(small.A, axis=0) / np.sqrt(small.weight)
    s = np.where(spread > 0, spread, 1.0) if scale else np.ones(p)
    U, d, Vt = np.linalg.svd(small.A / s, full_matrices=False)
    live = d > tolerance * d.max(initial=0.0)
    U, d, Vt = U[:, live], d[live], Vt[live]
    sign = np.where(Vt[np.arange(len(d)), np.abs(Vt).argmax(axis=1)] < 0, -1.0, 1.0)
    U, Vt = U * sign, Vt * sign[:, None]  # the largest entry of a direction is positive
    beta = U.T @ small.c  # (r, k)
    left = ((small.c - U @ beta) ** 2).sum(axis=0) + np.maximum(np.diag(small.rest), 0.0)
    tails = np.cumsum((beta**2)[::-1], axis=0)[::-1]  # what the components from m on would explain
    rss = np.vstack([tails, np.zeros(beta.shape[1])]) + left
    return ComponentFit(Vt.T, d, beta / d[:, None], rss.T, s)


def scaled_path(fit: ComponentFit, most: int) -> Array:
    """Coefficients of the standardised columns for 0..most components: (p, k, most + 1)."""
    terms = fit.V[:, None, :most] * fit.theta[:most].T  # (p, k, most)
    path = np.zeros((*terms.shape[:2], most + 1))
    np.cumsum(terms, axis=2, out=path[:, :, 1:])
    return path


class PrincipalComponentRegression(LinearModel):
    """Least squares on the first principal components of X.

    Parameters
    ----------
    n_components : int, "cv" or None, default=None
        How many components; None: all, which is least squares; "cv": chosen by cross-validation.
    scale : bool, default=True
        Divide the columns by their standard deviation (1/n) first.
    cv : int, splitter or list of splits, default=5
        Folds for "cv". A number deals the rows to the folds in turn.
    rule : {"best", "one_standard_error"}, default="best"
        For "cv": the least mean error, or the fewest components within one standard error of it.

    Attributes
    ----------
    coef_, intercept_ : slopes (p,) or (k, p) in the units of X, and intercept
    scaled_coef_ : slopes of the standardised columns
    n_components_, components_ : how many, and their directions (n_components_, p)
    theta_ : coefficients of the components, (n_components_,) or (n_components_, k)
    coef_path_ : (p, M + 1) or (k, p, M + 1), column m for m components
    rss_path_ : (M + 1,) or (k, M + 1), entry 0 is the mean
    singular_ : singular values of all directions with spread
    df_, rss_, sigma2_, sigma2_ml_ : M + 1, residual squares, RSS/(n - df), RSS/n
    criterion_, criterion_se_ : mean squared error of 0, 1, .. components over the folds ("cv")

    Examples
    --------
    >>> from pellucid import PrincipalComponentRegression
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]]
    >>> model = PrincipalComponentRegression(1).fit(X, [0.0, 1.0, 4.0, 5.0])
    >>> model.coef_.round(3), model.rss_path_.round(3)
    (array([1., 1.]), array([17.,  1.]))
    """

    leverage = smoothing.leverage
    hat_matrix = smoothing.hat_matrix
    loo_residuals = smoothing.loo_residuals
    loocv = smoothing.loocv
    gcv = smoothing.gcv
    jackknife_interval = smoothing.jackknife_interval

    def __init__(
        self,
        n_components: int | Literal["cv"] | None = None,
        *,
        scale: bool = True,
        cv: Folds = 5,
        rule: str = "best",
    ) -> None:
        self.n_components = n_components
        self.scale = scale
        self.cv = cv
        self.rule = rule

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Regress on the principal components of X."""
        return self._fit_memory(X, y, sample_weight)

    def _check_parameters(self) -> None:
        check.boolean(scale=self.scale)
        check.one_of(("best", "one_standard_error"), rule=self.rule)
        check_folds(self.cv)
        if isinstance(self.n_components, str):
            check.one_of(("cv",), n_components=self.n_components)
        elif self.n_components is not None:
            check.whole(n_components=self.n_components, at_least=0)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        p = self.n_features_in_
        if isinstance(self.n_components, int | np.integer) and self.n_components > p:
            most = f"at most the number of columns ({p})"
            raise ValueError(f"n_components must be {most}, got {self.n_components}")
        small = self._compact(rows, map_, intercept=True)
        with single_threaded_blas():
            fit = fit_components(small, scale=self.scale, tolerance=max(rows.n_rows, p) * EPS)
            self._set(rows, small, fit, self._choose(rows, map_, len(fit.d)))

    def _choose(self, rows: Source, map_: Map, rank: int) -> int:
        """How many components, of ``rank`` that have any spread."""
        for name in ("criterion_", "criterion_se_"):
            self.__dict__.pop(name, None)
        if self.n_components is None:
            return rank
        if self.n_components != "cv":
            return min(int(self.n_components), rank)
        scores = []
        for train, errors in folds(rows, map_, self.n_features_in_, self.cv, intercept=True):
            tolerance = max(rows.n_rows, self.n_features_in_) * EPS
            fit = fit_components(train, scale=self.scale, tolerance=tolerance)
            coef = scaled_path(fit, len(fit.d)) / fit.scale[:, None, None]
            b = train.y_mean[:, None] - np.tensordot(train.mean, coef, axes=1)
            found = errors(coef, b).mean(axis=0)[: rank + 1]
            scores.append(np.append(found, np.full(rank + 1 - len(found), found[-1])))
        self.criterion_ = np.mean(scores, axis=0)
        self.criterion_se_ = np.std(scores, axis=0, ddof=1) / np.sqrt(len(scores))
        if self.rule == "best":
            return int(np.argmin(self.criterion_))
        found = self.criterion_, self.criterion_se_, np.arange(rank + 1)
        return one_standard_error(*found, greater_is_better=False)

    def _set(self, rows: Source, small: Compact, fit: ComponentFit, m: int) -> None:
        n, k = small.weight, small.c.shape[1]
        single = k == 1 and one_dimensional(rows)
        most = m if isinstance(self.n_components, int | np.integer) else len(fit.d)
        path = scaled_path(fit, most)  # (p, k, most + 1)
        coef_path = path / fit.scale[:, None, None]
        coef, rss = coef_path[:, :, m], fit.rss[:, m]
        pick = (lambda a: float(a[0])) if single else (lambda a: a)
        self.n_components_ = m
        self.components_ = np.ascontiguousarray(fit.V[:, :m].T)
        self.theta_ = fit.theta[:m, 0].copy() if single else fit.theta[:m].copy()
        scaled = path[:, :, m].T
        self.scaled_coef_ = scaled[0].copy() if single else np.ascontiguousarray(scaled)
        self.coef_ = coef[:, 0].copy() if single else np.ascontiguousarray(coef.T)
        self.intercept_ = pick(small.intercept(coef))
        self.coef_path_ = coef_path[:, 0].copy() if single else coef_path.transpose(1, 0, 2).copy()
        self.rss_path_ = fit.rss[0, : most + 1].copy() if single else fit.rss[:, : most + 1].copy()
        self._mean, self._y_mean = small.mean, pick(small.y_mean)
        self.singular_ = fit.d
        self.df_, self.n_observations_ = m + 1.0, n
        self.rss_, self.sigma2_ml_ = pick(rss), pick(rss / n)
        free = n - self.df_
        self.sigma2_ = pick(rss / free if free > 1e-9 else np.full(k, np.nan))
        self._dropped = self.n_features_in_ - len(fit.d)
        self._smoother = component_smoother(small, fit, m)
        if not free > 1e-9:
            warn(f"{no_freedom(n, self.df_)}: sigma2_ is NaN")

    def predict_path(self, X: ArrayLike) -> Array:
        """Predictions with 0, 1, .. components: (n, M + 1), or (n, k, M + 1)."""
        rows = self._dense_input(X) - self._mean
        path = self.coef_path_
        if path.ndim == 2:
            return self._y_mean + rows @ path
        return np.asarray(self._y_mean)[:, None] + np.einsum("np,kpm->nkm", rows, path)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        total = float((self.singular_**2).sum())
        kept = float((self.singular_[: self.n_components_] ** 2).sum())
        share = kept / total if total > 0 else 1.0
        notes = []
        if self._dropped:
            notes.append(f"{self._dropped} directions without spread (d = 0) were dropped")
        if self.n_components_ < len(self.singular_):
            notes.append("the components were chosen without looking at y")
        chosen = f"; M by cross-validation ({self.rule})" if self.n_components == "cv" else ""
        m, of = self.n_components_, len(self.singular_)
        numbers = {"n": self.n_observations_, "components": m, "of": of}
        numbers["share of the spread"] = share
        numbers |= {"df": self.df_, "rss": bare(self.rss_), "sigma2": bare(self.sigma2_)}
        return Card(
            representation=f"y = b + sum of theta_m z_m over {m} principal components "
            f"of the {'standardised' if self.scale else 'centred'} columns",
            evaluation=f"RSS = sum (y - b - x'w)^2, w in the span of the components{chosen}",
            optimisation="singular value decomposition; theta_m = <z_m, y>/<z_m, z_m>: exact",
            numbers=numbers,
            warnings=tuple(notes),
        )


def component_smoother(small: Compact, fit: ComponentFit, m: int) -> Smoother:
    """H of the mean and m components."""
    basis = np.zeros((len(fit.V) + 1, m + 1))
    basis[0, 0] = 1 / np.sqrt(small.weight)
    basis[1:, 1:] = fit.V[:, :m] / fit.d[:m] / fit.scale[:, None]
    return Smoother(small.mean, True, basis, np.ones(m + 1), "")
