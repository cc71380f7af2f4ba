r"""Ridge regression that chooses its own penalty.

Leave one out (``cv=None``), generalised cross-validation (``cv="gcv"``) or k folds, for all alphas
from one decomposition per training set (``leave_one_out.py``, ``folds.py``), then the
exact fit of ``Ridge`` at the chosen alpha.

``rule="best"`` takes the smallest criterion, ``"one_standard_error"`` the LARGEST alpha whose
criterion is within one standard error of the smallest: the simplest that is not clearly worse.
"""

from collections.abc import Callable, Iterable, Mapping
from numbers import Real
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metadata_routing import _raise_for_params as raise_for_params

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Engine, Wide, gather, wide_system
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, IntArray, Map, Numbers
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.selection import one_standard_error
from pellucid.core.loops.statistics import Moments, Rows, Source, is_unit
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.linear.linear_model import one_dimensional
from pellucid.linear.ridge import leave_one_out as loo
from pellucid.linear.ridge.folds import Fold, fold_scores, weighted_scorer
from pellucid.linear.ridge.ridge import fit_ridge, fit_ridge_wide
from pellucid.linear.ridge.ridge_model import RidgeModel, Spectrum

MODES = ("auto", "svd", "eigen")
RULES = ("best", "one_standard_error")
CELLS = 2**25  # errors kept at a time where a scorer must see them


class Problem(NamedTuple):
    """The data as the search and the final fit need them."""

    rows: Source
    map_: Map
    data: Engine | Wide
    found: Spectrum
    alphas: Array
    unknowns: str
    U: Array  # (n, r) left vectors of a wide table; (0, 0) else

    @property
    def weight(self) -> float:
        return self.data.weight if isinstance(self.data, Wide) else self.data.total.weight

    def map_of(self, part: slice = slice(None)) -> loo.RidgeMap:
        """The fits of some of the alphas."""
        if isinstance(self.data, Wide):
            means = self.data.mean, self.data.y_mean
        else:
            means = self.data.at.shift, self.data.at.y_shift
        return loo.ridge_map(self.found, self.alphas[part], self.unknowns, *means, self.weight)


def check_alphas(alphas: ArrayLike | None) -> Array | None:
    """Penalties as a vector; None stays None.

    >>> check_alphas(2)
    array([2.])
    """
    if alphas is None:
        return None
    given = np.atleast_1d(np.asarray(alphas, dtype=object))
    if isinstance(alphas, str) or given.ndim != 1 or not len(given):
        raise ValueError(f"alphas must be numbers or None, got {alphas!r}")
    for i, alpha in enumerate(given):
        if not isinstance(alpha, Real):
            raise TypeError(
                f"alphas[{i}] must be an instance of float, not {type(alpha).__name__}: {alpha!r}"
            )
        if not 0 <= float(alpha) < np.inf:
            need = "must be > 0.0 and finite (or 0, where the columns are independent)"
            raise ValueError(f"alphas[{i}] == {alpha}, {need}")
    return given.astype(np.float64)


def make_problem(
    rows: Source,
    map_: Map,
    total: Moments | None,
    p: int,
    alphas: Numbers | None,
    unknowns: str,
    *,
    svd: bool = False,
) -> Problem:
    """Decompose the data; ``total`` is None for tables with no more rows than columns."""
    given = check_alphas(alphas)
    smallest = 0.0 if given is None else float(given.min())
    data: Engine | Wide
    if total is None:
        data = wide_system(rows, unknowns)
        U, found = loo.decompose_wide(data, smallest, svd=svd)
        columns = data.Z.shape[1]
    else:
        data, U = Engine(rows, map_, total, p, unknowns=unknowns), np.zeros((0, 0))
        found = loo.spectrum_for(data, smallest, svd=svd)
        columns = len(data.live)
    grid = loo.choose_alphas(found.d) if given is None else given
    if grid.min() == 0 and (found.d > 0).sum() < columns:
        where = "where the columns are linearly independent and fewer than the rows"
        zero = int(np.argmin(grid))
        raise ValueError(f"alphas[{zero}] == 0.0, must be > 0.0: 0 has an answer only {where}")
    return Problem(rows, map_, data, found, grid, unknowns, U)


