r"""Tuning: every candidate on the same folds, then the simplest that is not clearly worse.

    mean_c, s_c   mean and standard error of the fold scores of candidate c
    best          argmax mean_c  (losses: argmin)
    one_standard_error   the simplest c with mean_c within s_best of mean_best

The whole estimator, pipelines included, is fitted anew in every fold: nothing of the test rows
leaks into scaling, encoding or selection. Complexity is never chosen on the training rows, where
the most complex candidate always wins. Where the estimator has a closed-form path (ridge, lasso,
elastic net scored by mse or r2) all penalties share one decomposition per fold.

References: Breiman et al. (1984), section 3.4.3; Varma & Simon (2006).
"""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from pellucid.base import Estimator, check_weights, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.selection import one_standard_error
from pellucid.core.meta import fitted
from pellucid.core.records import Card, plain, show, text_table
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.guarantees.risk_bounds import RiskBound, validation_bound
from pellucid.evaluation.metrics.metrics import Metric, MetricLike
from pellucid.evaluation.selection.candidates import Candidates, make_candidates
from pellucid.evaluation.selection.closed_paths import closed_scores
from pellucid.evaluation.splits.folds import FAILURES, Split, make_splits
from pellucid.evaluation.validation import cv_scores
from pellucid.evaluation.validation.cv_scores import FoldJob, clone_values
from pellucid.evaluation.validation.fold_summary import cv_summary

RULES = ("best", "one_standard_error")
SHARES = ("accuracy", "error", "subset_accuracy")  # losses in [0, 1]: Hoeffding's bound holds


class Selection(NamedTuple):
    """Why this candidate: a sentence, the table of all, and a bound on what was chosen."""

    sentence: str
    table: list[dict[str, Any]]
    bound: RiskBound | None

    def to_dict(self) -> dict[str, Any]:
        return plain(self._asdict())

    def to_frame(self) -> Any:
        import polars

        rows = [{**row, "params": str(row["params"])} for row in self.table]
        return polars.DataFrame(rows)

    def __str__(self) -> str:
        columns = tuple(self.table[0])
        rows = [tuple(str(v) if k == "params" else v for k, v in r.items()) for r in self.table]
        bound = [] if self.bound is None else [str(self.bound)]
        return "\n".join([self.sentence, text_table(columns, rows), *bound])


class Table(NamedTuple):
    """Scores (candidates, folds) and seconds of the same shape; NaN where they were shared."""

    scores: Array
    fit_seconds: Array
    score_seconds: Array


class FoldError(ValueError):
    """A fold of a candidate failed; ``args`` are its parameters, the fold and the message."""


def _has(method: str) -> Any:
    """Whether the model (fitted, or as given) has the method."""
    return lambda self: hasattr(getattr(self, "best_estimator_", self.estimator), method)


def _task(
    job: FoldJob, params: list[dict[str, Any]], splits: list[Split], item: tuple[int, int]
) -> Any:
    """One candidate on one fold."""
    c, f = item
    try:
        found = cv_scores.run_fold(job, params[c], splits[f])
    except FAILURES as error:
        raise FoldError(params[c], f, str(error)) from error
    return found.test, found.fit_seconds, found.score_seconds


def in_order(function: Callable[[Any], Any], items: list[Any], n_jobs: int | None) -> Iterator[Any]:
    """Answers in the order of the items, from joblib's workers where there are several."""
    if effective_n_jobs(n_jobs) == 1 or len(items) == 1:
        yield from map(function, items)
        return
    answers = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(function)(i) for i in items)
    try:
        for answer in answers:  # noqa: UP028  "yield from" would close them before the filter
            yield answer
    finally:
        with warnings.catch_warnings():  # a search that is stopped leaves tasks unused: it knows
            warnings.filterwarnings("ignore", message=r"\d+ tasks ")
            answers.close()


def search(
    job: FoldJob,
    candidates: Candidates,
    splits: list[Split],
    n_jobs: int | None,
    context: FitContext,
) -> Table:
    """Every candidate on every fold; a callback may stop it after a whole candidate."""
    m, k = len(candidates.params), len(splits)
    items = [(c, f) for c in range(m) for f in range(k)]
    rows: list[Any] = []
    answers = in_order(partial(_task, job, candidates.params, splits), items, n_jobs)
    for i, answer in enumerate(answers):
        rows.append(answer)
        asked = context.step(i + 1, None)
        if asked and len(rows) >= k:
            break
    if hasattr(answers, "close"):
        answers.close()
    done = len(rows) // k
    found = np.array(rows[: done * k]).reshape(done, k, 3)
    return Table(*(np.ascontiguousarray(found[:, :, j]) for j in range(3)))


