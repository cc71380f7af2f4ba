r"""Training: every candidate on identical folds, tuned inside each, nothing learned outside.

    outer fold i   learn_i | judge_i
    inner folds    of learn_i alone: features and model fitted anew; the best mean score chooses the
                   parameters (``prefer="simple"``: the simplest within one standard error of it);
                   boosting races a portfolio of settings (``halving``)
    many rows      from ONE_SPLIT learning rows on the parameters are chosen once, on one inner
                   split of the first fold
    score_i        features and model of learn_i with these parameters, on judge_i

The features of a fold are computed once and shared by all candidates and all parameters; they
depend on the learning rows of that fold only. Penalties of ridge, lasso and elastic net share one
decomposition per inner fold (evaluation.closed_paths).

Who is taken in the end is ``choice``'s affair.

References: Varma & Simon (2006).
"""

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit
from sklearn.utils.validation import has_fit_parameter

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.evaluation.metrics.metrics import resolve_metric
from pellucid.evaluation.selection.candidates import make_candidates
from pellucid.evaluation.selection.closed_paths import closed_scores
from pellucid.evaluation.splits.folds import FAILURES
from pellucid.evaluation.validation.cv_scores import FoldJob
from pellucid.solvers.minimum import SeparationWarning
from pellucid.study.candidates.candidates import Tried
from pellucid.study.candidates.halving import RaceLimit, race
from pellucid.study.columns.lags import Lags
from pellucid.study.columns.table_features import TableFeatures
from pellucid.study.judging.measure import Scorer, chunks
from pellucid.study.reading.amounts import Growth

INNER = {"quick": 3, "standard": 3, "thorough": 5}  # folds inside a fold
ONE_SPLIT = 1500  # learning rows from which on parameters are chosen once, on one inner split;
ONE_SPLIT_CELLS = 50_000  # likewise cells, where rows are at least
ONE_SPLIT_LEAST = 500  # so many
TUNING_ROWS = 20_000  # tuning looks at no more rows than this
PARTS = 10  # a single judging part is cut into so many, to have a spread
CACHE_BYTES = 2 << 30
WARM = ("LogisticRegression",)  # convex: a warm start changes the cost, not the answer
GROWN = ("TableBoostingClassifier", "TableBoostingRegressor")  # rounds can be added
CLOSED = {"rmse": "mse", "mse": "mse", "r2": "r2"}
Fold = tuple[IntArray, IntArray]


WITHIN = "the simplest value whose loss to the best is within one standard error"


class Part(NamedTuple):
    """One fold as matrices."""

    features: TableFeatures
    Z_learn: Array
    y_learn: Any
    Z_judge: Array
    y_judge: Any
    learn: IntArray
    judge: IntArray


