r"""Performance against experience and against complexity.

    size curve        fit on m rows of each training fold, m growing; score on the test fold
    complexity curve  fit with each value of a parameter; score on training and test fold

The rows of a smaller size are part of those of a larger one, drawn at random (classes keep their
shares), the same for any number of workers. A fit that predicts one constant for rows whose target
varies has collapsed: it is marked, counted in the sentence and warned about, not hidden in a mean.
A score that is NaN makes the mean of its size or value NaN, which is then never the best.
"""

from collections.abc import Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Folds, IntArray, Seed
from pellucid.core.figures import figures
from pellucid.core.records import plain, show, text_table
from pellucid.core.runtime.random import stream
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.metrics.metrics import Metric, MetricLike
from pellucid.evaluation.selection.tuned import choose
from pellucid.evaluation.splits.folds import FAILURES, Split, make_splits
from pellucid.evaluation.validation.cv_scores import FoldJob, metric_for, open_data, run_fold
from pellucid.evaluation.validation.fold_summary import CvSummary, cv_summary
from pellucid.evaluation.workers import root_seed, run_tasks

SHARES = (0.1, 0.325, 0.55, 0.775, 1.0)  # of the training rows; scikit-learn's


class SizeCurve(NamedTuple):
    """Scores (sizes, folds) on training and test rows, with summaries per size."""

    sizes: IntArray
    train: Array
    test: Array
    train_summary: tuple[CvSummary, ...]
    test_summary: tuple[CvSummary, ...]
    sentence: str
    collapsed: BoolArray
    metric: str
    greater_is_better: bool

    def to_dict(self) -> dict[str, Any]:
        return plain(_summaries(self._asdict()))

    def to_frame(self) -> Any:
        import polars

        return polars.DataFrame(_columns("size", self.sizes.tolist(), self))

    def __str__(self) -> str:
        return _text("size", self.sizes.tolist(), self)


class ComplexityCurve(NamedTuple):
    """Scores (values, folds), or (values, values, folds) for a pair of parameters.

    ``best`` and ``one_standard_error`` are places in ``values`` (pairs of places for a pair).
    """

    values: Any
    train: Array
    test: Array
    train_summary: tuple[CvSummary, ...]
    test_summary: tuple[CvSummary, ...]
    best: Any
    one_standard_error: Any
    sentence: str
    collapsed: BoolArray
    parameter: Any
    metric: str
    greater_is_better: bool

    def to_dict(self) -> dict[str, Any]:
        return plain(_summaries(self._asdict()))

    def _names(self) -> list[Any]:
        if isinstance(self.parameter, str):
            return list(self.values)
        return [(a, b) for a in self.values[0] for b in self.values[1]]

    def to_frame(self) -> Any:
        import polars

        names = [value if isinstance(value, int | float) else str(value) for value in self._names()]
        return polars.DataFrame(_columns("value", names, self), strict=False)

    def __str__(self) -> str:
        return _text("value", self._names(), self)


def _summaries(fields: dict[str, Any]) -> dict[str, Any]:
    return {k: [s.to_dict() for s in v] if k.endswith("summary") else v for k, v in fields.items()}


def _columns(
    name: str, values: Sequence[Any], curve: SizeCurve | ComplexityCurve
) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {name: list(values)}
    for part, summaries in (("train", curve.train_summary), ("test", curve.test_summary)):
        for field in ("mean", "low", "high"):
            key = part if field == "mean" else f"{part}_{field}"
            found[key] = [getattr(s, field) for s in summaries]
    flat = curve.collapsed.reshape(len(found[name]), -1)
    return {**found, "collapsed": flat.sum(axis=1).tolist()}


def _text(name: str, values: Sequence[Any], curve: SizeCurve | ComplexityCurve) -> str:
    columns = _columns(name, [str(v) for v in values], curve)
    rows = [tuple(row) for row in zip(*columns.values(), strict=True)]
    return f"{curve.sentence}\n{text_table(tuple(columns), rows)}"


