"""Which task a target asks for, and by which measure it is judged: task, measure, experience.

Rules in order: no target, clustering; lists of a query, ranking; several columns, multilabel when
all are two-valued, else several numbers; lists or ``a;b`` cells, multilabel; text, categories and
truth values, classes; two distinct numbers, two classes; whole numbers from 0 on that thin out
upwards, counts, which are numbers; 3 to 10 other whole numbers, classes that could be numbers too;
anything else, a number to predict.

The measure is fixed before anything is trained. A classifier says the likeliest class, so it is
judged by the share of right answers, unless one class has more than 80 % of the rows: then being
right says little, and what it says of the others is judged, by average precision (two classes) or
log loss (more). Counts keep rmse, which a reader can picture and which every model has; the Poisson
deviance needs predictions above 0 and is reported beside it. A class is rare below 20 % of the
rows, with K > 2 classes below two fifths of an even share, 0.4 / K, which is the same for K = 2.
"""

from typing import Any

import numpy as np
import polars as pl

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import ArrayLike
from pellucid.evaluation.metrics.registry import ALIASES, METRICS
from pellucid.study.errors import TaskError
from pellucid.study.reading.counts import FEW_CODES, is_count
from pellucid.study.reading.orders import asked_order, known_order, typed_order
from pellucid.study.reading.profiles import NUMBERS, Column, label_pairs, read_column
from pellucid.study.reading.refusals import extreme_cell
from pellucid.study.records import KINDS, Task

RARE = 0.4  # of an even share
MOST = 0.8  # of the rows: a class that has more leaves little room to be right
MEASURES = {
    "multilabel": ("f1", "the mean over the labels of F1, which rare labels cannot hide in"),
    "regression": ("rmse", "the root mean squared error, in units of the target"),
    "multi_output_regression": ("rmse", "the root mean squared error, mean over the targets"),
    "ranking": ("ndcg", "the discounted gain of each list against its best order"),
    "clustering": ("silhouette", "how much nearer rows are to their own cluster than to the next"),
    "anomaly": ("average_precision", "precision down the list of scores, once labels are known"),
}
UNORDERED = "task='multiclass' (--task multiclass) takes them without one."
COUNTED = "poisson_deviance"  # of counts, beside the measure in units of the target

_CLASSES = ("classes", "scores", "probabilities")
JUDGED_BY = {  # what a measure compares, by the kind of task; the others are not looked at
    "binary": _CLASSES,
    "multiclass": _CLASSES,
    "regression": ("numbers",),
    "multi_output_regression": ("numbers",),
}


def detect_task(
    y: Any = None,
    *,
    query: str | None = None,
    kind: str | None = None,
    metric: str | None = None,
    cost_matrix: ArrayLike | None = None,
) -> Task:
    """What is to be predicted, and how it is judged.

    Parameters
    ----------
    y : series, array, list or frame of target columns, or None
        None: there is no target.
    query : array or str, optional
        Which list each row belongs to; anything but None makes the task a ranking.
    kind : str, optional
        The task if you know better; it is checked against the target. "ordinal" are classes in
        order, "multiclass" classes without one.
    metric : str, optional
        The measure if you know better.
    cost_matrix : array, optional
        Costs of mistakes: the measure of a classification becomes their mean.

    Examples
    --------
    >>> from pellucid.study import detect_task
    >>> task = detect_task(["no"] * 90 + ["yes"] * 10)
    >>> task.kind, task.positive, task.metric
    ('binary', 'yes', 'average_precision')
    """
    if kind is not None:
        check.one_of((*KINDS, "ordinal"), task=kind)
    if y is None:
        return _no_target(kind, metric)
    columns = target_columns(y)
    task = _several(columns) if len(columns) > 1 else _one(columns[0], query)
    if kind == "ordinal":
        task = _asked_order(task, y, columns)
    elif kind is not None and kind != task.kind:
        task = _forced(task, kind, columns)
    elif kind is None and task.kind == "multiclass":
        task = _ordered(task, typed_order(y, task.classes) or known_order(task.classes))
    return _measured(task, columns, metric, cost_matrix)


def _ordered(task: Task, order: tuple[Any, ...]) -> Task:
    """The task with the order of its labels, where there is one."""
    if len(order) < len(task.classes):
        return task
    said = " < ".join(str(label) for label in order)
    reason = f"{task.reason} The labels are taken in their order ({said}); {UNORDERED}"
    return task._replace(nature="ordered", order=order, reason=reason)


def _asked_order(task: Task, y: Any, columns: list[Column]) -> Task:
    if task.kind != "multiclass":
        task = _forced(task, "multiclass", columns)
    order = asked_order(y, task.classes)
    if len(order) < len(task.classes):
        raise ValueError(
            f"the order of {', '.join(map(str, task.classes[:5]))} is not known; give numbers, a "
            "category with an order, or words such as low, medium, high"
        )
    return _ordered(task, order)


