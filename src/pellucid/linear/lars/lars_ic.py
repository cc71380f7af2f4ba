r"""The lasso whose penalty is chosen by an information criterion along its exact path.

At every knot of the path (``least_angle.py``) with k non-zero coefficients and residual sum of
squares RSS, sigma2 the noise variance of the full model,

    aic   n ln(2 pi sigma2) + RSS/sigma2 + 2 k          bic   the same with k ln n
    cp    RSS/sigma2 - n + 2 df                         gcv   (RSS/n) / (1 - df/n)^2

with df = k + 1 (the intercept; k without one). The number of non-zero coefficients is an unbiased
estimate of the degrees of freedom of the lasso (the search is paid for by the shrinkage), so no
resampling is needed. AIC and BIC are scikit-learn's numbers: they leave the intercept out, which
adds the same constant to every knot. With p >= n, sigma2 is RSS/(n - df) of a lasso fit.

References: Zou, Hastie & Tibshirani (2007); Mallows (1973); Golub, Heath & Wahba (1979); Reid,
Tibshirani & Friedman (2016) on the variance for p >= n.
"""

from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.linalg import lstsq

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.lars.lars import check_precompute, warn_cut
from pellucid.linear.lars.least_angle import LarsPath, Rule, Walk, interpolate, walk_path
from pellucid.linear.lars.problem import compact_problems
from pellucid.linear.least_squares.least_squares import fit_positive
from pellucid.linear.linear_model import LinearModel

CRITERIA = ("aic", "bic", "cp", "gcv")


class Chosen(NamedTuple):
    """The values of the criterion along the path and the knot that has the smallest."""

    criterion: Array  # (knots,)
    best: int
    coef: Array  # (p,)


def choose(
    small: Compact, coefs: Array, criterion: str, sigma2: float, *, intercept: bool
) -> Chosen:
    """The knot of ``coefs`` (p, knots) with the smallest ``criterion``; gcv reads no ``sigma2``."""
    n, rss = small.weight, small.rss(coefs)
    k = (np.abs(coefs) > EPS).sum(axis=0)
    df = k + intercept
    if criterion == "gcv":
        room = np.maximum(1 - df / n, 0.0)
        values = np.divide(rss / n, room**2, out=np.full(len(rss), np.inf), where=room > 0)
    elif criterion == "cp":
        values = rss / sigma2 - n + 2 * df
    else:
        each = 2.0 if criterion == "aic" else np.log(n)
        values = n * np.log(2 * np.pi * sigma2) + rss / sigma2 + each * k
    best = int(np.argmin(values))
    return Chosen(values, best, coefs[:, best].copy())


def noise_variance(small: Compact, *, positive: bool, intercept: bool) -> float | None:
    """RSS/(n - p) of least squares (n - p - 1 with an intercept); None where nothing is left."""
    room = small.weight - small.A.shape[1] - intercept
    if room <= 0:
        return None
    if positive:
        w = fit_positive(small.A, small.c, np.zeros(1))
    elif np.isfinite(small.condition):  # A is square and regular: only the rest is left
        return max(float(small.rest[0, 0]), 0.0) / room
    else:
        w = lstsq(small.A, small.c, check_finite=False)[0]
    return float(small.rss(w)[0] / room)


def lasso_noise_variance(small: Compact, rule: Rule, *, intercept: bool) -> float:
    """RSS/(n - df) of the knot that gcv likes best, of those with df <= n/2: for p >= n."""
    path = walk_path(compact_problems(small)[0], rule)
    df = (np.abs(path.coefs) > EPS).sum(axis=0) + intercept
    few = df <= max(small.weight / 2, df[0])
    coefs, df = path.coefs[:, few], df[few]
    best = choose(small, coefs, "gcv", 1.0, intercept=intercept).best
    return float(small.rss(coefs)[best] / max(small.weight - df[best], 1.0))