def choose(
    scores: Array, complexity: Array | None, rule: str, greater_is_better: bool
) -> tuple[int, int]:
    """The chosen and the best candidate.

    >>> scores = np.array([[0.79, 0.81], [0.80, 0.81]])
    >>> choose(scores, np.array([0.0, 1.0]), "one_standard_error", True)
    (0, 1)
    """
    mean = scores.mean(axis=1)
    if not np.isfinite(mean).any():
        where = "the metric may be undefined where the target of a fold is constant"
        raise ValueError(
            f"no candidate has a finite score on every fold: {where}; shuffle the folds "
            "(random_state) or take another metric"
        )
    oriented = mean if greater_is_better else -mean
    best = int(np.nanargmax(np.where(np.isfinite(oriented), oriented, np.nan)))
    if rule == "best":
        return best, best
    k = scores.shape[1]
    error = scores.std(axis=1, ddof=1) / np.sqrt(k) if k > 1 else np.zeros(len(scores))
    assert complexity is not None
    rise = complexity[: len(mean)]
    return one_standard_error(mean, error, rise, greater_is_better=greater_is_better), best


def selection_record(
    table: Table,
    params: list[dict[str, Any]],
    chosen: int,
    best: int,
    rule: str,
    metric: Metric,
    n_validation: int,
) -> Selection:
    """The table with intervals, the sentence, and for shares the bound of a choice among many."""
    rows: list[dict[str, Any]] = []
    for one, scores in zip(params, table.scores, strict=False):
        mean = float(scores.mean())
        error, low, high = (float("nan"),) * 3
        if len(scores) > 1 and np.isfinite(scores).all():
            summary = cv_summary(scores)
            error, low, high = summary.standard_error, summary.low, summary.high
        limits = {"standard_error": error, "low": low, "high": high}
        rows.append({"params": one, "mean": mean, **limits})
    at, top = rows[chosen], rows[best]
    between = f"folds taken as independent: {show(at['low'])} to {show(at['high'])}"
    value = f"{metric.name} {show(at['mean'])} ({between})"
    sentence = f"Of {len(rows)} candidates {at['params']} was chosen: {value}."
    if rule == "one_standard_error" and chosen != best:
        within = show(top["standard_error"])
        sentence += (
            f" The best mean, {show(top['mean'])}, is that of {top['params']}; the chosen one is "
            f"the simplest within one standard error ({within}) of it."
        )
    bound = None
    if metric.name in SHARES and metric.definition is not None:
        loss = 1 - at["mean"] if metric.greater_is_better else at["mean"]
        bound = validation_bound(min(max(loss, 0.0), 1.0), n_validation, n_models=len(rows))
    return Selection(sentence, rows, bound)


def results_table(
    table: Table, params: list[dict[str, Any]], greater_is_better: bool
) -> dict[str, Any]:
    """The same under scikit-learn's names; losses keep their sign, rank 1 is the best."""
    mean = table.scores.mean(axis=1)
    found: dict[str, Any] = {}
    for name, seconds in (("fit", table.fit_seconds), ("score", table.score_seconds)):
        found[f"mean_{name}_time"] = seconds.mean(axis=1)
        found[f"std_{name}_time"] = seconds.std(axis=1)
    for name in sorted({name for one in params for name in one}):
        values = np.empty(len(params), dtype=object)
        values[:] = [one.get(name) for one in params]
        found[f"param_{name}"] = values
    found["params"] = params
    for f in range(table.scores.shape[1]):
        found[f"split{f}_test_score"] = table.scores[:, f].copy()
    found["mean_test_score"], found["std_test_score"] = mean, table.scores.std(axis=1)
    loss = np.where(np.isnan(mean), np.inf, -mean if greater_is_better else mean)
    found["rank_test_score"] = 1 + (loss[:, None] > loss).sum(axis=1).astype(np.int32)
    return found


def closed_table(job: FoldJob, candidates: Candidates, splits: list[Split]) -> Table | None:
    """The table of a path, where the estimator offers one."""
    scores = None if job.params else closed_scores(job, candidates.params, splits)
    if scores is None:
        return None
    unknown = np.full(scores.shape, np.nan)
    return Table(scores, unknown, unknown)