def target_columns(y: Any) -> list[Column]:
    """The target columns, read; one without any value, or with an extreme one, is refused."""
    if is_frame(y) or isinstance(y, dict):
        from pellucid.data import load

        series = load(y).get_columns()
    elif isinstance(y, pl.Series):
        series = [y]
    else:
        series = _from_array(y)
    if not series or not len(series[0]):
        raise ValueError("the target has no rows; at least one is needed")
    columns = [read_column(s.rename(s.name or "target")) for s in series]
    for column in columns:
        if column.kind == "empty":
            raise ValueError(f"the target {column.name!r} has no value in any row")
        if column.kind == "date":
            raise ValueError(
                f"the target {column.name!r} holds dates; predict a number or a class, such as "
                "the days that pass until then"
            )
    if extreme := extreme_cell(pl.DataFrame([column.cells for column in columns])):
        raise TaskError(extreme)
    return columns


def _from_array(y: Any) -> list[pl.Series]:
    name = getattr(y, "name", None)
    if isinstance(y, list | tuple):
        return [pl.Series("target", list(y), strict=False)]
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] > 1:
        return [_cells(f"target_{j}", array[:, j]) for j in range(array.shape[1])]
    if array.ndim == 2:
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"the target must have one or two dimensions, got shape {array.shape}")
    return [_cells(str(name) if name is not None else "target", array)]


def _cells(name: str, array: Any) -> pl.Series:
    if array.dtype.kind != "O":
        return pl.Series(name, array)
    cells = [None if v is None or (isinstance(v, float) and v != v) else v for v in array.tolist()]
    return pl.Series(name, cells, strict=False)


def _no_target(kind: str | None, metric: str | None) -> Task:
    kind = kind or "clustering"
    if kind not in ("clustering", "anomaly"):
        raise ValueError(f"task {kind!r} needs a target column; without one: clustering, anomaly")
    name, meaning = MEASURES[kind]
    reason = f"There is no target, so the rows are {'grouped' if kind == 'clustering' else 'rated'}"
    other = ("anomaly",) if kind == "clustering" else ("clustering",)
    return Task(kind, (), (), None, metric or name, True, 0, f"{reason}: {meaning}.", other)


def _one(column: Column, query: Any) -> Task:
    if query is not None:
        if column.kind not in (*NUMBERS, "truth"):
            raise ValueError(f"a ranking needs a number as target, {column.name!r} is no number")
        return _task("ranking", column, (), "The rows form lists, one for each query.")
    if column.kind == "list":
        return _task("multilabel", column, label_names(column), "A cell holds several labels.")
    if column.kind in ("category", "text", "truth"):
        return _classes(
            column,
            "The target is text" if column.kind != "truth" else "The target is true or false",
        )
    if column.distinct <= 2 and (column.kind == "whole" or column.distinct == 2):
        return _classes(column, "The target has two different numbers at most")
    if is_count(column):
        return _counts(column)
    if column.kind == "whole" and column.distinct <= FEW_CODES:
        reason = f"The target has {column.distinct} different whole numbers"
        return _classes(column, reason)._replace(alternatives=("regression",))
    return _task("regression", column, (), "The target is a number.")


def _counts(column: Column) -> Task:
    """Counts are numbers; few different ones could be classes too."""
    few = column.distinct <= FEW_CODES
    reason = "The target counts something: whole numbers from 0 on."
    task = _task("regression", column, (), reason)._replace(nature="counts")
    return task._replace(alternatives=("multiclass",)) if few else task


def _task(kind: str, column: Column, classes: tuple[Any, ...], reason: str) -> Task:
    return Task(kind, (column.name,), classes, None, "", True, column.missing, reason)


def _classes(column: Column, reason: str) -> Task:
    classes = class_labels(column)
    kind = "binary" if len(classes) <= 2 else "multiclass"
    n = "one class only" if len(classes) == 1 else f"{len(classes)} classes"
    return _task(kind, column, classes, f"{reason}: {n}.")


def class_labels(column: Column) -> tuple[Any, ...]:
    """The distinct labels in order; numbers with fractions are words."""
    cells = column.cells.drop_nulls()
    if column.kind == "whole" and not cells.dtype.is_integer():
        cells = cells.cast(pl.Int64)
    labels = cells.unique().sort().to_list()
    return tuple(str(label) if isinstance(label, float) else label for label in labels)


def label_names(column: Column) -> tuple[str, ...]:
    """The distinct labels of a column of lists, in order."""
    cells = column.cells.drop_nulls()
    if cells.dtype == pl.List:
        labels = cells.explode(empty_as_null=True).drop_nulls().cast(pl.String)
    else:
        counts = cells.rename("cell").value_counts(name="count")
        labels = label_pairs(counts)["cell"]
    return tuple(labels.unique().sort().to_list())


def _several(columns: list[Column]) -> Task:
    names = tuple(column.name for column in columns)
    rows = [column.cells.is_null().to_numpy() for column in columns]
    unlabelled = int(np.logical_or.reduce(rows).sum())
    if all(_two_valued(column) for column in columns):
        reason = f"{len(columns)} targets, each of two values: labels that may hold together."
        return Task("multilabel", names, names, None, "", True, unlabelled, reason)
    wrong = [column.name for column in columns if column.kind not in (*NUMBERS, "truth")]
    if wrong:
        raise ValueError(
            f"several targets must all be numbers or all be two-valued, {wrong[0]!r} is neither; "
            "study it as a target of its own"
        )
    reason = f"{len(columns)} numeric targets."
    return Task("multi_output_regression", names, (), None, "", True, unlabelled, reason)


