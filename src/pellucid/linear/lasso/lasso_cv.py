r"""The lasso and the elastic net with alpha chosen by cross-validation.

The paths of all folds are those of ``lasso_folds``: with more rows than columns one pass over the
data serves them all. The final fit is Lasso or ElasticNet at the alpha that was chosen.

References: Friedman, Hastie & Tibshirani (2010); Breiman et al. (1984), section 3.4.3.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import reduce
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from sklearn.model_selection import KFold, check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import finite
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Map, Seed
from pellucid.core.loops.iterate import FitContext, History
from pellucid.core.loops.statistics import Moments, Rows, Source, merge_moments
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.linear.lasso import folds as cv_folds
from pellucid.linear.lasso.budget_search import Problem
from pellucid.linear.lasso.fit import MANY_COLUMNS, check_precompute, descend, so_far
from pellucid.linear.lasso.folds import Fold
from pellucid.linear.lasso.paths import check_alphas, enet_path, lasso_path
from pellucid.linear.lasso.sums import State
from pellucid.linear.linear_model import LinearModel
from pellucid.linear.penalty_scales import check_share
from pellucid.linear.sum_folds import check_keywords


class PenalisedCV(LinearModel):
    """Base of LassoCV and ElasticNetCV; a subclass gives the ``l1_ratio`` values."""

    _multi_output = False

    @abstractmethod
    def _ratios(self) -> Array:
        """The shares of the L1 penalty to try."""

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit; ``params`` (such as ``groups``) go to the splitter."""
        self._check_parameters()
        rows = self._open(X, y, sample_weight)
        p, k = self.n_features_in_, self._fold_count()
        if k is not None and not params:
            if k > rows.n_rows:
                few = f"n_samples={rows.n_rows}"
                raise ValueError(f"cv={k} folds need at least as many rows, got {few}")
            splits = list(KFold(k).split(rows.X))
        else:
            splits = list(check_cv(self.cv).split(rows.X, rows.y, **params))
        enough = p <= MANY_COLUMNS and all(len(train) > p for train, _ in splits)
        if k is not None and not params and enough:
            self._fit_moments(rows, map_threads, k, sample_weight)
        else:
            folds = cv_folds.make_folds(rows, splits, p)
            self._finish(rows, folds, self._whole(rows, folds), sample_weight)
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        k = self._fold_count()
        if k is None:
            raise ValueError("fit_blocks needs cv as a number of folds, got a splitter")
        if rows.n_rows - -(-rows.n_rows // k) <= self.n_features_in_:
            got = f"{rows.n_rows} rows in {k} folds and {self.n_features_in_} columns"
            needs = "fit_blocks needs more training rows than columns"
            raise ValueError(f"{needs}, got {got}; use fit")
        self._fit_moments(rows, map_, k, None)

    def _fold_count(self) -> int | None:
        if self.cv is None:
            return 5
        return int(self.cv) if isinstance(self.cv, Integral) else None

    def _fit_moments(
        self, rows: Source, map_: Map, k: int, sample_weight: np.ndarray | None
    ) -> None:
        """All folds from one pass over the rows."""
        with single_threaded_blas():
            parts = cv_folds.contiguous_moments(rows, map_, k)
            if not all(finite(part) for part in parts):
                self._sums(rows, map_)  # names the cell, or says that the squares overflow
            folds = [Fold(a, b) for a, b in zip(cv_folds.others(parts), parts, strict=True)]
            whole = self._problem(reduce(merge_moments, parts))
        self._finish(rows, folds, whole, sample_weight)

    def _whole(self, rows: Rows, folds: list[Fold]) -> Problem:
        """The problem of all rows."""
        if isinstance(folds[0].train, Moments):
            return self._problem(self._sums(rows, map_threads))
        self._refuse_nonfinite(rows.X)
        return self._problem(rows)

    def _problem(self, train: Moments | Rows) -> Problem:
        unknowns = "centred" if self.fit_intercept else "slopes"
        return cv_folds.make_problem(train, self.n_features_in_, unknowns, self.positive)

    def _check_parameters(self) -> None:
        check.boolean(fit_intercept=self.fit_intercept, copy_X=self.copy_X, positive=self.positive)
        check_precompute(self.precompute)
        check.positive(eps=self.eps)
        check_alphas(self.alphas)
        check.non_negative(tol=self.tol)
        check.whole(max_iter=self.max_iter)
        check.one_of(("cyclic", "random"), selection=self.selection)
        check_keywords(self)
        for ratio in self._ratios():
            check_share(l1_ratio=float(ratio))

    def _finish(self, rows: Source, folds: list[Fold], whole: Problem, sample_weight: Any) -> None:
        for fold in folds:
            weights = [part.weight if isinstance(part, Moments) else part.w.sum() for part in fold]
            if not min(weights) > 0:
                raise ValueError("every fold of the cross-validation needs rows of positive weight")

        def attributes(state: State | None) -> dict[str, Any]:
            return so_far(whole, [], state, True) if state else {}

        context = FitContext.of_rows(self, rows, sample_weight, self.max_iter, attributes)
        ratios, asked = self._ratios(), check_alphas(self.alphas)
        limits: dict[str, Any] = {"tol": self.tol, "max_iter": self.max_iter}
        grid: dict[str, Any] = {"eps": self.eps, "positive": self.positive}
        found = cv_folds.cross_validate(folds, whole, ratios, asked, **grid, **limits)
        choice = cv_folds.choose(found, self.rule)
        alpha, ratio = float(found.alphas[choice]), float(ratios[choice.ratio])
        if alpha * ratio == 0 and alpha == 0:
            w, unique = whole.least_squares(0)
            coef, intercept = whole.expand(0, w[None, :])
            self.coef_, self.intercept_ = coef[0], float(intercept[0])
            self.dual_gap_, self.n_iter_, self.unique_ = 0.0, 1, unique
            self.history_ = History([{"step": 1, "objective": 0.0, "gap": 0.0, "seconds": 0.0}])
        else:
            first, name = np.zeros(len(whole.columns)), type(self).__name__
            fit = descend(whole, 0, (alpha, ratio), first, **limits, context=context, name=name)
            self.coef_, self.intercept_ = fit.coef, fit.intercept
            self.dual_gap_, self.n_iter_, self.unique_ = fit.gap, max(fit.n_iter, 1), fit.unique
            self.history_ = History(fit.history)
        self.intercept_ = self.intercept_ if self.fit_intercept else 0.0
        self.alpha_, self._chosen_ratio = alpha, ratio
        shared = len(ratios) == 1 or not isinstance(asked, int)
        self.alphas_ = found.alphas[0] if shared else found.alphas
        self.mse_path_ = np.squeeze(np.moveaxis(found.errors, 2, 1))
        self.n_nonzero_ = int(np.count_nonzero(self.coef_))
        self.n_observations_ = whole.n
        self._best_error = float(found.errors[choice.ratio, :, choice.alpha].mean())
        context.end()

    def get_metadata_routing(self) -> Any:
        """The splitter may ask for metadata such as ``groups``."""
        mapping = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(splitter=check_cv(self.cv), method_mapping=mapping)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        k = self.mse_path_.shape[-1]
        how = {
            "best": "the smallest mean",
            "one_standard_error": "the strongest within one standard error of the smallest mean",
        }[self.rule]
        n, alpha, r = self.n_observations_, self.alpha_, self._chosen_ratio
        numbers = {"alpha": alpha, "l1_ratio": r, "n": n, "cross-validated error": self._best_error}
        note = "other coefficients fit as well: columns of the support are dependent"
        penalty = f"{alpha:.6g} ({r:.4g} sum |w| + {(1 - r) / 2:.4g} sum w^2)"
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation=f"mean squared error over {k} folds chooses alpha ({how}); then RSS/(2n) "
            f"+ {penalty}",
            optimisation="paths by coordinate descent, each point from the two before it; the "
            f"duality gap of the final fit is {self.dual_gap_:.1e}",
            numbers={**numbers, "non-zero": self.n_nonzero_},
            scales=(f"lambda = {2 * n * alpha:.6g} in RSS + lambda P",),
            warnings=() if self.unique_ else (note,),
        )