class GivenPredictions(RegressorMixin, BaseEstimator):
    """What a scorer is handed in leave-one-out: its "X" are the predictions."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        return self

    def predict(self, X: ArrayLike) -> Any:
        return X

    decision_function = predict  # for scorers that ask for a ranking

    def __sklearn_is_fitted__(self) -> bool:
        return True


def rowwise_criterion(problem: Problem, *, svd: bool, gcv: bool, separate: bool) -> loo.Criterion:
    """Leave-one-out or gcv criterion of every alpha, without keeping the errors."""
    if isinstance(problem.data, Wide):
        errors, w = every_error(problem, slice(None), svd=svd, gcv=gcv)
        return loo.criterion_of_errors(errors, w, separate=separate)
    at = problem.map_of()
    spread = problem.found, problem.alphas, problem.weight, at.base
    room = loo.generalised_room(*spread) if gcv else None
    how: dict[str, Any] = {"separate": separate, "weight": problem.weight}
    return loo.cross_validate_rows(problem.rows, problem.map_, at, room, **how)


def every_error(problem: Problem, part: slice, *, svd: bool, gcv: bool) -> tuple[Array, Array]:
    """Errors (n, k, A) of every row for some of the alphas, and the weights of the rows."""
    at = problem.map_of(part)
    if not isinstance(problem.data, Wide):
        assert isinstance(problem.rows, Rows)
        spread = problem.found, problem.alphas[part], problem.weight, at.base
        room = loo.generalised_room(*spread) if gcv else None
        leaves = [leaf for span in problem.rows.spans() for leaf in span.leaves()]
        parts = problem.map_(lambda leaf: loo.loo_errors(at, leaf, room), leaves)
        return np.concatenate(list(parts)), problem.rows.w
    rows = gather(problem.rows)
    live = rows.w > 0
    wide = problem.data._replace(Z=problem.data.Z[live], V=problem.data.V[live])
    alphas, decomposed = problem.alphas[part], (problem.U, problem.found)
    if not live.all():
        decomposed = loo.decompose_wide(wide, float(alphas.min()), svd=svd)
    how: dict[str, Any] = {"intercept": problem.unknowns == "centred", "gcv": gcv}
    found = loo.wide_errors(wide, rows.w[live], alphas, *decomposed, **how).errors
    if live.all():
        return found, rows.w
    errors = loo.loo_errors(at, rows, np.ones(len(alphas)))  # rows outside the fit
    errors[live] = found
    return errors, rows.w


def splitter_parameters(model: Any, params: dict[str, Any]) -> Mapping[str, Any]:
    """What metadata routing sends from ``fit`` to the splitter, such as ``groups``."""
    raise_for_params(params, model, "fit")
    return process_routing(model, "fit", **params).splitter.split if params else {}


def get_metadata_routing(self: Any) -> MetadataRouter:
    """The splitter may ask for metadata such as ``groups``."""
    mapping = MethodMapping().add(caller="fit", callee="split")
    router = MetadataRouter(owner=self).add_self_request(self)
    return router.add(splitter=self.cv, method_mapping=mapping)


class RidgeCV(RidgeModel):
    """Ridge regression with the penalty chosen by cross-validation.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,) or None, default=(0.1, 1.0, 10.0)
        Penalties to try, >= 0 (0 only where the columns are independent). None: 100 of them, from
        a hundredth of the smallest squared singular value to a hundred times the largest.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    scoring : str, callable or None, default=None
        A scikit-learn scorer. None: mean squared error in leave-one-out, R^2 in folds.
    cv : None, "gcv", int, splitter or iterable of (train, test), default=None
        None: exact leave-one-out. "gcv": generalised cross-validation, MSE/(1 - tr H/n)^2.
    gcv_mode : {"auto", "svd", "eigen"} or None, default=None
        "svd" factors the rows; the others take the cross-products while their condition allows.
    store_cv_results : bool, default=False
        Keep the squared errors (with ``scoring``: the predictions) of every row and alpha.
    alpha_per_target : bool, default=False
        Choose for every target by itself (not in folds).
    rule : {"best", "one_standard_error"}, default="best"
        The second takes the largest alpha within one standard error of the best.

    Attributes
    ----------
    alpha_, best_score_ : the choice (one per target if asked for) and its score
    alphas_, criterion_, criterion_se_ : the penalties tried; mean squared error per alpha (gcv; in
        folds 1 - R^2; minus the score where ``scoring`` is given) and its standard error
    cv_results_ : (n, n_alphas) or (n, n_targets, n_alphas), if asked for
    coef_, intercept_, df_, rss_, sigma2_, singular_, ... : as ``Ridge`` at ``alpha_``

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import RidgeCV
    >>> x = np.linspace(1, 5, 15)[:, None]
    >>> model = RidgeCV(alphas=[0.01, 0.1, 1.0, 10.0]).fit(x, np.exp(x[:, 0]))
    >>> model.alpha_, model.criterion_.round(3)
    (0.1, array([579.385, 579.044, 579.066, 730.951]))
    """

    _alpha_note = "; alpha was chosen on the same rows and is taken as known"

    def __init__(
        self,
        alphas: Numbers | None = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: str | Callable[..., float] | None = None,
        cv: Folds | Literal["gcv"] = None,
        gcv_mode: str | None = None,
        store_cv_results: bool = False,
        alpha_per_target: bool = False,
        rule: str = "best",
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.gcv_mode = gcv_mode
        self.store_cv_results = store_cv_results
        self.alpha_per_target = alpha_per_target
        self.rule = rule

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Choose the penalty and fit all rows with it; routing sends ``params`` to the folds."""
        if self.gcv_mode == "svd" and issparse(X):
            what = "The 'svd' mode is not supported for sparse X"
            warn(f"{what}: `gcv_mode='eigen'` is taken", FutureWarning)
        asked = splitter_parameters(self, params)
        self._check_parameters()
        rows = self._open(X, y, sample_weight)
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=sample_weight)
        self._fit_rows(rows, map_threads, asked)
        context.end()
        return self

    get_metadata_routing = get_metadata_routing

    def _check_parameters(self) -> None:
        names = ("fit_intercept", "store_cv_results", "alpha_per_target")
        check.boolean(**{name: getattr(self, name) for name in names})
        check.one_of(RULES, rule=self.rule)
        if self.gcv_mode is not None:
            check.one_of(MODES, gcv_mode=self.gcv_mode)
        if isinstance(self.cv, str):
            check.one_of(("gcv",), cv=self.cv)
        for name in ("store_cv_results", "alpha_per_target"):
            if self._in_folds() and getattr(self, name):
                why = "folds keep no errors of single rows and targets: use cv=None or cv='gcv'"
                raise ValueError(f"cv!=None and {name}=True are incompatible: {why}")
        if self.scoring is not None and self.rule != "best" and not self._in_folds():
            why = "a scorer of all leave-one-out predictions has no standard error"
            needs = "rule='one_standard_error' needs scoring=None or folds (cv=5)"
            raise ValueError(f"{why}: {needs}")

    def _in_folds(self) -> bool:
        return self.cv is not None and not isinstance(self.cv, str)

    def _fit_rows(
        self, rows: Source, map_: Map, asked: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        self._check_parameters()
        if rows.n_rows < 2:
            few = f"n_samples={rows.n_rows}"
            raise ValueError(f"RidgeCV needs at least 2 rows to leave one out, got {few}")
        if not isinstance(rows, Rows) and (self._in_folds() or self.scoring is not None):
            raise ValueError("fit_blocks needs cv=None or cv='gcv', and scoring=None")
        if not isinstance(rows, Rows) and self.store_cv_results:
            raise ValueError("fit_blocks keeps nothing of the size of the data: no cv_results_")
        p, svd = self.n_features_in_, self.gcv_mode == "svd"
        total = None if rows.n_rows <= p else self._sums(rows, map_)
        unknowns = "centred" if self.fit_intercept else "slopes"
        problem = make_problem(rows, map_, total, p, self.alphas, unknowns, svd=svd)
        if self._in_folds():
            self._search_folds(problem, asked)
        elif self.scoring is None:
            self._search_rows(problem)
        else:
            self._search_scored(problem)
        self._finish(problem)

    def _search_rows(self, problem: Problem) -> None:
        """Set criterion_ and criterion_se_, as the other two searches do."""
        how = {"svd": self.gcv_mode == "svd", "gcv": self.cv == "gcv"}
        separate = self.alpha_per_target
        if self.store_cv_results:
            errors, w = every_error(problem, slice(None), **how)
            found = loo.criterion_of_errors(errors, w, separate=separate)
            self._keep(errors**2, problem.rows)
        else:
            found = rowwise_criterion(problem, separate=separate, **how)
        self.criterion_, self.criterion_se_ = found

    def _search_scored(self, problem: Problem) -> None:
        rows = problem.rows
        assert isinstance(rows, Rows)
        scorer = check_scoring(estimator=self, scoring=self.scoring)
        score = weighted_scorer(scorer, not is_unit(rows.w))
        y = rows.y if rows.y.ndim == 2 else rows.y[:, None]
        n, k, A = rows.n_rows, y.shape[1], len(problem.alphas)
        kept, values = [], np.empty((k if self.alpha_per_target else 1, A))
        size = A if self.store_cv_results else max(1, CELLS // (n * k))
        for start in range(0, A, size):
            part = slice(start, start + size)
            errors, _ = every_error(problem, part, svd=self.gcv_mode == "svd", gcv=self.cv == "gcv")
            predictions = y[:, :, None] - errors
            kept.append(predictions)
            for j in range(predictions.shape[2]):
                P = predictions[:, :, j]
                pairs = [(P[:, 0], rows.y) if rows.y.ndim == 1 else (P, y)]
                if self.alpha_per_target:
                    pairs = [(P[:, i], y[:, i]) for i in range(k)]
                values[:, start + j] = [score(GivenPredictions(), a, b, rows.w) for a, b in pairs]
            kept = kept if self.store_cv_results else []
        if kept:
            self._keep(np.concatenate(kept, axis=2), rows)
        self.criterion_ = -values if self.alpha_per_target else -values[0]
        self.criterion_se_ = np.full(self.criterion_.shape, np.nan)  # one number from all rows

    def _keep(self, values: Array, rows: Source) -> None:
        self.cv_results_ = values[:, 0] if one_dimensional(rows) else values

    def _search_folds(self, problem: Problem, asked: Mapping[str, Any]) -> None:
        rows = problem.rows
        assert isinstance(rows, Rows)
        splitter = check_cv(self.cv, rows.y, classifier=False)
        folds = read_folds(splitter.split(rows.X, rows.y, **asked), rows.w)
        for i, fold in enumerate(folds):
            if self.scoring is None and len(fold.test) < 2:
                remedy = "use cv=None for leave-one-out, or scoring='neg_mean_squared_error'"
                raise ValueError(f"fold {i} tests on one row, where R^2 is undefined; {remedy}")
        plain = self.scoring is None
        scorer = None if plain else check_scoring(estimator=self, scoring=self.scoring)
        total = None if isinstance(problem.data, Wide) else problem.data.total
        scores = fold_scores(rows, total, folds, problem.alphas, problem.unknowns, scorer)
        loss = 1 - scores if plain else -scores
        self.criterion_ = loss.mean(axis=0)
        spread = loss.std(axis=0, ddof=1) if len(folds) > 1 else np.zeros(len(problem.alphas))
        self.criterion_se_ = spread / np.sqrt(len(folds))

    def _choose(self, loss: Array, error: Array, alphas: Array) -> int:
        if not np.isfinite(loss).any():
            raise ValueError("no alpha has a finite score; look at scoring and at the data")
        if self.rule == "best":
            return int(np.nanargmin(np.where(np.isfinite(loss), loss, np.nan)))
        return one_standard_error(loss, error, -alphas, greater_is_better=False)

    def _finish(self, problem: Problem) -> None:
        alphas = problem.alphas
        loss, error = np.atleast_2d(self.criterion_), np.atleast_2d(self.criterion_se_)
        chosen = [self._choose(a, b, alphas) for a, b in zip(loss, error, strict=True)]
        score = -loss[np.arange(len(loss)), chosen]
        score = score + 1 if self._in_folds() and self.scoring is None else score
        each = self.alpha_per_target and len(chosen) > 1
        self.alphas_ = alphas
        self.best_score_ = score if each else float(score[0])
        k = problem.found.beta.shape[1]
        best = np.broadcast_to(alphas[chosen], (k,)).copy()
        if isinstance(problem.data, Wide):
            fit = fit_ridge_wide(problem.data, best, problem.unknowns, problem.found)
        else:
            fit = fit_ridge(problem.data, best, "auto", problem.found)
        self._set(problem.rows, fit, problem.unknowns, shared=not each)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        card = super().card()
        how: dict[Any, str] = {None: "leave-one-out", "gcv": "generalised cross-validation"}
        name = "cross-validation in folds" if self._in_folds() else how[self.cv]
        first, last = self.alphas_.min(), self.alphas_.max()
        values = f"{len(self.alphas_)} values from {first:.3g} to {last:.3g}"
        text = f"alpha by {name} over {values}, rule {self.rule!r}; {card.optimisation}"
        edge = self.alpha_ in (first, last) if np.ndim(self.alpha_) == 0 else False
        notes = card.warnings
        if edge and len(self.alphas_) > 1:
            notes = (*notes, "the chosen alpha is at an end of the values tried: try further ones")
        numbers = {**card.numbers, "best_score": self.best_score_}
        return card._replace(optimisation=text, numbers=numbers, warnings=notes)


def read_folds(pairs: Iterable[tuple[ArrayLike, ArrayLike]], w: Array) -> list[Fold]:
    """The folds of a splitter; each must have rows of positive weight to train and test on."""
    folds = [Fold(_indices(a), _indices(b)) for a, b in pairs]
    for i, fold in enumerate(folds):
        if not len(fold.train) or not w[fold.train].any() or not w[fold.test].any():
            raise ValueError(f"fold {i} has no rows (of positive weight) to train or test on")
    return folds


def _indices(found: ArrayLike) -> IntArray:
    """Row numbers from row numbers or a mask."""
    found = np.asarray(found)
    return np.flatnonzero(found) if found.dtype == bool else found.astype(np.intp)
