r"""Logistic regression with C and l1_ratio chosen by cross-validation.

Every fold is one warm-started path (``logistic_folds``); the fit at the end is that of
LogisticRegression at the C and l1_ratio that were chosen, on all rows.

References: Friedman, Hastie & Tibshirani (2010); Breiman et al. (1984), section 3.4.3.
"""

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import get_scorer
from sklearn.model_selection import check_cv
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metadata_routing import _raise_for_params as raise_for_params
from sklearn.utils.metadata_routing import _routing_enabled as routing_enabled

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, ClassWeight, Folds, IntArray, Seed
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext, History
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.inference.decisions.linear_rule import class_weights
from pellucid.linear.logistic import folds as cv_folds
from pellucid.linear.logistic.folds import FoldPath, Task
from pellucid.linear.logistic.newton import last_step, newton_step, start_newton
from pellucid.linear.logistic.paths import logistic_path
from pellucid.linear.logistic.proximal import ProximalNewton, relative_gap
from pellucid.linear.logistic.ridge_paths import NEWTON_SIZE
from pellucid.linear.logistic.rule import LogisticRule
from pellucid.linear.logistic.sums import class_counts, plain_problem, typical_row
from pellucid.linear.sum_folds import check_keywords

SOLVERS = ("auto", "lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")


class Refit(NamedTuple):
    """The fit on all rows."""

    coef: Array  # (k, p)
    intercept: Array  # (k,)
    objective: float  # C sum loss + penalty