class Task(NamedTuple):
    """One fit: a place in the table, parameters, and the rows to train and test on."""

    place: int
    fold: int
    params: dict[str, Any]
    split: Split


def _run(job: FoldJob, task: Task) -> tuple[float, float, bool]:
    """Train score, test score, and whether the fit collapsed."""
    try:
        found = run_fold(job, task.params, task.split)
    except FAILURES as error:
        where = f"{task.params}, " if task.params else f"{len(task.split[0])} rows, "
        raise ValueError(f"{where}fold {task.fold} failed: {error}") from error
    assert found.train is not None
    y = None if job.y is None else job.y[task.split[1]]
    return found.train, found.test, is_constant(found.prediction, y)


def is_constant(said: ArrayLike | None, y: Any) -> bool:
    """Whether all predictions are the same though the target varies.

    >>> is_constant(np.ones(3), np.array([1.0, 2.0, 3.0])), is_constant(np.ones(3), np.ones(3))
    (True, False)
    """
    if said is None or y is None or len(y) < 2:
        return False
    said, y = np.asarray(said), np.asarray(y)
    return bool((said == said[0]).all() and not (y == y[0]).all())


def _scores(
    job: FoldJob, tasks: list[Task], folds: int, n_jobs: int | None, callbacks: object
) -> Any:
    """Train and test scores and marks, each (places, folds)."""
    found = run_tasks(partial(_run, job), tasks, n_jobs=n_jobs, callbacks=callbacks, name="Curve")
    table = np.array(found, dtype=np.float64).reshape(-1, folds, 3)
    collapsed = table[:, :, 2].astype(bool)
    if collapsed.any():
        fits = f"{int(collapsed.sum())} of {collapsed.size} fits predict a constant"
        warn(f"{fits}: they are marked in the record")
    return table[:, :, 0].copy(), table[:, :, 1].copy(), collapsed


def summaries_of(scores: Array) -> tuple[CvSummary, ...]:
    """One summary per row of scores; no interval where a score is NaN or alone."""

    def summary(row: Array) -> CvSummary:
        if len(row) > 1 and np.isfinite(row).all():
            return cv_summary(row)
        return CvSummary(float(row.mean()), *4 * (float("nan"),), len(row))

    return tuple(summary(row) for row in scores)


# --- size --------------------------------------------------------------------------------------


def spread_order(y: Any, n: int, rng: np.random.Generator) -> IntArray:
    """A random order in which every class is spread evenly: each head keeps the shares.

    >>> order = spread_order(np.array([0, 0, 0, 1, 1, 1]), 6, np.random.default_rng(0))
    >>> sorted((order[:2] >= 3).tolist())
    [False, True]
    """
    if y is None:
        return rng.permutation(n)
    codes = np.unique(y, return_inverse=True)[1]
    key = np.empty(n)
    for c in range(codes.max() + 1):
        rows = np.flatnonzero(codes == c)
        place = rng.permutation(len(rows))
        key[rows] = (place + rng.random()) / len(rows)
    return np.argsort(key, kind="stable")


def check_sizes(sizes: Any, n_train: int) -> IntArray:
    """Counts of rows, ascending: fractions of the smallest training fold, or counts."""
    given: Any = SHARES if sizes is None else [sizes] if isinstance(sizes, Real) else list(sizes)
    found = set()
    for size in given:
        if isinstance(size, Integral) and 1 <= int(size) <= n_train:
            found.add(int(size))
        elif not isinstance(size, Integral) and isinstance(size, Real) and 0 < float(size) <= 1:
            found.add(max(1, int(float(size) * n_train)))
        else:
            need = f"fractions in (0, 1] or counts from 1 to {n_train}"
            raise ValueError(f"sizes must be {need}, got {size!r}")
    if not found:
        raise ValueError("sizes must hold at least one size, got none")
    return np.array(sorted(found))