class LassoCV(PenalisedCV):
    """Lasso with alpha chosen by cross-validation along the path.

    Parameters
    ----------
    eps : float, default=1e-3
        alpha_min / alpha_max of the grid.
    alphas : int or array, default=100
        How many alphas, or the alphas themselves.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    precompute, copy_X, selection, random_state, verbose, n_jobs
        Accepted for scikit-learn's sake; cross-products are made where they pay, X is never
        changed, the minimum does not depend on the order, and all cores are used.
    max_iter : int, default=1000
        Most rounds of the final fit, and of 100 sweeps at each alpha.
    tol : float, default=1e-4
        Each duality gap may be at most tol times the squares of y about its mean.
    cv : int, splitter or list of splits, default=None
        None means 5 folds of neighbouring rows.
    positive : bool, default=False
        Coefficients >= 0.
    rule : {"best", "one_standard_error"}, default="best"
        The alpha of the smallest mean error, or the strongest within one standard error of it.

    Attributes
    ----------
    alpha_, alphas_ : the alpha chosen, and the grid
    mse_path_ : mean squared errors, (n_alphas, n_folds)
    coef_, intercept_ : of the final fit on all rows
    dual_gap_, n_iter_, n_nonzero_, unique_, history_ : as for Lasso, of the final fit

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LassoCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = 2 * X[:, 0] + rng.normal(size=60)
    >>> model = LassoCV().fit(X, y)
    >>> careful = LassoCV(rule="one_standard_error").fit(X, y)
    >>> careful.alpha_ > model.alpha_, careful.n_nonzero_
    (True, 1)
    """

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        alphas: int | Sequence[float] | Array = 100,
        fit_intercept: bool = True,
        precompute: bool | Literal["auto"] | ArrayLike = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Folds = None,
        verbose: int = False,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
        rule: str = "best",
    ) -> None:
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.rule = rule

    path = staticmethod(lasso_path)

    def _ratios(self) -> Array:
        return np.ones(1)