class LogisticRegressionCV(LogisticRule):
    """Logistic regression with C, and the share of the L1 penalty, chosen by cross-validation.

    Parameters
    ----------
    Cs : int or list of floats, default=10
        How many C between 1e-4 and 1e4, or the values themselves (inf: no penalty).
    l1_ratios : list of floats or None, default=None
        Shares of the L1 penalty to try. None is (0.0,) without a dimension for them in
        ``scores_``, ``coefs_paths_`` and ``n_iter_``.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    cv : int, splitter or list of splits, default=None
        None means 5 stratified folds.
    penalty : {"l1", "l2", "elasticnet"}
        Deprecated, as in scikit-learn: use ``l1_ratios``.
    scoring : str, callable or None, default=None
        What is maximised; None is accuracy.
    tol : float, default=1e-4
        With an L1 penalty the duality gap is at most tol^2 times the objective without weights;
        else Newton's gap is at most tol, and one more step is taken.
    max_iter : int, default=100
        Most rounds at each C.
    class_weight : dict, "balanced" or None, default=None
        What a row of each class counts; "balanced": inversely to its weight in the data.
    refit : bool, default=True
        Fit all rows at the chosen C; False averages the best coefficients of the folds.
    use_legacy_attributes : bool, default=True
        True: dicts by class label as in scikit-learn 1.9; False: arrays as from 1.10 on.
    rule : {"best", "one_standard_error"}, default="best"
        The best mean score; or, for its l1_ratio, the smallest C within one standard error of it.
    dual, solver, n_jobs, verbose, intercept_scaling, random_state
        Accepted for scikit-learn's sake: Newton steps, or proximal ones for an L1 penalty, find
        the same minimum, and all cores are used.

    Attributes
    ----------
    C_, l1_ratio_ : what was chosen, once per class (once for two classes)
    Cs_, l1_ratios_ : the grid
    scores_ : {label: (folds, Cs, l1_ratios)}, the same for every class
    coefs_paths_ : {label: (folds, Cs, l1_ratios, p + 1)}, the intercept last
    n_iter_ : (1, folds, Cs, l1_ratios); ``n_refit_iter_`` is that of the final fit
    coef_, intercept_, classes_ : of the final fit
    history_ : objective and gap of every step of the final fit

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LogisticRegressionCV
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 6))
    >>> y = X[:, 0] + rng.logistic(size=120) > 0
    >>> model = LogisticRegressionCV(l1_ratios=(1.0,), scoring="neg_log_loss").fit(X, y)
    >>> model.C_.round(4), model.scores_[True].shape, np.flatnonzero(model.coef_)
    (array([0.3594]), (5, 10, 1), array([0, 2, 3]))
    """

    _accepts_sparse = True
    scores_: Any
    coefs_paths_: Any
    n_iter_: Any

    def __init__(
        self,
        *,
        Cs: int | Sequence[float] | Array = 10,
        l1_ratios: Sequence[float] | None = None,
        fit_intercept: bool = True,
        cv: Folds = None,
        dual: bool = False,
        penalty: Literal["l1", "l2", "elasticnet", "deprecated"] = "deprecated",
        scoring: str | Callable[..., float] | None = None,
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: ClassWeight = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        random_state: Seed = None,
        use_legacy_attributes: bool = True,
        rule: str = "best",
    ) -> None:
        self.Cs = Cs
        self.l1_ratios = l1_ratios
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.random_state = random_state
        self.use_legacy_attributes = use_legacy_attributes
        self.rule = rule

    path = staticmethod(logistic_path)

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Fit; with metadata routing on, ``params`` go to the splitter and the scorer."""
        raise_for_params(params, self, "fit")
        ratios, Cs = self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        self._need_two_classes(rows.n_rows)
        totals = class_counts(len(self.classes_), rows)
        if (totals > 0).sum() < 2:
            raise ValueError("every class but one has weight 0; two classes are needed")
        weights = class_weights(self.class_weight, self.classes_, totals)
        w = np.ascontiguousarray(rows.w * weights[rows.y])
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=self.max_iter)
        context.attributes = self._so_far
        labels = self.classes_[rows.y]
        split, score = self._routed(sample_weight, params)
        cv = check_cv(self.cv, labels, classifier=True)
        folds = list(cv.split(rows.X, labels, **split))
        scoring = cv_folds.make_scoring(self.scoring, self.classes_, score)
        task = Task(Cs, self.fit_intercept, self.tol, self.max_iter)
        given = None if sample_weight is None else rows.w
        data = cv_folds.Data(rows.X, labels, rows.y, self.classes_, w, given)
        paths = cv_folds.cross_validate(data, folds, ratios, task, scoring)
        late = [not path.converged for fold in paths for path in fold]
        if any(late):
            where = f"{sum(late)} of {len(late)} paths of the folds"
            rounds = f"max_iter={self.max_iter} rounds"
            warn(f"no convergence in {rounds} on {where}", ConvergenceWarning)
        self._set_scores(paths, Cs, ratios)
        self._finish(rows, w, paths, ratios, task, context)
        return self

    def _check_parameters(self) -> tuple[list[float], Array]:
        names = ("fit_intercept", "dual", "refit", "use_legacy_attributes")
        check.boolean(**{name: getattr(self, name) for name in names})
        check.positive(tol=self.tol, intercept_scaling=self.intercept_scaling)
        check.whole(max_iter=self.max_iter)
        check.one_of(SOLVERS, solver=self.solver)
        check_keywords(self)
        if self.rule != "best" and not self.refit:
            raise ValueError("rule='one_standard_error' needs refit=True: one C for all folds")
        return self._ratios(), self._grid()

    def _ratios(self) -> list[float]:
        ratios: Any = (0.0,) if self.l1_ratios is None else self.l1_ratios
        if self.penalty != "deprecated":
            check.one_of(("l1", "l2", "elasticnet"), penalty=self.penalty)
            use = "l1_ratios=(0,) for 'l2', (1,) for 'l1', numbers between for 'elasticnet'"
            warn(f"'penalty' was deprecated: use {use}", FutureWarning)
            ratios = {"l1": (1.0,), "l2": (0.0,)}.get(self.penalty, ratios)
        fine = np.ndim(ratios) == 1 and len(ratios) > 0
        if not fine or any(not isinstance(r, Real) or not 0 <= float(r) <= 1 for r in ratios):
            known = "None or a list of numbers from 0 to 1"
            raise ValueError(f"l1_ratios must be {known}, got {self.l1_ratios!r}")
        return [float(r) for r in ratios]

    def _grid(self) -> Array:
        if isinstance(self.Cs, Integral) and not isinstance(self.Cs, bool):
            check.whole(Cs=self.Cs)
            return np.logspace(-4, 4, int(self.Cs))
        values: Any = self.Cs
        fine = np.ndim(values) == 1 and len(values) > 0
        if not fine or any(not isinstance(C, Real) or not float(C) > 0 for C in values):
            known = "a whole number >= 1 or a list of numbers > 0"
            raise ValueError(f"Cs must be {known}, got {self.Cs!r}")
        return np.array(values, dtype=np.float64)

    def _routed(self, sample_weight: ArrayLike | None, params: dict[str, Any]) -> tuple[Any, Any]:
        """Keywords for the splitter and the scorer."""
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if not routing_enabled():
            return {}, given
        routed = process_routing(self, "fit", **given, **params)
        return routed.splitter.split, routed.scorer.score

    def _set_scores(self, paths: list[list[FoldPath]], Cs: Array, ratios: list[float]) -> None:
        self.Cs_, self.l1_ratios_ = Cs, np.array(ratios)
        scores = np.array([[path.scores for path in fold] for fold in paths])  # (f, r, L)
        rounds = np.array([[path.n_iter for path in fold] for fold in paths])
        T = np.array([[_joined(path, self.fit_intercept) for path in f] for f in paths])
        if not self.use_legacy_attributes:
            self.scores_, self.n_iter_, self.coefs_paths_ = scores, rounds, T
            return
        scores, rounds = scores.swapaxes(1, 2), rounds.swapaxes(1, 2)[None]
        T = np.moveaxis(T, (0, 1, 2, 3), (1, 3, 2, 0))  # (k, f, L, r, dof)
        if self.l1_ratios is None:
            scores, rounds, T = scores[:, :, 0], rounds[..., 0], T[:, :, :, 0]
            self.l1_ratios_ = np.array([None])
        labels = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        self.scores_ = {label: scores.copy() for label in labels}
        self.coefs_paths_ = dict(zip(labels, T, strict=True))
        self.n_iter_ = rounds

    def _finish(
        self,
        rows: Rows,
        w: Array,
        paths: list[list[FoldPath]],
        ratios: list[float],
        task: Task,
        context: FitContext,
    ) -> None:
        Cs, rounds = task.Cs, self.n_iter_
        scores = np.moveaxis(np.array([[q.scores for q in fold] for fold in paths]), 1, 2)
        if self.refit:
            c, r = cv_folds.choose(scores, Cs, self.rule)
            C, ratio = float(Cs[c]), ratios[r]
            fit = self._refit(rows, w, C, ratio, task, context)
            self.coef_, self.intercept_ = fit.coef, fit.intercept
            self._objective, self._score = fit.objective, float(scores[:, c, r].mean())
        else:
            flat = scores.reshape(len(scores), -1).argmax(axis=1)
            c, r = np.unravel_index(flat, scores.shape[1:])
            C, ratio = float(np.mean(Cs[c])), float(np.mean(np.array(ratios)[r]))
            best = [paths[f][r[f]] for f in range(len(paths))]
            self.coef_ = np.mean([q.coefs[i] for q, i in zip(best, c, strict=True)], axis=0)
            self.intercept_ = np.mean([q.intercepts[i] for q, i in zip(best, c, strict=True)], 0)
            self._objective, self._score = np.nan, float(scores.max(axis=(1, 2)).mean())
            self.history_ = History([{"step": 1, "objective": np.nan, "gap": 0.0, "seconds": 0.0}])
            context.end()
        self.n_refit_iter_ = len(self.history_) - 1 if self.refit and len(self.history_) > 1 else 1
        self.n_iter_ = rounds
        k = 1 if len(self.classes_) == 2 else len(self.classes_)
        self._chosen = (C, ratio)
        legacy = self.use_legacy_attributes
        self.C_ = np.full(k, C) if legacy else C
        self.l1_ratio_ = np.full(k, ratio) if legacy else ratio
        if legacy and self.l1_ratios is None:
            self.l1_ratio_ = np.array([None] * k)

    def _so_far(self, state: Any) -> dict[str, Any]:
        """The fitted attributes as if the final fit had stopped at this state."""
        if state is None:
            return {}
        fit = self._read(state)
        return {"coef_": fit.coef, "intercept_": fit.intercept, "classes_": self.classes_}

    def _refit(
        self, rows: Rows, w: Array, C: float, ratio: float, task: Task, context: FitContext
    ) -> Refit:
        K = len(self.classes_)
        gone = self.classes_[np.bincount(rows.y, weights=w, minlength=K) == 0].tolist()
        if gone:
            raise ValueError(f"every class needs rows of positive weight, got none for {gone}")
        k, (n, p) = 1 if K == 2 else K, rows.X.shape
        wide = (p > n and not issparse(rows.X)) or k * (p + 1) > NEWTON_SIZE
        if ratio > 0 and np.isfinite(C):
            return self._proximal(rows.X, rows.y, w, C, ratio, context)
        if not wide:
            return self._newton(rows, w, C, context)
        task = task._replace(Cs=np.array([C]))
        data = rows.X, rows.y, K, w
        coefs, intercepts, rounds, fine = cv_folds.weights_along(*data, task, 0.0)
        if not fine:
            late = f"no convergence in max_iter={self.max_iter} steps of the final fit"
            warn(f"{type(self).__name__}: {late}", ConvergenceWarning)
        problem = ProximalNewton(*data, fit_intercept=self.fit_intercept)
        problem.penalise(C, 0.0, 1.0)
        value = problem.begin(coefs[0], intercepts[0]).value
        row = {"step": int(rounds[0]), "objective": C * value, "gap": 0.0, "seconds": 0.0}
        self.history_ = History([row])
        context.end()
        return Refit(coefs[0], intercepts[0], C * value)

    def _proximal(
        self, X: ArrayLike, codes: IntArray, w: Array, C: float, ratio: float, context: FitContext
    ) -> Refit:
        problem = ProximalNewton(X, codes, len(self.classes_), w, fit_intercept=self.fit_intercept)
        target = relative_gap(self.tol)
        problem.penalise(C, ratio, target)

        def read(state: Any) -> Refit:
            return Refit(*problem.weights(state), C * state.value)

        self._read = read
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": target, "context": context}
        limits["record"] = lambda state: {"objective": C * state.value}
        run = self._iterate(problem.step, problem.begin(), **limits)
        del self._read
        return read(run.state)

    def _newton(self, rows: Rows, w: Array, C: float, context: FitContext) -> Refit:
        p = rows.X.shape[1]
        plain = self.fit_intercept and not issparse(rows.X)
        shift = typical_row(rows.X, w) if plain else np.zeros(p)
        source = Rows(rows.X, rows.y, w)
        problem = plain_problem(source, len(self.classes_), shift, self.fit_intercept)
        problem = problem.shrunk(1 / (C * problem.total))
        factor = (C if np.isfinite(C) else 1.0) * problem.total

        def read(state: Any) -> Refit:
            theta = last_step(state) if state.gap <= self.tol else state.point.theta
            b = theta[:, 0] - theta[:, 1:] @ shift if self.fit_intercept else 0 * theta[:, 0]
            return Refit(theta[:, 1:].copy(), b, factor * state.point.objective)

        self._read = read
        start = start_newton(problem, np.zeros((problem.n_scores, p + 1)))
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "context": context}
        limits["record"] = lambda state: {"objective": factor * state.point.objective}
        run = self._iterate(partial(newton_step, problem), start, **limits)
        del self._read
        return read(run.state)

    def _scorer(self) -> Any:
        return get_scorer(self.scoring or "accuracy")

    def score(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> float:
        """The score by ``scoring`` (accuracy where that is None)."""
        raise_for_params(params, self, "score")
        if sample_weight is not None:
            params["sample_weight"] = sample_weight
        if routing_enabled():
            params = process_routing(self, "score", **params).scorer.score
        return self._scorer()(self, X, y, **params)

    def get_metadata_routing(self) -> Any:
        """The splitter may ask for groups, the scorer for weights."""
        scores = MethodMapping().add(caller="score", callee="score")
        scores = scores.add(caller="fit", callee="score")
        splits = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        router = router.add(splitter=self.cv, method_mapping=splits)
        return router.add(scorer=self._scorer(), method_mapping=scores)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        C, r = self._chosen
        how = {
            "best": "the best mean",
            "one_standard_error": "the smallest C within one standard error of the best mean",
        }[self.rule]
        kind = "log-odds linear in x" if len(self.classes_) == 2 else "softmax of linear scores"
        legacy = self.use_legacy_attributes
        folds = len(next(iter(self.scores_.values())) if legacy else self.scores_)
        scale = f"1/C = {1 / C:.6g}"
        if r == 1:
            scale = f"lambda = {1 / C:.6g} in sum loss + lambda sum |w|"
        elif r == 0:
            scale = f"lambda = {1 / (2 * C):.6g} in sum loss + lambda sum w^2"
        name = self.scoring or "accuracy"
        name = name if isinstance(name, str) else "the given score"
        averaged = "" if self.refit else "; the folds' coefficients are averaged"
        numbers = {"C": C, "l1_ratio": r, "cross-validated score": self._score}
        numbers |= {"objective": self._objective, "non-zero": int(np.count_nonzero(self.coef_))}
        return Card(
            representation=f"{kind}, {'with' if self.fit_intercept else 'without'} intercept",
            evaluation=f"{name} over {folds} folds chooses C ({how}); then C sum log-loss + "
            f"{(1 - r) / 2:.4g} sum w^2 + {r:.4g} sum |w|",
            optimisation="Newton steps, proximal ones for an L1 penalty; every fold is one path, "
            f"each C from the one before{averaged}",
            numbers=numbers,
            scales=(scale,),
        )


def _joined(path: FoldPath, intercept: bool) -> Array:
    """(L, k, p + 1) with the intercept last, or (L, k, p) without one."""
    if not intercept:
        return path.coefs
    return np.concatenate([path.coefs, path.intercepts[:, :, None]], axis=2)