def size_curve(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    *,
    sizes: float | Sequence[float] | None = None,
    metric: MetricLike = None,
    cv: Folds = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: Seed = None,
    callbacks: object = (),
) -> SizeCurve:
    """How the score grows with the number of training rows.

    Parameters
    ----------
    sizes : list of fractions or counts, optional
        Of the (smallest) training fold; None: five from a tenth to all.
    random_state : int, RandomState, Generator or None
        Shuffles the folds, and draws the rows of each size (None draws as 0 does).
    estimator : estimator
        Unfitted.
    X, y : array-like
        The data.
    metric : str, scorer or callable, optional
        None: r2 for regressors, accuracy for classifiers.
    cv : int, splitter or list of (train, test), default=None
        None is 5 folds.
    groups : array of shape (n,), optional
        For splitters of groups.
    n_jobs : int, optional
        Workers over sizes and folds; the numbers do not depend on it.
    callbacks : scikit-learn callbacks, optional
        Such as ``sklearn.callback.ProgressBar()``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Ridge
    >>> from pellucid.evaluation import size_curve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(120, 8))
    >>> curve = size_curve(Ridge(1.0), X, X[:, 0] + rng.normal(size=120), sizes=[12, 48, 96])
    >>> curve.sizes, curve.test.shape, bool(curve.test[2].mean() > curve.test[0].mean())
    (array([12, 48, 96]), (3, 5), True)
    """
    X, y = open_data(X, y)
    score = metric_for(metric, estimator)
    classifier = is_classifier(estimator)
    splits = make_splits(cv, X, y, classifier=classifier, groups=groups, random_state=random_state)
    counts = check_sizes(sizes, min(len(train) for train, _ in splits))
    seed = root_seed(0 if random_state is None else random_state)
    orders = []
    for f, (train, _) in enumerate(splits):
        labels = y[train] if classifier and np.ndim(y) == 1 else None
        orders.append(train[spread_order(labels, len(train), stream(seed, f))])
    tasks = [
        Task(i, f, {}, (np.sort(orders[f][:m]), test))
        for i, m in enumerate(counts.tolist())
        for f, (_, test) in enumerate(splits)
    ]
    job = FoldJob(estimator, X, y, score, train_scores=True, predictions=True)
    train, test, collapsed = _scores(job, tasks, len(splits), n_jobs, callbacks)
    summaries = summaries_of(train), summaries_of(test)
    sentence = _size_sentence(counts, train, test, collapsed, score)
    named = score.name, score.greater_is_better
    return SizeCurve(counts, train, test, *summaries, sentence, collapsed, *named)


def _size_sentence(sizes: IntArray, train: Array, test: Array, marks: BoolArray, m: Metric) -> str:
    sign = 1 if m.greater_is_better else -1
    last = float(test[-1].mean())
    gap = sign * float(train[-1].mean() - last)
    text = f"With {sizes[-1]} rows the test {m.name} is {figures(last, 4)}, "
    text += f"{figures(abs(gap), 3)} {'worse' if gap >= 0 else 'better'} than on the training rows"
    if len(sizes) > 1 and test.shape[1] > 1:
        gain = sign * (test[-1] - test[-2])
        error = float(gain.std(ddof=1) / np.sqrt(len(gain)))
        helps = float(gain.mean()) > error
        text += (
            f"; from {sizes[-2]} rows on it gained {figures(float(gain.mean()), 3)}: more rows are "
        )
        text += "likely to help" if helps else "not likely to help much"
    return text + _marked(marks)


def _marked(marks: BoolArray) -> str:
    n = int(marks.sum())
    return "." if n == 0 else f"; {n} of {marks.size} fits collapsed to a constant."


# --- complexity --------------------------------------------------------------------------------