class ElasticNetCV(PenalisedCV):
    """Elastic net with alpha and l1_ratio chosen by cross-validation along the paths.

    Parameters
    ----------
    l1_ratio : float or list of floats, default=0.5
        Shares of the L1 penalty to try.
    eps : float, default=1e-3
        alpha_min / alpha_max of each grid.
    alphas : int or array, default=100
        How many alphas for each l1_ratio, or the alphas themselves.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    precompute, copy_X, selection, random_state, verbose, n_jobs
        Accepted for scikit-learn's sake; cross-products are made where they pay, X is never
        changed, the minimum does not depend on the order, and all cores are used.
    max_iter : int, default=1000
        Most rounds of the final fit, and of 100 sweeps at each alpha.
    tol : float, default=1e-4
        Each duality gap may be at most tol times the squares of y about its mean.
    cv : int, splitter or list of splits, default=None
        None means 5 folds of neighbouring rows.
    positive : bool, default=False
        Coefficients >= 0.
    rule : {"best", "one_standard_error"}, default="best"
        The alpha of the smallest mean error; or, for its l1_ratio, the strongest within one
        standard error of it.

    Attributes
    ----------
    alpha_, l1_ratio_, alphas_ : what was chosen, and the grid (one row per l1_ratio)
    mse_path_ : mean squared errors, (n_l1_ratio, n_alphas, n_folds)
    coef_, intercept_ : of the final fit on all rows
    dual_gap_, n_iter_, n_nonzero_, unique_, history_ : as for ElasticNet, of the final fit

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import ElasticNetCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = 2 * X[:, 0] + rng.normal(size=60)
    >>> model = ElasticNetCV(l1_ratio=[0.2, 1.0]).fit(X, y)
    >>> model.l1_ratio_, model.mse_path_.shape
    (1.0, (2, 100, 5))
    """

    def __init__(
        self,
        *,
        l1_ratio: float | Sequence[float] = 0.5,
        eps: float = 1e-3,
        alphas: int | Sequence[float] | Array = 100,
        fit_intercept: bool = True,
        precompute: bool | Literal["auto"] | ArrayLike = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Folds = None,
        copy_X: bool = True,
        verbose: int = 0,
        n_jobs: int | None = None,
        positive: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
        rule: str = "best",
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.rule = rule

    path = staticmethod(enet_path)

    def _ratios(self) -> Array:
        try:
            return np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
        except (TypeError, ValueError):
            given = f"got {self.l1_ratio!r}"
            raise ValueError(f"l1_ratio must be a number from 0 to 1 or several, {given}") from None

    @property
    def l1_ratio_(self) -> float:
        """The l1_ratio that was chosen."""
        return self._chosen_ratio
