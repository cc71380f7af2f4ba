"""What ``compare`` and ``sweep`` share: rows, target and models of a table, ready to be judged.

A model is named by its key in the study's registry (``ridge``, ``tree``) or by a public class
(``LinearRegression``). Either way it becomes a pipeline that turns the raw columns into numbers
and then fits, so that whatever is learned is learned from the training rows of a fold alone.
Rows that are grouped or ordered in time are divided accordingly, outside and inside
(``fold_plan``).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold
from sklearn.pipeline import Pipeline

import pellucid
from pellucid.evaluation import TunedEstimator
from pellucid.study import Plan, Study, TableFeatures
from pellucid.study.candidates.candidates import REGISTRY, Tried, public
from pellucid.study.errors import OptionError, TaskError, nearest
from pellucid.study.reading.target_arrays import labelled_rows
from pellucid.study.records import Task
from pellucid.study.tables.fold_plan import UNIT, Arrangement, UnitFolds, arrange, make_folds

CLASSES = ("binary", "multiclass")
KINDS = (*CLASSES, "regression", "multi_output_regression")
INNER_FOLDS = 3  # in which a model is tuned inside a fold


class Table(NamedTuple):
    """The labelled rows of a table with the columns that models may see."""

    study: Study
    X: Any  # frame
    y: Any  # labels or numbers; two classes are 0 and 1, 1 the positive one
    left_out: dict[str, str]
    arrangement: Arrangement

    @property
    def task(self) -> Task:
        """The kind of task, its target and its measure."""
        return self.study.task

    @property
    def target(self) -> str:
        """The column to predict."""
        return self.task.target[0]

    @property
    def classifies(self) -> bool:
        """Whether the models are classifiers."""
        return self.task.kind in CLASSES

    @property
    def free(self) -> bool:
        """Whether nothing orders or groups the rows."""
        return self.arrangement.kind == "free"

    def split_words(self) -> dict[str, str]:
        """How the rows were divided, and why."""
        return {"kind": self.arrangement.kind, "reason": self.arrangement.reason}

    def folds(self, cv: int, repeats: int = 1) -> Any:
        """What judges the models: a number of folds, a splitter or a list of splits."""
        seed = self.study.random_state
        if cv > len(self.y):
            text = f"--cv {cv} needs at least {cv} rows, the table has {len(self.y)}"
            raise OptionError(text)
        if self.free and repeats == 1:
            return cv
        if self.free:
            kind = RepeatedStratifiedKFold if self.classifies else RepeatedKFold
            return kind(n_splits=cv, n_repeats=repeats, random_state=seed)
        return make_folds(
            self.arrangement, self.y, cv, repeats, classifies=self.classifies, seed=seed
        )


def open_table(
    data: object, target: str, plan: Plan, *, task: str, metric: str, seed: int
) -> Table:
    """Read the task off the target and leave out what the audit leaves out."""
    study = Study(data, target, task=task, metric=metric, plan=plan, random_state=seed)
    kind = study.task.kind
    if kind not in KINDS:
        raise TaskError(
            f"the task is {kind}; this command works for {', '.join(KINDS)} (see --task)"
        )
    found = arrange(study, np.flatnonzero(labelled_rows(study.frame, study.task)))
    X, y = study.take(found.rows)
    if kind == "binary":
        y = (y == study.task.positive).astype(np.intp)
    if found.kind != "free":
        X = X.with_columns(pl.Series(UNIT, found.units))
    return Table(study, X, y, dict(study.left_out()), found)


def contestants(table: Table, names: Sequence[str] | None) -> dict[str, Any]:
    """Tuned pipelines by name; without names, what a standard study would try."""
    if names is None:
        return {one.candidate.name: _tuned(table, one) for one in table.study._tried()}
    return {name: contestant(table, name, tuned=True) for name in dict.fromkeys(names)}


def contestant(table: Table, name: str, *, tuned: bool) -> Any:
    """One pipeline: a key of the registry, tuned on request, or a public class as it comes."""
    entry = _entry(table, name)
    if entry is not None:
        return _tuned(table, entry) if tuned else _plain(table, entry)
    model = public(name) if name in pellucid._HOME else None
    if model is None:
        raise OptionError(nearest("model", name, model_names(table)))
    try:
        estimator = model()
    except TypeError as error:
        raise OptionError(f"{name} cannot be made without arguments: {error}") from error
    wanted = is_classifier if table.classifies else is_regressor
    if not wanted(estimator):
        kind = "classifier" if table.classifies else "regressor"
        raise OptionError(f"{name} is no {kind}, and the task is {table.task.kind}")
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=table.study.random_state)
    return Pipeline([("features", _features(table, {})), ("model", estimator)])


def own_space(table: Table, name: str) -> dict[str, list[Any]]:
    """The parameters a study would tune, with their values, simplest first."""
    entry = _entry(table, name)
    return {} if entry is None else dict(entry.candidate.space)


def model_names(table: Table) -> list[str]:
    """Keys that fit the task and whose classes exist."""
    fitting = [
        entry.key
        for entry in REGISTRY
        if table.task.kind in entry.kinds and all(n in pellucid._HOME for n in entry.needs)
    ]
    return list(dict.fromkeys(fitting))


def _entry(table: Table, name: str) -> Tried | None:
    if name not in model_names(table):
        return None
    from pellucid.study.candidates.candidates import find_candidates

    found = find_candidates(table.study._setting(), (name,))
    return next(one for one in found if one.candidate.key == name)


def _kinds(table: Table) -> dict[str, str]:
    columns = {c.name: c.kind for c in table.study.audit().columns}
    return {name: columns[name] for name in table.X.columns if name != UNIT}


def _features(table: Table, options: dict[str, Any]) -> TableFeatures:
    """Features of the columns that models may see, the units of the rows not among them."""
    kinds = _kinds(table)
    own = {} if table.free else {"columns": list(kinds)}
    return TableFeatures(kinds, **(own | options))


def _plain(table: Table, one: Tried) -> Any:
    features = _features(table, one.features)
    return Pipeline([("features", features), ("model", one.candidate.estimator)])


def _tuned(table: Table, one: Tried) -> Any:
    pipeline, seed = _plain(table, one), table.study.random_state
    if one.candidate.space and not table.free:  # the splitter must see the rows as they are
        space = {f"model__{key}": values for key, values in one.candidate.space.items()}
        inner = UnitFolds(table.arrangement.kind, INNER_FOLDS, table.classifies, seed)
        return TunedEstimator(
            pipeline, space, metric=table.task.metric, cv=inner, random_state=seed
        )
    if one.candidate.space:
        tuned = TunedEstimator(
            one.candidate.estimator,
            one.candidate.space,
            metric=table.task.metric,
            cv=INNER_FOLDS,
            random_state=seed,
        )
        pipeline.set_params(model=tuned)
    return pipeline