class Workshop:
    """The learning rows of a study, cut into folds, with their features at hand."""

    def __init__(
        self,
        frame: pl.DataFrame,
        y: Any,
        folds: Sequence[Fold],
        *,
        kind: str,
        kinds: dict[str, str],
        scorer: Scorer,
        groups: npt.NDArray[Any] | None = None,
        query: Any = None,
        effort: str = "standard",
        seed: int = 0,
        forms: dict[str, str] | None = None,
        lags: Lags | None = None,
        cells: pl.DataFrame | None = None,
        prefer: str = "strong",
    ) -> None:
        self.lags, self.cells = lags, cells  # columns only some candidates see; the whole table
        self.frame, self.y, self.kinds, self.forms = frame, y, kinds, forms or {}
        self.folds = [(np.asarray(a), np.asarray(b)) for a, b in folds]
        self.kind, self.scorer, self.query = kind, scorer, query
        self.groups = groups  # rows that belong together; of a random split those that are copies
        self.growth: Growth | None = None  # how the spread of a positive target goes with its size
        self.effort, self.seed, self.prefer = effort, seed, prefer
        self._parts: dict[Any, Part] = {}

    def restricted(self, names: Sequence[str]) -> "Workshop":
        """The same rows and folds with these columns only."""
        other = copy(self)
        other.frame, other._parts = self.frame.select(list(names)), {}
        other.kinds = {name: self.kinds[name] for name in names}
        return other

    # --- rows and features -------------------------------------------------------------------

    def judged(self) -> list[Fold]:
        """The (learn, judge) rows behind every score; one single fold is judged in ten parts."""
        return [(self.folds[i][0], self.folds[i][1][at]) for i, at in self.judged_places()]

    def judged_places(self) -> list[tuple[int, IntArray]]:
        """The fold of every score, and the places of its rows among the judging ones."""
        if len(self.folds) > 1:
            return [(i, np.arange(len(judge))) for i, (_, judge) in enumerate(self.folds)]
        judge = self.folds[0][1]
        groups = None if self.groups is None else self.groups[judge]
        return [(0, at) for at in chunks(self.y[judge], groups, PARTS) if len(at)]

    def ratio(self) -> float:
        return float(np.mean([len(b) / len(a) for a, b in self.judged()]))

    def make_features(self, options: dict[str, Any]) -> TableFeatures:
        written = {name: form for name, form in self.forms.items() if name in self.kinds}
        return TableFeatures(self.kinds, forms=written or None, **self.chosen_columns(options))

    def chosen_columns(self, options: dict[str, Any]) -> dict[str, Any]:
        """The options of features with the columns they see: the lags only if they ask for them."""
        found = {key: value for key, value in options.items() if key != "lags"}
        if self.lags is not None and "columns" not in found:
            hidden = () if options.get("lags") else self.lags.names()
            found["columns"] = [name for name in self.kinds if name not in hidden]
        return found

    def seen_kinds(self, options: dict[str, Any]) -> dict[str, str]:
        """The columns that features with these options may see: with lags, if they ask for them."""
        return self.kinds if options.get("lags") else self.own_kinds()

    def own_kinds(self) -> dict[str, str]:
        """The columns of the table itself, without lags."""
        made = () if self.lags is None else self.lags.names()
        return {name: kind for name, kind in self.kinds.items() if name not in made}

    def part(self, learn: IntArray, judge: IntArray, options: dict[str, Any], key: Any) -> Part:
        """The matrices of a fold, computed once per kind of features."""
        key = (key, repr(sorted(options.items())))
        if key not in self._parts:
            features = self.make_features(options)
            y_learn = self.y[learn]
            Z = features.fit_transform(self.frame[learn], y_learn)
            other = features.transform(self.frame[judge])
            found = Part(features, Z, y_learn, other, self.y[judge], learn, judge)
            self._parts[key] = found
            self._shrink()
        return self._parts[key]

    def _shrink(self) -> None:
        """Forget the oldest matrices beyond the limit."""
        sizes = {k: p.Z_learn.nbytes + p.Z_judge.nbytes for k, p in self._parts.items()}
        while sum(sizes.values()) > CACHE_BYTES and len(sizes) > 1:
            oldest = next(iter(sizes))
            del sizes[oldest], self._parts[oldest]

    def inner_folds(self, rows: IntArray) -> list[Fold]:
        """Folds of these rows of the same kind as the outer ones; at most TUNING_ROWS rows."""
        if len(rows) > TUNING_ROWS:
            rng = np.random.default_rng(self.seed)
            kept = np.sort(rng.choice(len(rows), TUNING_ROWS, replace=False))
            rows = rows[kept]
        groups = None if self.groups is None else self.groups[rows]
        if groups is None or self.kind not in ("random", "stratified"):
            return self._folds_of(rows, groups)
        first, place = np.unique(groups, return_index=True, return_inverse=True)[1:]
        original = rows[first][place]  # of every row; copies go where it goes
        folds = self._folds_of(rows[first], None)
        return [(rows[np.isin(original, a)], rows[np.isin(original, b)]) for a, b in folds]

    def _folds_of(self, rows: IntArray, groups: Any) -> list[Fold]:
        k, y = INNER[self.effort], self.y[rows]
        splitter: Any
        if self.kind == "sequential":
            splitter = TimeSeriesSplit(k)
        elif groups is not None and len(np.unique(groups)) >= 2:
            splitter = GroupKFold(min(k, len(np.unique(groups))))
        elif (
            self.kind == "stratified"
            and y.ndim == 1
            and np.unique(y, return_counts=True)[1].min() >= k
        ):
            splitter = StratifiedKFold(k, shuffle=True, random_state=self.seed)
        else:
            splitter = KFold(k, shuffle=True, random_state=self.seed)
        found = self._several_classes(splitter.split(np.zeros((len(rows), 1)), y, groups), rows)
        if found:
            return found
        # a class comes so late that no stretch before the last has it: parts of all rows tune
        mixed = KFold(k, shuffle=True, random_state=self.seed)
        return self._several_classes(mixed.split(rows), rows)

    def _several_classes(self, folds: Iterable[Fold], rows: IntArray) -> list[Fold]:
        """The folds with more than one class to learn from; all of them where numbers are told."""
        found = [(rows[a], rows[b]) for a, b in folds]
        if self.scorer.task.kind not in ("binary", "multiclass"):
            return found
        return [(a, b) for a, b in found if (self.y[a] != self.y[a[0]]).any()]

    def outer_part(self, i: int, options: dict[str, Any]) -> Part:
        learn, judge = self.folds[i]
        return self.part(learn, judge, options, ("outer", i))

    def inner_parts(self, i: int, options: dict[str, Any]) -> list[Part]:
        inner = self.inner_folds(self.folds[i][0])
        if self.tunes_once():
            inner = inner[-1:]  # it learns from most rows where time orders them
        return [self.part(a, b, options, ("inner", i, j)) for j, (a, b) in enumerate(inner)]

    def tunes_once(self) -> bool:
        """Whether there are rows enough to choose parameters once, on one split."""
        n = len(self.folds[0][0])
        many = n * self.frame.width >= ONE_SPLIT_CELLS and n >= ONE_SPLIT_LEAST
        return n >= ONE_SPLIT or many

    def final_parts(self, options: dict[str, Any]) -> list[Part]:
        """What tunes the model of all learning rows: the outer folds, or a sample of many rows."""
        if len(self.folds) == 1 or self.tunes_once():
            return self.inner_parts(0, options)
        return [self.outer_part(i, options) for i in range(len(self.folds))]

    # --- scores ------------------------------------------------------------------------------

    def fit_options(self, model: BaseEstimator, rows: IntArray) -> dict[str, Any]:
        """The lists of a ranking, for models that learn from them."""
        wanted = self.query is not None and has_fit_parameter(model, "groups")
        return {"groups": self.query[rows]} if wanted else {}

    def score(self, model: BaseEstimator, Z: Array, rows: IntArray) -> float:
        query = None if self.query is None else self.query[rows]
        return self.scorer.score(model, Z, self.y[rows], query)


