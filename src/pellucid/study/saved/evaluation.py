r"""A saved model judged on new rows with known answers.

Measures with intervals, overall and group by group; whether the score differs from the one of the
study's test rows by more than chance,

    z = (new - old) / sqrt(se_new^2 + se_old^2);

what decisions cost; whether the rows are still like the training rows (``drift``); and how many
of them the model has learned from (``learned_rows``), since such rows flatter it. Rows that hang
together, of one group or near each other in time, count in blocks, as they did in the study.
"""

import warnings
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import ndtr
from sklearn.base import BaseEstimator, is_classifier

from pellucid.core.arrays.columns import Text
from pellucid.core.arrays.frames import frame_matrix
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, IntArray
from pellucid.core.records import plain
from pellucid.data.cells import stripped
from pellucid.evaluation.intervals.intervals import Interval, MetricTable
from pellucid.evaluation.intervals.metric_intervals import metric_interval
from pellucid.evaluation.metrics.costs import mean_cost
from pellucid.evaluation.metrics.metrics import classes_of, predictions_for
from pellucid.study.columns.table_features import TableFeatures
from pellucid.study.errors import TaskError
from pellucid.study.judging.blocked_table import blocked_intervals
from pellucid.study.judging.decision_rule import least_cost
from pellucid.study.judging.final_score import say, score_table, with_metric
from pellucid.study.judging.gain import NO_BOUNDS, Judged
from pellucid.study.judging.jackknife import make_blocks, scaled_interval
from pellucid.study.judging.measure import BOUNDS, Scorer, make_scorer
from pellucid.study.reading.cell_values import numbers
from pellucid.study.reading.equality import digest
from pellucid.study.reading.profiles import TEXTS, in_seconds, read_column, read_columns
from pellucid.study.reading.target_arrays import CLASSES, NUMBERS, labelled_rows, target_array
from pellucid.study.reading.tasks import detect_task
from pellucid.study.records import Task
from pellucid.study.saved.drift import DriftReport, drift_report
from pellucid.study.saved.learned_rows import Overlap, find_overlap, row_marks
from pellucid.study.saved.prediction import take_apart, wanted_columns
from pellucid.study.splits.split import group_codes

MOST_GROUPS = 30
MANY_NUMBERS = 12  # a numeric column with more distinct values is cut at its quartiles


class GroupScore(NamedTuple):
    """The measure in one group; ``note`` says why there is none."""

    group: str
    n: int
    interval: Interval | None
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        interval = None if self.interval is None else self.interval.to_dict()
        return plain(self._asdict() | {"interval": interval})


class Together(NamedTuple):
    """The column by which rows hang together, as the study's split says, and how many blocks."""

    column: str
    kind: str  # groups or time
    blocks: int  # 0: the table has no such column, and every row counts by itself


class Judgement(NamedTuple):
    """How good a model is on new rows, and whether those are like the rows it learned from."""

    task: Task
    table: MetricTable
    n: int
    unlabelled: int  # rows left out for want of an answer
    unknown: tuple[str, ...]  # classes the model has never seen
    before: dict[str, Any] | None  # the study's own score
    change: dict[str, Any] | None  # difference, standard_error, p_value, worse
    costs: dict[str, Any] | None  # mean cost as the model decides and by least expected cost
    by: str | None
    groups: tuple[GroupScore, ...]
    drift: DriftReport | None
    same_table: bool  # the very table the model was made from
    overlap: Overlap | None = None  # rows that the model has learned from; None: it cannot tell
    tested: dict[str, int] | None = None  # {learned, on}: rows behind ``before``
    learned: int = 0  # rows the model has learned from, 0: unknown
    together: Together | None = None  # why rows are not independent; None: they are taken to be

    @property
    def refitted(self) -> bool:
        """Has the model learned from the test rows of its study too?"""
        return self.tested is not None and self.learned > self.tested["learned"]

    def to_dict(self) -> dict[str, Any]:
        return plain(
            self._asdict()
            | {
                "task": self.task.to_dict(),
                "table": self.table.to_dict(),
                "groups": [group.to_dict() for group in self.groups],
                "drift": None if self.drift is None else self.drift.to_dict(),
                "overlap": None if self.overlap is None else self.overlap._asdict(),
                "together": None if self.together is None else self.together._asdict(),
            }
        )


class Answers(NamedTuple):
    """Rows with known answers, and what the model says of them."""

    model: Any
    X: Any
    y: Any
    task: Task
    scorer: Scorer
    query: Any
    said: Any