class LassoLarsIC(LinearModel):
    """The lasso with the penalty that an information criterion likes best.

    Parameters
    ----------
    criterion : {"aic", "bic", "cp", "gcv"}, default="aic"
        What the chosen point of the path minimises.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=500
        Steps of the path at most.
    eps : float
        A column nearer than this (relative to its length) to the span of the active ones is
        skipped; at least max(n, p) times the precision of float64.
    positive : bool, default=False
        Coefficients >= 0.
    noise_variance : float, optional
        sigma2; by default that of the least-squares fit. With no more rows than columns there is
        none: RSS/(n - df) of the lasso that gcv prefers is taken, with a warning. "gcv" needs none.
    verbose, precompute, copy_X
        Accepted for scikit-learn's sake; nothing is printed or overwritten.

    Attributes
    ----------
    coef_, intercept_, alpha_ : at the best knot
    alphas_, coef_path_, criterion_ : the knots, their coefficients (p, knots) and criterion
    noise_variance_ : sigma2 (None if not needed and not estimable)
    moves_, n_iter_, history_ : of the whole path

    Examples
    --------
    >>> from pellucid import LassoLarsIC
    >>> X = [[-2.0, 2.0], [-1.0, 1.0], [0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]
    >>> y = [-2.2, -1.2, 0.1, -1.1, -2.2]
    >>> model = LassoLarsIC(criterion="bic").fit(X, y)
    >>> model.coef_.round(3), model.moves_
    (array([ 0. , -1.1]), [('add', 1), ('add', 0)])
    """

    _multi_output = False

    def __init__(
        self,
        criterion: str = "aic",
        *,
        fit_intercept: bool = True,
        verbose: int = False,
        precompute: bool | Literal["auto"] | ArrayLike = "auto",
        max_iter: int = 500,
        eps: float = EPS,
        copy_X: bool = True,
        positive: bool = False,
        noise_variance: float | None = None,
    ) -> None:
        self.criterion = criterion
        self.fit_intercept = fit_intercept
        self.verbose = verbose
        self.precompute = precompute
        self.max_iter = max_iter
        self.eps = eps
        self.copy_X = copy_X
        self.positive = positive
        self.noise_variance = noise_variance

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, copy_X: bool | None = None, sample_weight: Any = None
    ) -> Self:
        """Fit the path and choose; ``copy_X`` is accepted for scikit-learn's sake."""
        self._rule()
        rows = self._open(X, y, sample_weight)
        context = FitContext.of_rows(self, rows, sample_weight, int(self.max_iter))
        self._walk(rows, map_threads, context)
        context.end()
        return self

    def _rule(self) -> Rule:
        check.one_of(CRITERIA, criterion=self.criterion)
        check.boolean(fit_intercept=self.fit_intercept, copy_X=self.copy_X, positive=self.positive)
        check.non_negative(eps=self.eps)
        check.whole(at_least=0, max_iter=self.max_iter)
        if self.noise_variance is not None:
            check.non_negative(noise_variance=self.noise_variance)
        check_precompute(self.precompute)
        return Rule(True, self.positive, 0.0, self.max_iter, self.eps)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._walk(rows, map_, None)

    def _walk(self, rows: Source, map_: Map, context: FitContext | None) -> None:
        rule = self._rule()
        small = self._compact(rows, map_, intercept=self.fit_intercept)
        with single_threaded_blas():
            sigma2 = self._noise(small)
            if context is not None:
                context.attributes = partial(self._attributes, small, sigma2)
            path = walk_path(compact_problems(small)[0], rule, context=context)
            chosen = self._choose(small, path.coefs, sigma2)
        self._set(path, chosen, small, sigma2)

    def _choose(self, small: Compact, coefs: Array, sigma2: float | None) -> Chosen:
        variance = 1.0 if sigma2 is None else sigma2
        return choose(small, coefs, self.criterion, variance, intercept=self.fit_intercept)

    def _noise(self, small: Compact) -> float | None:
        """sigma2, not below rounding error."""
        sigma2 = self.noise_variance
        if sigma2 is None:
            sigma2 = noise_variance(small, positive=self.positive, intercept=self.fit_intercept)
        if sigma2 is None:
            if self.criterion == "gcv":
                return None
            sigma2 = lasso_noise_variance(small, self._rule(), intercept=self.fit_intercept)
            few = f"{small.weight:g} observations of {small.A.shape[1]} columns"
            why = f"{few} leave least squares no residual to estimate the noise variance from"
            remedy = "remedy: give noise_variance, or criterion='gcv'"
            warn(f"{why}: {sigma2:.3g} of a lasso fit is taken ({remedy})")
        least = max(EPS * float(small.tss[0]) / small.weight, float(np.finfo(np.float64).tiny))
        if sigma2 < least and self.criterion != "gcv":
            exact = f"the noise variance is {sigma2:.3g}: least squares fits y exactly"
            warn(f"{exact}, and the criterion takes {least:.3g} instead")
        return max(float(sigma2), least)

    def _attributes(
        self, small: Compact, sigma2: float | None, walk: Walk | None
    ) -> dict[str, Any]:
        """The choice among the knots so far."""
        if walk is None:
            return {"coef_": self.coef_, "intercept_": self.intercept_, "alpha_": self.alpha_}
        chosen = self._choose(small, np.array(walk.coefs).T, sigma2)
        found = {"coef_": chosen.coef, "intercept_": self._offset(small, chosen.coef)}
        return {**found, "alpha_": walk.knots[chosen.best] / small.weight}

    def _set(self, path: LarsPath, chosen: Chosen, small: Compact, sigma2: float | None) -> None:
        self.coef_, self.intercept_ = chosen.coef, self._offset(small, chosen.coef)
        self.alpha_, self.alphas_ = float(path.alphas[chosen.best]), path.alphas
        self.coef_path_ = np.ascontiguousarray(path.coefs)
        self.criterion_, self._best = chosen.criterion, chosen.best
        self.noise_variance_, self.n_observations_ = sigma2, small.weight
        self.moves_, self.active_ = path.moves, path.active
        self.n_iter_, self.history_ = max(path.n_iter, 1), path.history
        last = chosen.best == len(path.alphas) - 1  # further knots might be better still
        if last and path.n_iter >= self.max_iter and path.alphas[-1] > 0:
            warn_cut(self, path.alphas[-1])

    def coef_at(self, alpha: float) -> Array:
        """The coefficients at ``alpha`` on the path: linear between knots."""
        check.non_negative(alpha=alpha)
        return interpolate(self.alphas_, self.coef_path_, alpha)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        formulas = {
            "aic": "n ln(2 pi sigma2) + RSS/sigma2 + 2 k",
            "bic": "n ln(2 pi sigma2) + RSS/sigma2 + k ln n",
            "cp": "RSS/sigma2 - n + 2 df",
            "gcv": "(RSS/n) / (1 - df/n)^2",
        }
        n = self.n_observations_
        numbers = {"alpha": self.alpha_, "n": n, "steps": self.n_iter_}
        numbers["non-zero"] = int(np.count_nonzero(self.coef_))
        numbers[self.criterion] = float(self.criterion_[self._best])
        above = f"; max_iter ended the path at alpha = {self.alphas_[-1]:.6g}"
        above *= bool(self.n_iter_ >= self.max_iter and self.alphas_[-1] > 0)
        note = "standard errors of least squares do not hold after a choice on the same data"
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation=f"RSS/(2n) + {self.alpha_:.6g} sum |w_j|, alpha chosen by "
            f"{self.criterion} = {formulas[self.criterion]}",
            optimisation=f"the exact lasso path; the best of its {len(self.alphas_)} knots{above}",
            numbers={**numbers, "sigma2": self.noise_variance_},
            scales=(f"lambda = {2 * n * self.alpha_:.6g} in RSS + lambda sum |w_j|",),
            warnings=(note,),
        )