def complexity_curve(
    estimator: BaseEstimator,
    X: Any,
    y: Any,
    *,
    parameter: str | tuple[str, str],
    values: Sequence[Any],
    metric: MetricLike = None,
    cv: Folds = None,
    groups: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: Seed = None,
    callbacks: object = (),
) -> ComplexityCurve:
    """How training and test score change with a parameter that sets the complexity.

    Parameters
    ----------
    parameter : str or pair of str
        Name of the parameter, such as ``"alpha"`` or ``"polynomialfeatures__degree"``.
    values : list, or pair of lists
        Listed simplest first: the one-standard-error choice is the earliest that will do.
    estimator : estimator
        Unfitted.
    X, y : array-like
        The data.
    metric : str, scorer or callable, optional
        None: r2 for regressors, accuracy for classifiers.
    cv : int, splitter or list of (train, test), default=None
        None is 5 folds.
    groups : array of shape (n,), optional
        For splitters of groups.
    n_jobs : int, optional
        Workers over values and folds; the numbers do not depend on it.
    random_state : int, RandomState, Generator or None
        Shuffles the folds of a whole number ``cv``.
    callbacks : scikit-learn callbacks, optional
        Such as ``sklearn.callback.ProgressBar()``.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import Ridge
    >>> from pellucid.evaluation import complexity_curve
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = X[:, 0] + rng.normal(size=60)
    >>> curve = complexity_curve(Ridge(), X, y, parameter="alpha", values=[1e4, 100.0, 1.0])
    >>> curve.test.shape, curve.best, curve.one_standard_error <= curve.best
    ((3, 5), 2, True)
    """
    X, y = open_data(X, y)
    score = metric_for(metric, estimator)
    pair = not isinstance(parameter, str)
    names = [parameter] if isinstance(parameter, str) else list(parameter)
    lists = [list(v) for v in values] if pair else [list(values)]
    if len(names) != len(lists) or len(names) > 2 or not all(lists):
        raise ValueError("parameter must be a name with a list of values, or a pair of both")
    combos: list[tuple[Any, ...]] = [()]
    for part in lists:
        combos = [(*combo, value) for combo in combos for value in part]
    splits = make_splits(
        cv, X, y, classifier=is_classifier(estimator), groups=groups, random_state=random_state
    )
    tasks = [
        Task(i, f, dict(zip(names, combo, strict=True)), split)
        for i, combo in enumerate(combos)
        for f, split in enumerate(splits)
    ]
    job = FoldJob(estimator, X, y, score, train_scores=True, predictions=True)
    train, test, collapsed = _scores(job, tasks, len(splits), n_jobs, callbacks)
    places = np.indices([len(part) for part in lists]).reshape(len(lists), -1)
    spans = np.array([[max(len(part) - 1, 1)] for part in lists])
    rise, better = (places / spans).sum(axis=0), score.greater_is_better
    simple, best = choose(test, rise, "one_standard_error", better)
    shape = (*(len(part) for part in lists), len(splits))
    first, second = (tuple(places[:, i].tolist()) if pair else i for i in (best, simple))
    summaries = summaries_of(train), summaries_of(test)
    said = [", ".join(f"{n} = {show(v)}" for n, v in zip(names, c, strict=True)) for c in combos]
    sentence = _complexity_sentence(said, test, best, simple, collapsed, score)
    train, test, marks = (table.reshape(shape) for table in (train, test, collapsed))
    curve = lists if pair else lists[0], train, test, *summaries, first, second, sentence, marks
    return ComplexityCurve(*curve, parameter, score.name, score.greater_is_better)


def _complexity_sentence(
    said: list[str], test: Array, best: int, simple: int, marks: BoolArray, m: Metric
) -> str:
    text = f"The best test {m.name}, {figures(float(test[best].mean()), 4)}, is at {said[best]}"
    if simple != best:
        level = figures(float(test[simple].mean()), 4)
        near = f"simpler and within one standard error of it ({level})"
        text += f"; {said[simple]} is {near}"
    return text + _marked(marks)