class Tuning(NamedTuple):
    """Scores of every setting on every part, and the chosen one."""

    params: list[dict[str, Any]]
    scores: Array  # (settings, parts)
    train: Array | None
    chosen: int
    rule: str = "the best mean"


def tune(shop: Workshop, tried: Tried, parts: list[Part], *, train: bool = False) -> Tuning:
    """Choose the parameters of a candidate on these parts."""
    space = tried.candidate.space
    if not space:
        return Tuning([{}], np.zeros((1, len(parts))), None, 0)
    found = make_candidates(space)
    if len(found.params) == 1 and not train:
        return Tuning(found.params, np.zeros((1, len(parts))), None, 0)
    pairs = [_part_scores(shop, tried, found.params, part, train=train) for part in parts]
    table = np.column_stack([judged for judged, _ in pairs])
    inside = np.column_stack([learned for _, learned in pairs]) if train else None
    assert found.complexity is not None
    rule = best_mean if shop.prefer == "strong" else simplest_within_one_error
    chosen = rule(shop.scorer.sign * table, found.complexity)
    why = Tuning._field_defaults["rule"] if rule is best_mean else WITHIN
    return Tuning(found.params, table, inside, chosen, why)


def best_mean(scores: Array, complexity: Array) -> int:
    """The setting of the best mean score; of equal ones the simplest.

    >>> best_mean(np.array([[0.6, 0.8], [0.7, 0.9], [0.7, 0.9]]), np.array([0.0, 1.0, 2.0]))
    1
    """
    mean = scores.mean(axis=1)
    known = np.flatnonzero(np.isfinite(mean))
    if not len(known):
        raise ValueError("the measure is undefined for every setting of the parameters")
    return int(min(known, key=lambda i: (-mean[i], complexity[i])))


def simplest_within_one_error(scores: Array, complexity: Array) -> int:
    """The simplest setting whose loss to the best is within one standard error, fold by fold.

    The folds are paired: what makes a fold hard for all settings is no error of the difference.

    >>> scores = np.array([[0.6, 0.8], [0.7, 0.9], [0.7, 0.91]])
    >>> simplest_within_one_error(scores, np.array([0.0, 1.0, 2.0]))
    1
    """
    best = best_mean(scores, complexity)
    mean, loss = scores.mean(axis=1), scores[best] - scores
    k = scores.shape[1]
    error = loss.std(axis=1, ddof=1) / np.sqrt(k) if k > 1 else np.zeros(len(scores))
    near = [i for i in range(len(scores)) if loss[i].mean() <= error[i]]
    return min(near, key=lambda i: (complexity[i], -mean[i]))