def refit(job: FoldJob, candidate: dict[str, Any]) -> Any:
    """The model of a candidate, fitted to all rows."""
    model = clone(job.estimator).set_params(**clone_values(candidate))
    extra = dict(job.params or {})
    if job.weight is not None:
        extra["sample_weight"] = job.weight
    return fitted(model, *((job.X,) if job.y is None else (job.X, job.y)), **extra)


class TunedEstimator(MetaEstimatorMixin, Estimator):
    """An estimator that chooses its own parameters by cross-validation.

    Parameters
    ----------
    estimator : estimator
        Classifier, regressor, transformer or pipeline; it is cloned, never changed.
    space : dict of lists or distributions, or a list of such dicts
        Parameter -> values, **listed simplest first**; distributions (with ``rvs``) need
        ``n_iter`` and ``rule="best"``, since draws have no listed order.
    metric : str, scorer or callable, optional
        None: r2 for regressors, accuracy for classifiers.
    cv : int, splitter or list of (train, test), default=None
        None is 5. ``BootstrapSplit(...)`` tunes on out-of-bag rows.
    rule : {"one_standard_error", "best"}, default="one_standard_error"
        The first takes the simplest candidate within one standard error of the best.
    n_iter : int, optional
        How many candidates to draw at random; None: every combination.
    n_jobs : int, optional
        Workers of joblib over candidates and folds; the numbers do not depend on it.
    random_state : int, RandomState, Generator or None
        For draws, and to shuffle the folds of a whole number ``cv``.

    Attributes
    ----------
    best_params_, best_index_, best_score_ : the choice and its mean score
    best_estimator_ : fitted on all rows with them; ``predict`` and its like ask it
    cv_results_ : dict of arrays under scikit-learn's names; losses keep their sign
    selection_ : Selection(sentence, table, bound)
    n_splits_ : number of folds
    closed_form_ : whether the scores came from a path instead of single fits

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Ridge, TunedEstimator
    >>> x = np.linspace(1, 5, 15)[:, None]
    >>> model = TunedEstimator(Ridge(), {"alpha": [10.0, 1.0, 0.1]}, cv=3, random_state=0)
    >>> model.fit(x, np.exp(x[:, 0])).best_params_
    {'alpha': 1.0}
    """

    _answers_nonfinite = True  # the estimator inside speaks for itself

    def __init__(
        self,
        estimator: BaseEstimator,
        space: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        metric: MetricLike = None,
        cv: Folds = None,
        rule: str = "one_standard_error",
        n_iter: int | None = None,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.metric = metric
        self.cv = cv
        self.rule = rule
        self.n_iter = n_iter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.transformer_tags, tags.input_tags = inner.transformer_tags, inner.input_tags
        tags.non_deterministic = inner.non_deterministic
        return tags

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Choose and fit; ``groups`` go to the splitter, ``params`` to the estimator's fit."""
        candidates = self._check_parameters()
        metric = cv_scores.metric_for(self.metric, self.estimator)
        X, y, weight = self._open(X, y, sample_weight, params)
        classifier, seed = is_classifier(self.estimator), self.random_state
        splits = make_splits(self.cv, X, y, classifier=classifier, groups=groups, random_state=seed)
        steps = len(candidates.params) * len(splits)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=steps)
        job = FoldJob(self.estimator, X, y, metric, weight, params)
        table = closed_table(job, candidates, splits)
        self.closed_form_ = table is not None
        if table is None:
            try:
                table = search(job, candidates, splits, self.n_jobs, context)
            except FoldError as failure:
                one, fold, message = failure.args
                refit(job, one)  # its message names the rows as given
                raise ValueError(f"{one}, fold {fold} failed: {message}") from failure
        else:
            for i in range(steps):
                context.step(i + 1, None)
        self._finish(job, candidates, table, splits)
        context.end()
        return self

    def _check_parameters(self) -> Candidates:
        check.one_of(RULES, rule=self.rule)
        if isinstance(self.cv, str):
            need = f"a number of folds, a splitter or a list of splits, got {self.cv!r}"
            why = "complexity is never chosen on the rows a model was fitted on"
            raise ValueError(f"cv must be {need}: {why}")
        candidates = make_candidates(self.space, self.n_iter, self.random_state)
        if self.rule == "one_standard_error" and candidates.complexity is None:
            why = "draws from a distribution have no such order: use rule='best'"
            raise ValueError(f"rule='one_standard_error' needs values listed simplest first; {why}")
        return candidates

    def _open(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None, params: dict[str, Any]
    ) -> Any:
        """The data, in a form that rows can be taken from; the estimator itself checks the rest."""
        required = get_tags(self.estimator).target_tags.required
        if _num_samples(X) < 2 or (y is None and required):
            n = _num_samples(X)
            clone(self.estimator).fit(X, y)  # refuses in its own words
            raise ValueError(f"{type(self).__name__} needs at least 2 rows, got n_samples={n}")
        X, y = cv_scores.open_data(X, y)
        if sample_weight is None:
            return X, y, None
        if not has_fit_parameter(self.estimator, "sample_weight"):
            name = type(self.estimator).__name__
            hint = "a pipeline wants step__sample_weight"
            raise ValueError(f"{name} takes no sample_weight in fit; {hint}")
        return X, y, np.array(check_weights(sample_weight, X))

    def _finish(
        self, job: FoldJob, candidates: Candidates, table: Table, splits: list[Split]
    ) -> None:
        done = candidates.params[: len(table.scores)]
        if len(splits) == 1 and self.rule == "one_standard_error":
            warn("one split has no standard error: the best candidate is taken")
        metric, better = job.metric, job.metric.greater_is_better
        chosen, best = choose(table.scores, candidates.complexity, self.rule, better)
        self.best_estimator_ = refit(job, done[chosen])
        self.best_index_, self.best_params_ = chosen, done[chosen]
        self.best_score_ = float(table.scores[chosen].mean())
        self.cv_results_ = results_table(table, done, better)
        held = min(len(test) for _, test in splits)
        self.selection_ = selection_record(table, done, chosen, best, self.rule, metric, held)
        self.n_splits_ = len(splits)
        self._metric_name = metric.name

    # --- what the chosen model does ------------------------------------------------------------

    def _of_best(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no {name} before fit")
        return getattr(self.best_estimator_, name)

    @property
    def n_features_in_(self) -> int:
        return self._of_best("n_features_in_")

    @property
    def feature_names_in_(self) -> Any:
        return self._of_best("feature_names_in_")

    @property
    def classes_(self) -> Any:
        return self._of_best("classes_")

    def _chosen(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @available_if(_has("predict"))
    def predict(self, X: ArrayLike, **params: Any) -> Any:
        return self._chosen().predict(X, **params)

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> Any:
        return self._chosen().predict_proba(X)

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: ArrayLike) -> Any:
        return self._chosen().predict_log_proba(X)

    @available_if(_has("decision_function"))
    def decision_function(self, X: ArrayLike) -> Any:
        return self._chosen().decision_function(X)

    @available_if(_has("score_samples"))
    def score_samples(self, X: ArrayLike) -> Any:
        return self._chosen().score_samples(X)

    @available_if(_has("transform"))
    def transform(self, X: ArrayLike) -> Any:
        return self._chosen().transform(X)

    @available_if(_has("inverse_transform"))
    def inverse_transform(self, X: ArrayLike) -> Any:
        return self._chosen().inverse_transform(X)

    @available_if(_has("get_feature_names_out"))
    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        return self._chosen().get_feature_names_out(input_features)

    @available_if(_has("score"))
    def score(self, X: ArrayLike, y: ArrayLike | None = None, **params: Any) -> float:
        return self._chosen().score(X, y, **params)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        model = self._chosen()
        name = type(model).__name__
        own = Card(f"a fitted {name}", f"then {name} on all rows", name)
        inner = model.card() if hasattr(model, "card") else own
        how = "one path per fold" if self.closed_form_ else "a fit per candidate and fold"
        chosen = ", ".join(f"{key} = {show(value)}" for key, value in self.best_params_.items())
        count, folds = len(self.selection_.table), self.n_splits_
        search = f"{self._metric_name} over {folds} folds chooses among {count} candidates"
        numbers = {"cross-validated score": self.best_score_, "candidates": count, "folds": folds}
        optimism = "the score of the chosen candidate is optimistic: use nested_cross_validation"
        given = chosen or "the parameters as given"
        return Card(
            own.representation if inner is own else f"{name}: {inner.representation}",
            f"{search}, rule {self.rule!r}; {inner.evaluation}",
            f"{how}, then {inner.optimisation} on all rows with {given}",
            {**numbers, **inner.numbers},
            inner.scales,
            (optimism, *inner.warnings),
        )