def _two_valued(column: Column) -> bool:
    return column.distinct <= 2 and column.kind in ("truth", "whole", "category", "number")


def _forced(task: Task, kind: str, columns: list[Column]) -> Task:
    """The task the user asks for, if the target allows it."""
    column = columns[0]
    numeric = all(c.kind in (*NUMBERS, "truth") for c in columns)
    said = f"Asked for {kind}; by its values it would be {task.kind}."
    if kind in ("clustering", "anomaly"):
        return _no_target(kind, None)._replace(reason=said, alternatives=())
    if kind in ("regression", "ranking") and len(columns) == 1 and numeric:
        return _task(kind, column, (), said)
    if kind in ("binary", "multiclass") and len(columns) == 1 and column.kind != "list":
        classes = class_labels(column)
        if (kind == "binary") == (len(classes) <= 2):
            return _task(kind, column, classes, said)
        raise ValueError(f"task 'binary' means two classes, {column.name!r} has {len(classes)}")
    if kind == "multi_output_regression" and len(columns) > 1 and numeric:
        return task._replace(kind=kind, classes=(), reason=said)
    raise ValueError(f"the target is of kind {task.kind!r} and cannot be taken as {kind!r}")


def _measured(
    task: Task, columns: list[Column], metric: str | None, costs: ArrayLike | None
) -> Task:
    """The task with its measure, and with the positive class of two."""
    if task.kind in ("binary", "multiclass"):
        counts = class_sizes(columns[0], task.classes)
        name, why = _class_measure(task.kind, counts)
        task = task._replace(positive=_positive(task, counts))
    else:
        name, why = MEASURES[task.kind]
    if costs is not None:
        if task.kind not in ("binary", "multiclass"):
            raise ValueError(f"a cost matrix goes with classes, the task is {task.kind}")
        name, why = "mean_cost", "the mean cost of its mistakes, because costs are given"
    if metric is not None and metric != "auto":
        check_measure(metric, task.kind)
        name, why = metric, "the measure asked for"
    if task.nature == "counts" and name != COUNTED:
        why += "; the Poisson deviance stands beside it where every prediction is above 0"
    if task.kind not in ("clustering", "anomaly"):
        task = task._replace(reason=f"{task.reason} A model is judged by {name}: {why}.")
    return task._replace(metric=name, greater_is_better=_greater(name))


def check_measure(metric: str, kind: str) -> None:
    """Refuse a measure of classes for numbers, and the other way round."""
    known = METRICS.get(ALIASES.get(metric, metric))
    inputs = JUDGED_BY.get(kind, ())
    if known is None or not inputs or known.input in inputs:
        return
    fit = [name for name, one in METRICS.items() if one.input in inputs]
    raise ValueError(
        f"metric {metric!r} does not judge a task of kind {kind!r}; these do: {', '.join(fit)}"
    )


def _greater(metric: str) -> bool:
    """Course names say which way is better; of scikit-learn's scorers more always is."""
    if metric in METRICS:
        return bool(METRICS[metric].greater_is_better)
    return True if metric not in ALIASES else bool(METRICS[ALIASES[metric]].greater_is_better)


def _positive(task: Task, counts: np.ndarray) -> Any:
    """The rarer of two classes; the later label where they are even."""
    if task.kind != "binary" or len(counts) < 2:
        return None
    return task.classes[0] if counts[0] < counts[1] else task.classes[1]


def class_sizes(column: Column, classes: tuple[Any, ...]) -> Any:
    """Rows of each class."""
    found = dict(column.cells.drop_nulls().rename("cell").value_counts(name="n").rows())
    if classes and isinstance(classes[0], str):
        found = {str(label): n for label, n in found.items()}
    return np.array([found.get(label, 0) for label in classes])


def rare_share(n_classes: int) -> float:
    """The share below which a class is rare.

    >>> rare_share(2), rare_share(10)
    (0.2, 0.04)
    """
    return RARE / n_classes


def _class_measure(kind: str, counts: np.ndarray) -> tuple[str, str]:
    least, most = counts.min() / counts.sum(), counts.max() / counts.sum()
    if len(counts) < 2 or most <= MOST:
        if least >= rare_share(len(counts)):
            return "accuracy", "the share of right answers, since no class is rare"
        rare = f"the smallest class has {least:.1%} of the rows"
        alike = "balanced_accuracy would count every class alike"
        return "accuracy", f"the share of right answers; {rare}, and {alike}"
    if kind == "binary":
        rare = f"the smallest class has {least:.1%} of the rows"
        return "average_precision", f"{rare}, and precision at every recall is about finding it"
    common = f"one class has {most:.1%} of the rows"
    return "log_loss", f"{common}, and probabilities say more than the likeliest label"