def _part_scores(
    shop: Workshop,
    tried: Tried,
    params: list[dict[str, Any]],
    part: Part,
    *,
    train: bool = False,
) -> tuple[Array, Array]:
    """Scores of every setting on the judging rows and, if wanted, on the learning rows."""
    closed = None if train else _closed(shop, tried, params, part)
    if closed is not None:
        return closed, np.empty(0)
    model: Any = None
    scores, inside = [], []
    for i, one in enumerate(params):
        if model is not None and goes_on(tried.candidate.estimator, params[i - 1], one):
            model.set_params(**one).fit(part.Z_learn, part.y_learn)
        else:
            model = fit_model(shop, tried, one, part, warm=len(params) > 1)
        scores.append(shop.score(model, part.Z_judge, part.judge))
        if train:
            inside.append(shop.score(model, part.Z_learn, part.learn))
    return np.array(scores), np.array(inside)


def goes_on(estimator: BaseEstimator, before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Whether the fit with ``before`` is a start for ``now`` that does not change the answer.

    >>> from pellucid import Ridge
    >>> from pellucid.study.candidates.table_boosting import TableBoostingRegressor as Boosting
    >>> goes_on(Boosting(), {"max_iter": 100}, {"max_iter": 300})
    True
    >>> goes_on(Boosting(), {"max_iter": 300}, {"max_iter": 100}), goes_on(Ridge(), {}, {})
    (False, False)
    """
    name = type(estimator).__name__
    if name in WARM:  # the minimum of the stiffer penalty is a good start
        return True
    if name not in GROWN or not now.get("max_iter", 0) > before.get("max_iter", np.inf):
        return False
    return all(before[key] == value for key, value in now.items() if key != "max_iter")


def _closed(shop: Workshop, tried: Tried, params: list[dict[str, Any]], part: Part) -> Array | None:
    """All penalties from one decomposition, where there is a path for this measure."""
    name = CLOSED.get(shop.scorer.metric.name)
    if name is None or shop.scorer.task.kind != "regression":
        return None
    a, b = len(part.y_learn), len(part.y_judge)
    Z, y = np.vstack([part.Z_learn, part.Z_judge]), np.concatenate([part.y_learn, part.y_judge])
    job = FoldJob(tried.candidate.estimator, Z, y, resolve_metric(name))
    found = closed_scores(job, params, [(np.arange(a), np.arange(a, a + b))])
    if found is None:
        return None
    return np.sqrt(found[:, 0]) if shop.scorer.metric.name == "rmse" else found[:, 0]


def fit_model(
    shop: Workshop, tried: Tried, params: dict[str, Any], part: Part, *, warm: bool = False
) -> Any:
    model = clone(tried.candidate.estimator).set_params(**params)
    if warm and type(model).__name__ in (*WARM, *GROWN):
        model.set_params(warm_start=True)
    return model.fit(part.Z_learn, part.y_learn, **shop.fit_options(model, part.learn))


class Outcome(NamedTuple):
    """One candidate on all folds."""

    tried: Tried
    scores: Array  # (k,)
    train_scores: Array
    params: list[dict[str, Any]]  # of every fold
    models: list[Any]  # of every fold
    seconds: float
    unconverged: int  # folds
    sampled: int  # rows that tuning looked at, 0 for all
    heard: frozenset[str] = frozenset()  # kinds of warnings in any fold

    @property
    def key(self) -> str:
        return self.tried.candidate.key

    @property
    def name(self) -> str:
        return self.tried.candidate.name

    @property
    def complexity(self) -> int:
        return self.tried.candidate.complexity


class OutOfTimeError(Exception):
    """The time limit was reached within a candidate."""


def run_candidate(
    shop: Workshop, tried: Tried, *, deadline: float | None, step: Callable[[int], None]
) -> Outcome:
    """Tune and score one candidate on every outer fold."""
    began = time.perf_counter()
    scores, inside, models = [], [], []
    params: list[dict[str, Any]] = []
    unconverged, sampled = 0, 0
    heard: set[str] = set()
    start = time.monotonic()
    for i, (learn, _) in enumerate(shop.folds):
        if deadline is not None and _too_late(start, i, len(shop.folds), deadline):
            raise OutOfTimeError
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            part = shop.outer_part(i, tried.features)
            known = i > 0 and shop.tunes_once()
            params.append(params[0] if known else _parameters(shop, tried, i, deadline))
            if shop.tunes_once() and i == 0:
                start = time.monotonic()  # the other folds need not choose
            model = fit_model(shop, tried, params[-1], part)
            models.append(model)
            scores.append(shop.score(model, part.Z_judge, part.judge))
            inside.append(shop.score(model, part.Z_learn, part.learn))
        if not np.isfinite(scores[-1]):
            raise ValueError(f"{shop.scorer.metric.name} is undefined in fold {i}")
        kinds = {w.category for w in said}
        heard |= {kind.__name__ for kind in kinds}
        # separated classes have no minimum to converge to: a finding of its own
        unconverged += any(
            issubclass(kind, ConvergenceWarning) and not issubclass(kind, SeparationWarning)
            for kind in kinds
        )
        sampled = TUNING_ROWS if _has_choice(tried) and len(learn) > TUNING_ROWS else 0
        step(i + 1)
    if len(shop.folds) == 1:
        scores, inside = _cut(shop, models[0], tried)
    return Outcome(
        tried,
        np.array(scores),
        np.array(inside),
        params,
        models,
        time.perf_counter() - began,
        unconverged,
        sampled,
        frozenset(heard),
    )


def _too_late(start: float, done: int, folds: int, deadline: float) -> bool:
    """Whether the folds still to come would end after the deadline, by those done so far."""
    now = time.monotonic()
    rest = (now - start) / done * (folds - done) if done else 0.0
    return now + rest > deadline


def _has_choice(tried: Tried) -> bool:
    return _races(tried) or any(len(values) > 1 for values in tried.candidate.space.values())


def _races(tried: Tried) -> bool:
    """Whether settings are raced; a space that is given instead says them."""
    return bool(tried.portfolio) and not tried.candidate.space


def _race_limit(shop: Workshop, fold: int, deadline: float, part: Part) -> RaceLimit:
    """When a race must end, and how long a round may take it, so that the fits find the time."""
    now, left = time.monotonic(), len(shop.folds) - fold
    share = 4 if shop.tunes_once() else 2 * left
    end = now + (deadline - now) / share
    fits = left if shop.tunes_once() else 1
    rows = len(shop.folds[fold][0]) / len(part.learn)  # of a fit, for each of the race
    for_fits = deadline - end if shop.tunes_once() else (deadline - now) / left - (end - now)
    return RaceLimit(end, for_fits / (fits * rows))


def _parameters(shop: Workshop, tried: Tried, fold: int, deadline: float | None) -> dict[str, Any]:
    """The parameters of one fold, chosen on its inner parts."""
    inner = shop.inner_parts(fold, tried.features) if _has_choice(tried) else []
    if _races(tried):
        limit = None if deadline is None else _race_limit(shop, fold, deadline, inner[0])
        return race(tried.candidate.estimator, tried.portfolio, inner, limit).params
    choice = tune(shop, tried, inner)
    return choice.params[choice.chosen]


def _cut(shop: Workshop, model: BaseEstimator, tried: Tried) -> tuple[list[float], list[float]]:
    """Scores of ten parts of the judging rows and of the learning rows of a single fold."""
    part = shop.outer_part(0, tried.features)
    found: list[list[float]] = []
    for Z, rows in ((part.Z_judge, part.judge), (part.Z_learn, part.learn)):
        groups = None if shop.groups is None else shop.groups[rows]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cut = [at for at in chunks(shop.y[rows], groups, PARTS) if len(at)]
            found.append([shop.score(model, Z[at], rows[at]) for at in cut])
    return found[0], found[1][: len(found[0])]


class Failed(NamedTuple):
    """A candidate that could not be scored, and why."""

    name: str
    key: str
    why: str


class Trained(NamedTuple):
    """What training leaves: outcomes in the order tried, failures, and what the limit cut off."""

    outcomes: list[Outcome]
    failed: list[Failed]
    skipped: list[str]


def train_all(
    shop: Workshop,
    tried: list[Tried],
    *,
    deadline: Callable[[list[Outcome]], float] | None = None,
    progress: Callable[[int, int, str], None] = lambda done, total, text: None,
    keep: Callable[[Trained], None] = lambda trained: None,
) -> Trained:
    """Every candidate in turn; ``keep`` sees each state, so that an interrupt loses nothing.

    Guessing and the first model after it are always finished, whatever the limit; ``deadline`` says
    when training must end, from the outcomes so far.
    """
    found = Trained([], [], [])
    k, total = len(shop.folds), len(tried) * len(shop.folds)
    for c, one in enumerate(tried):
        name = one.candidate.name
        limit = deadline(found.outcomes) if deadline is not None and c >= 2 else None

        def step(fold: int, c: int = c, name: str = name) -> None:
            progress(c * k + fold, total, f"{name}, fold {fold} of {k}")

        try:
            found.outcomes.append(run_candidate(shop, one, deadline=limit, step=step))
        except OutOfTimeError:
            found.skipped.append(name)
        except FAILURES as error:
            if one.candidate.complexity == 0:
                raise
            found.failed.append(Failed(name, one.candidate.key, str(error)))
        keep(found)
    return found