def judge(
    model: BaseEstimator,
    frame: pl.DataFrame,
    target: str | Sequence[str] | None = None,
    *,
    cost_matrix: ArrayLike | None = None,
    by: str | None = None,
    alpha: float = 0.05,
) -> Judgement:
    """Measure a saved model on rows whose answers are known.

    Parameters
    ----------
    model : fitted model, as ``learn`` saves it or any other
    frame : polars.DataFrame
        With the columns the model needs and the target.
    target : str or list of str, optional
        Default: the target of the study.
    cost_matrix : array of shape (classes, classes), optional
        ``[truth, decision]``, classes sorted.
    by : str, optional
        A column: the measure is given for each of its values.
    alpha : float, default=0.05
        Level of the tests of drift.

    Examples
    --------
    >>> import pellucid
    >>> from pellucid.data import load_iris
    >>> model = pellucid.GaussianNB().fit(*load_iris())
    >>> X, y = load_iris()
    >>> frame = pl.DataFrame(X).with_columns(pl.Series("kind", y))
    >>> round(judge(model, frame, "kind").table["accuracy"].estimate, 2)
    0.96
    """
    rows, unlabelled, task = known_rows(model, frame, target)
    if cost_matrix is not None:
        if task.kind not in CLASSES:
            raise ValueError(f"costs go with classes; this is a task of the kind {task.kind}")
        task = task._replace(metric="mean_cost", greater_is_better=False)
    answers, unknown = ask(model, rows, task, cost_matrix)
    task, about = answers.task, take_apart(model).about
    together, blocks = hanging_together(about, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is undefined is a dash in the table
        table = score_table(
            answers.scorer, model, answers.said, answers.X, answers.y, answers.query
        )
        if blocks is not None and task.kind in (*CLASSES, "regression"):
            judged = Judged(answers.y, blocks, answers.query, apart=False)
            every = blocked_intervals(task, judged, table, model, answers.X, own=True)
            for name, interval in every.items():
                table = with_metric(table, name, interval)
        labels = None if by is None else group_labels(rows[by])
        groups = () if labels is None else group_scores(answers, labels, blocks)
    before = about.get("score") if about.get("metric") == task.metric else None
    return Judgement(
        task,
        table,
        rows.height,
        unlabelled,
        unknown,
        before,
        change_of(before, table[task.metric], task.greater_is_better),
        None if cost_matrix is None else cost_record(answers, cost_matrix),
        by,
        groups,
        drift_of(model, rows, alpha),
        is_same_table(about, frame),
        learned_overlap(about, rows, answers.y),
        about.get("tested"),
        about.get("learned", 0),
        together,
    )


def hanging_together(
    about: dict[str, Any], rows: pl.DataFrame
) -> tuple[Together | None, IntArray | None]:
    """How these rows hang together, if the study's did, and the block of every row."""
    for kind in ("groups", "time"):
        name = about.get(kind)
        if name is None:
            continue
        if name not in rows.columns:
            return Together(name, kind, 0), None
        column = read_column(rows[name])
        if kind == "groups":
            blocks = make_blocks(rows.height, group_codes(column))
        else:
            blocks = np.empty(rows.height, dtype=np.intp)
            order = np.argsort(group_codes(column), kind="stable")
            blocks[order] = make_blocks(rows.height, ordered=True)
        return Together(name, kind, int(blocks.max()) + 1), blocks
    return None, None


def known_rows(
    model: BaseEstimator, frame: pl.DataFrame, target: str | Sequence[str] | None
) -> tuple[pl.DataFrame, int, Task]:
    """The rows that have a target, how many have none, and the task."""
    task = task_of(model, frame, target)
    frame = number_targets(frame, task, take_apart(model).about.get("forms", {}))
    frame = plain_targets(frame, task)
    known = labelled_rows(frame, task)
    if not known.any():
        raise TaskError(f"no row has a value in the target {task.target[0]!r}")
    return frame.filter(known), int((~known).sum()), task


def number_targets(frame: pl.DataFrame, task: Task, forms: dict[str, str]) -> pl.DataFrame:
    """The frame with targets that are numbers in text read in the form of the study, and lengths
    of time in seconds."""
    for name in task.target:
        frame = frame.with_columns(in_seconds(frame[name]))
        kind = frame[name].dtype
        if kind == pl.String and (task.kind in NUMBERS or name in forms):
            try:
                read = numbers(Text(frame[name], None), name, forms.get(name, ""))
            except ValueError as error:
                raise ValueError(f"the target {name!r} must be numbers: {error}") from error
            frame = frame.with_columns(pl.Series(name, read).fill_nan(None))
        elif task.kind in NUMBERS and not kind.is_numeric() and kind != pl.Boolean:
            raise ValueError(f"the target {name!r} must be numbers, it is {kind}")
    return frame


def plain_targets(frame: pl.DataFrame, task: Task) -> pl.DataFrame:
    """The frame with labels as a study reads them: no blanks around them, no missing marks, and
    true and false in text as such where those are the classes.

    >>> task = Task("binary", ("y",), (False, True), True, "accuracy", True, 0, "")
    >>> plain_targets(pl.DataFrame({"y": ["TRUE ", "false", "?"]}), task)["y"].to_list()
    [True, False, None]
    """
    texts = [pl.col(name).cast(pl.String) for name in task.target if frame[name].dtype in TEXTS]
    frame = frame.with_columns(stripped(text).alias(text.meta.output_name()) for text in texts)
    if {*task.classes} == {False, True} and all(isinstance(c, bool) for c in task.classes):
        words = frame.select(text.str.to_lowercase() for text in texts)
        if all(word.drop_nulls().is_in(["true", "false"]).all() for word in words):
            return frame.with_columns(word == "true" for word in words)
    return frame


def task_of(model: BaseEstimator, frame: pl.DataFrame, target: str | Sequence[str] | None) -> Task:
    """The task of the study, or what the target looks like."""
    about = take_apart(model).about
    names = [target] if isinstance(target, str) else list(target or about.get("target") or [])
    if not names:
        raise ValueError("the model does not say what it predicts: name the target")
    if not about:
        kind = None if is_classifier(model) else "regression"
        found = detect_task(frame[names[0]] if len(names) == 1 else frame.select(names), kind=kind)
        return found._replace(target=tuple(names))
    classes = getattr(model, "classes_", np.array([]))
    labels = {str(label): label for label in np.asarray(classes).tolist()}
    better = make_scorer_direction(about["kind"], about["metric"])
    known = tuple(labels.get(name, name) for name in about["classes"])
    positive = labels.get(str(about["positive"]), about["positive"])
    return Task(about["kind"], tuple(names), known, positive, about["metric"], better, 0, "")


def make_scorer_direction(kind: str, metric: str) -> bool:
    """Whether more is better."""
    from pellucid.evaluation.metrics.metrics import resolve_metric

    if metric == "mean_cost":
        return False
    return bool(resolve_metric(metric, kind).greater_is_better)


def ask(
    model: BaseEstimator, rows: pl.DataFrame, task: Task, cost_matrix: ArrayLike | None
) -> tuple[Answers, tuple[str, ...]]:
    """What the model says; and the classes among the answers that it does not know."""
    names = wanted_columns(model, rows.columns)
    X: Any = rows.select(names) if names is not None else frame_matrix(rows.drop(task.target))
    y = target_array(rows, task)
    unknown: tuple[str, ...] = ()
    if task.kind in CLASSES:
        y, unknown = as_labels(y, model.classes_)
        if unknown and cost_matrix is not None:
            raise ValueError(
                f"there are no costs for the class {unknown[0]!r}, which the model never saw"
            )
    if task.metric == "mean_cost" and cost_matrix is None:  # costs are not kept in the file
        task = task._replace(metric="accuracy", greater_is_better=True)
    name = take_apart(model).about.get("query")
    if name and name not in rows.columns:
        raise ValueError(f"the table lacks the column {name!r} that says which rows are ranked")
    query = rows[name].to_numpy() if name else None
    scorer = make_scorer(task, cost_matrix)
    return Answers(model, X, y, task, scorer, query, say(model, X, task)), unknown


def as_labels(y: Any, classes: np.ndarray) -> tuple[Any, tuple[str, ...]]:
    """Labels in the type of the model's classes, and those it does not know.

    >>> as_labels(np.array([1, 3]), np.array(["1", "2"]))
    (array(['1', '3'], dtype='<U21'), ('3',))
    """
    text = classes.dtype.kind in "OU"
    if text != (y.dtype.kind in "OU"):
        if text:
            y = y.astype(str)
        else:
            known = {str(label): label for label in classes.tolist()}
            strange = sorted({one for one in y.tolist() if one not in known})
            if strange:
                raise ValueError(
                    f"the answer {strange[0]!r} is none of the model's classes "
                    f"{', '.join(map(str, known))}"
                )
            y = np.array([known[one] for one in y.tolist()])
    unknown = sorted(set(y.tolist()) - set(classes.tolist()), key=str)
    return y, tuple(str(label) for label in unknown)


def change_of(before: dict[str, Any] | None, now: Interval, greater: bool) -> dict[str, Any] | None:
    """Is the score another than the study's? None where one has no standard error."""
    if before is None or before.get("standard_error") is None:
        return None
    error = float(np.hypot(before["standard_error"], now.standard_error))
    difference = now.estimate - before["estimate"]
    if not np.isfinite(error) or not np.isfinite(difference) or error == 0:
        return None
    p = float(2 * ndtr(-abs(difference) / error))
    worse = bool(difference < 0) == greater and difference != 0
    return {"difference": difference, "standard_error": error, "p_value": p, "worse": worse}


def cost_record(answers: Answers, cost_matrix: ArrayLike) -> dict[str, Any]:
    """What the decisions cost on average."""
    classes, L = answers.model.classes_, np.asarray(cost_matrix, dtype=np.float64)
    as_it_decides = mean_cost(answers.y, answers.said.prediction, L, labels=classes)
    found = {"as_it_decides": float(as_it_decides), "by_least_cost": None}
    if answers.said.probability is not None:
        best = least_cost(answers.said.probability, classes, L)
        found["by_least_cost"] = float(mean_cost(answers.y, best, L, labels=classes))
    return found


class Groups(NamedTuple):
    """A label for every row, and the labels in the order in which they are shown."""

    labels: Any
    names: list[str]


def group_labels(column: pl.Series) -> Groups:
    """Values, the commonest first, or quartiles of a numeric column with many of them.

    >>> labels, names = group_labels(pl.Series([2, 1, 1, None]))
    >>> labels.tolist(), names
    (['2', '1', '1', '(missing)'], ['1', '(missing)', '2'])
    """
    if column.dtype.is_numeric() and column.n_unique() > MANY_NUMBERS:
        x = column.cast(pl.Float64).to_numpy()
        cuts = np.unique(np.nanquantile(x, [0.25, 0.5, 0.75]))
        edges = [f"{cut:.4g}" for cut in cuts]
        names = [f"up to {edges[0]}"]
        names += [f"{a} to {b}" for a, b in pairwise(edges)]
        names.append(f"over {edges[-1]}")
        found = np.array(names, dtype=object)[np.searchsorted(cuts, x, side="left")]
        found[np.isnan(x)] = "(missing)"
        return Groups(found, [name for name in [*names, "(missing)"] if (found == name).any()])
    found = column.cast(pl.String).fill_null("(missing)").to_numpy().astype(object)
    seen, counts = np.unique(found.astype(str), return_counts=True)
    order = np.lexsort((seen, -counts))[:MOST_GROUPS]
    return Groups(found, [str(seen[i]) for i in order])


def group_scores(
    answers: Answers, groups: Groups, blocks: IntArray | None = None
) -> tuple[GroupScore, ...]:
    """The measure in every group; with the interval of its ``blocks`` where rows have some."""
    if answers.task.kind not in (*CLASSES, "regression"):
        raise ValueError(f"groups go with classes or numbers, not with {answers.task.kind}")
    metric = answers.scorer.metric
    said = (
        answers.said.prediction
        if metric.needs == "labels"
        else predictions_for(metric, answers.model, answers.X)
    )
    return tuple(
        one_group(answers, one, groups.labels == one, said, blocks) for one in groups.names
    )


def one_group(
    answers: Answers, name: str, inside: BoolArray, said: Array, blocks: IntArray | None
) -> GroupScore:
    n = int(inside.sum())
    task, metric = answers.task, answers.scorer.metric
    labels = classes_of(answers.model)
    positive = task.positive if task.kind == "binary" else None
    try:
        interval = metric_interval(
            metric, answers.y[inside], said[inside], labels=labels, positive=positive
        )
    except ValueError as error:  # one class only, one row only: said, not hidden
        return GroupScore(name, n, None, str(error))
    if blocks is None:
        return GroupScore(name, n, interval)

    def value(at: IntArray) -> float:
        rows = np.flatnonzero(inside)[at]
        return metric.score(answers.y[rows], said[rows], labels=labels, positive=positive)

    own = np.unique(blocks[inside], return_inverse=True)[1]
    found = scaled_interval(value, own, BOUNDS.get(metric.name, NO_BOUNDS))
    bare = interval._replace(low=np.nan, high=np.nan, standard_error=np.nan, method="blocks")
    return GroupScore(name, n, bare if found is None else found)


def drift_of(model: BaseEstimator, rows: pl.DataFrame, alpha: float) -> DriftReport | None:
    """Against the sketch of the training rows; None for models that keep none."""
    parts = take_apart(model)
    if not isinstance(parts.features, TableFeatures) or "training" not in parts.about:
        return None
    inputs = rows.select(wanted_columns(model, rows.columns) or [])
    return drift_report(parts.features, parts.about["training"], inputs, alpha=alpha)


def learned_overlap(about: dict[str, Any], rows: pl.DataFrame, y: Any) -> Overlap | None:
    """How many of the rows the model has learned from; None where no sketch of them is kept."""
    sketch = about.get("marks")
    if sketch is None or not about["columns"].keys() <= {*rows.columns}:
        return None
    marks = row_marks(rows, about["columns"], sketch["forms"], y)
    return find_overlap(sketch, marks)


def is_same_table(about: dict[str, Any], frame: pl.DataFrame) -> bool:
    """Whether these are the rows the model was made from, by the digest of the study."""
    if not about.get("digest") or about.get("rows") != frame.height:
        return False
    return digest(read_columns(frame).values()) == about["digest"]
