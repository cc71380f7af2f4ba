"""A saved model applied to new rows, block by block.

``Application`` knows which columns a model needs, what else it was asked for (probabilities,
intervals, sets, a threshold) and turns a block of rows into a block of answers; ``predict_blocks``
runs it over a table of any size and counts the rows that are unlike the training rows. A question
that the model cannot answer is refused before a row is read.
"""

import sys
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator, is_classifier
from sklearn.pipeline import Pipeline

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import frame_matrix
from pellucid.core.arrays.typing import Array
from pellucid.data.block import table_blocks
from pellucid.data.delimited import commas_as_text
from pellucid.study.columns.lagged_features import LaggedFeatures
from pellucid.study.columns.series_model import SeriesModel
from pellucid.study.columns.table_features import Drift, TableFeatures
from pellucid.study.judging.conformal import label_sets, limits, limits_ahead

BLOCK_ROWS = 65536
JOINT = ";"  # between the labels of a set
WRAPPERS = (
    "LossMatrixClassifier",
    "TemperedClassifier",
    "NonNegativeRegressor",
    "LimitedRegressor",
    "ChangeRegressor",
    "OrderedClassifier",
)

NO_INTERVAL = "predicts classes, which have no interval; ask for proba or sets (--proba, --sets)"


class QuestionError(ValueError):
    """The model cannot say what it was asked for."""


class Asked(NamedTuple):
    """What is to be said of every row besides the prediction."""

    proba: bool = False
    interval: float | None = None  # confidence
    threshold: float | None = None  # of the positive class
    sets: float | None = None  # confidence


class Parts(NamedTuple):
    """A saved model taken apart: how a table becomes numbers, and what predicts from them."""

    features: Any  # TableFeatures, another transformer, or None
    last: Any
    about: dict[str, Any]  # what the study said of it; {} for other models

    def numbers(self, X: Any) -> Any:
        return X if self.features is None else self.features.transform(X)


def take_apart(model: BaseEstimator) -> Parts:
    """Features, model and what the study said; any fitted model is welcome."""
    about = getattr(model, "study_", None) or {}
    if not isinstance(model, Pipeline):
        return Parts(None, model, about)
    if len(model) == 1:
        return Parts(None, model[-1], about)
    first = model[0] if len(model) == 2 else model[:-1]
    return Parts(first, model[-1], about)


def decider(last: Any) -> Any:
    """The model under a table of costs, where there is one."""
    return last.estimator_ if type(last).__name__ == "LossMatrixClassifier" else last


def innermost(last: Any) -> Any:
    """The model itself, under costs, calibration and bounds, where there are such."""
    while type(last).__name__ in WRAPPERS:
        last = last.estimator_
    return last


def probabilities(last: Any, Z: Array) -> Array:
    """(n, classes); of several labels the probability that each holds, (n, labels)."""
    P = last.predict_proba(Z)
    if not isinstance(P, list):
        return np.asarray(P)
    yes = [
        np.where(np.asarray(labels) == 1, one, 0.0).sum(axis=1)
        for one, labels in zip(P, last.classes_, strict=True)
    ]
    return np.column_stack(yes)


def needed_columns(model: BaseEstimator) -> list[str] | None:
    """The names of the input columns; None where the model was fitted without names."""
    parts = take_apart(model)
    if isinstance(parts.features, LaggedFeatures):
        return parts.features.needs_
    for one in (parts.features, model, parts.last):
        names = getattr(one, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
    return None


def wanted_columns(model: BaseEstimator, present: Collection[str]) -> list[str] | None:
    """The needed columns, and those that are taken where a table has them."""
    needed, features = needed_columns(model), take_apart(model).features
    if needed is None or not isinstance(features, LaggedFeatures):
        return needed
    return needed + [n for n in features.takes_ if n in present and n not in needed]


class Application:
    """A fitted model and a question.

    Parameters
    ----------
    model : fitted model
        As ``learn`` saves it, or any other that ``pellucid.load`` brings back.
    asked : Asked

    Examples
    --------
    >>> from pellucid import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> Application(model, Asked(threshold=0.5)).answer(pl.DataFrame({"x": [0.0, 5.0]})).rows()
    [('a',), ('b',)]
    """

    def __init__(self, model: BaseEstimator, asked: Asked) -> None:
        self.model, self.asked = model, asked
        self.parts = take_apart(model)
        self.about = self.parts.about
        self.columns = needed_columns(model)
        forms = getattr(self.parts.features, "forms_", ())
        self.written = [n for n, form in zip(self.columns or (), forms, strict=False) if form]
        self.classes: Any = getattr(self.parts.last, "classes_", None)
        self.is_classifier = is_classifier(self.parts.last) and self.classes is not None
        self.several = isinstance(self.classes, list) or self.about.get("kind") == "multilabel"
        self.limits: Array | None = None
        self._check()

    # --- can it be answered? -----------------------------------------------------------------

    def _check(self) -> None:
        asked = self.asked
        if not hasattr(self.model, "predict"):
            raise QuestionError(f"a {type(self.parts.last).__name__} does not predict")
        if asked.proba and not hasattr(self.parts.last, "predict_proba"):
            raise QuestionError(f"{self._name()} has no probabilities to give")
        if asked.threshold is not None:
            self._check_threshold(asked.threshold)
        if asked.interval is not None:
            check.fraction(interval=asked.interval)
            self._check_interval(asked.interval)
        if asked.sets is not None:
            check.fraction(sets=asked.sets)
            self._check_sets(asked.sets)

    def _name(self) -> str:
        return f"this model ({self.about.get('name') or type(self.parts.last).__name__})"

    def _check_threshold(self, threshold: float) -> None:
        if not 0 <= threshold <= 1:
            raise QuestionError(f"the threshold is a probability from 0 to 1, got {threshold:g}")
        two = self.is_classifier and not self.several and len(self.classes) == 2
        if not two or not hasattr(self.parts.last, "predict_proba"):
            raise QuestionError(
                f"a threshold needs two classes and their probabilities; {self._name()} predicts "
                + (f"{len(self.classes)} classes" if self.is_classifier else "numbers")
            )

    def _check_interval(self, confidence: float) -> None:
        calibration = self.about.get("calibration")
        if calibration is not None and not self.is_classifier:
            self.limits = limits(calibration, confidence)
        elif self.several:
            raise QuestionError(f"{self._name()} predicts several labels; it has no intervals")
        elif not self._has_interval():
            none = "has neither calibration rows nor intervals of its own"
            raise QuestionError(f"{self._name()} {NO_INTERVAL if self.is_classifier else none}")

    def _has_interval(self) -> bool:
        few = not self.is_classifier or len(self.classes) == 2
        return few and hasattr(decider(self.parts.last), "predict_interval")

    def _check_sets(self, confidence: float) -> None:
        if not self.is_classifier:
            raise QuestionError(f"{self._name()} predicts numbers; --interval gives intervals")
        calibration = self.about.get("calibration")
        if calibration is not None:
            self.limits = limits(calibration, confidence)
        elif not hasattr(self.parts.last, "predict_set"):
            raise QuestionError(f"{self._name()} has no calibration rows, so it cannot give sets")

    # --- answers -----------------------------------------------------------------------------

    def answer(self, X: pl.DataFrame) -> pl.DataFrame:
        """One row of answers for every row of X, which has the needed columns in their order."""
        if not isinstance(self.model, SeriesModel):
            return self._answer(X)
        X, beyond, ahead = self.model.placed(X)
        near = self._answer(X, ahead)
        if not beyond.any():
            return near
        far = Application(self.model.far_, self.asked).answer(X.filter(pl.Series(beyond)))
        place = np.argsort(np.concatenate([np.flatnonzero(~beyond), np.flatnonzero(beyond)]))
        return pl.concat([near.filter(pl.Series(~beyond)), far])[place]

    def _answer(self, X: pl.DataFrame, ahead: Array | None = None) -> pl.DataFrame:
        Z = self.parts.numbers(self._rows(X))
        last, asked = self.parts.last, self.asked
        wants = asked.proba or asked.threshold is not None or asked.sets is not None
        P = probabilities(last, Z) if wants and hasattr(last, "predict_proba") else None
        if asked.threshold is not None and P is not None:
            said = self._by_threshold(P, asked.threshold)
        else:
            said = last.predict(Z)
        out = self._predictions(np.asarray(said))
        if asked.proba and P is not None:
            out |= {f"probability_{c}": P[:, j] for j, c in enumerate(self._class_names())}
        if asked.interval is not None:
            out |= self._interval(Z, said, self._limits(asked.interval, ahead), asked.interval)
        if asked.sets is not None:
            out["set"] = self._sets(Z, P, self._limits(asked.sets, ahead), asked.sets)
        return pl.DataFrame(out)

    def _rows(self, X: pl.DataFrame) -> Any:
        """Frames where the model knows names, else a matrix."""
        if self.columns is not None:
            wanted = self.wanted(X.columns)
            return X if wanted == X.columns else X.select(wanted)
        p = getattr(self.parts.last, "n_features_in_", X.width)
        if self.parts.features is None and p != X.width:
            raise ValueError(f"the model was fitted on {p} columns, the table has {X.width}")
        return frame_matrix(X)

    def _class_names(self) -> list[str]:
        if self.about.get("kind") == "multilabel":
            return list(self.about["classes"])
        return [str(label) for label in self.classes]

    def _positive(self) -> int:
        """The place of the class a threshold is about."""
        names = self._class_names()
        wanted = self.about.get("positive")
        return names.index(wanted) if wanted in names else 1

    def _by_threshold(self, P: Array, threshold: float) -> Any:
        place = self._positive()
        yes = P[:, place] >= threshold
        return self.classes[np.where(yes, place, 1 - place)]

    def _predictions(self, said: Any) -> dict[str, Any]:
        if said.ndim == 1:
            return {"prediction": said.astype(str) if said.dtype.kind in "OU" else said}
        if self.about.get("kind") == "multilabel":
            return {"prediction": joined(said.astype(bool), self._class_names())}
        names = self.about.get("target") or []
        named = names if len(names) == said.shape[1] else range(said.shape[1])
        return {f"prediction_{name}": said[:, j] for j, name in enumerate(named)}

    def _limits(self, confidence: float, ahead: Array | None) -> Array | None:
        """q of every output, (outputs,), or of every row of a series, (n, 1); None: no scores."""
        if self.limits is None or ahead is None or "ahead" not in self.about["calibration"]:
            return self.limits
        return limits_ahead(self.about["calibration"], confidence, ahead)[:, None]

    def _interval(
        self, Z: Array, said: Array, q: Array | None, confidence: float
    ) -> dict[str, Any]:
        if q is None or self.is_classifier:  # of a classifier q is for sets
            try:
                own = decider(self.parts.last).predict_interval(Z, confidence=confidence)
            except ValueError as error:
                if hasattr(self.parts.last, "classes_"):
                    raise QuestionError(f"{self._name()} {NO_INTERVAL}") from error
                raise QuestionError(f"{self._name()} gives no intervals: {error}") from error
            both = np.asarray(own)
            return {"low": both[:, 0], "high": both[:, 1]}
        if np.ndim(said) == 1:
            low, high = said - q[..., 0], said + q[..., 0]
            if self.about.get("nature") == "counts":
                low = np.maximum(low, 0.0)
            return {"low": low, "high": high}
        out = {}
        for j, name in enumerate(self._predictions(np.asarray(said))):
            target = name.removeprefix("prediction_")
            out[f"low_{target}"] = said[:, j] - q[j]
            out[f"high_{target}"] = said[:, j] + q[j]
        return out

    def _sets(self, Z: Array, P: Array | None, q: Array | None, confidence: float) -> Any:
        if q is not None and P is not None:
            inside = label_sets(P, q)
        else:
            inside = np.asarray(self.parts.last.predict_set(Z, confidence))
        return joined(inside, self._class_names())

    def strange(self, X: pl.DataFrame) -> Drift | None:
        """Cells unlike the training rows; None where the model does not know them."""
        if isinstance(self.parts.features, TableFeatures):
            return self.parts.features.drift(self._rows(X))
        return None

    def wanted(self, present: Collection[str]) -> list[str]:
        """The columns of a table that the model takes; all where it knows no names."""
        found = wanted_columns(self.model, present)
        return list(present) if found is None else found


def joined(inside: Any, names: list[str]) -> list[str]:
    """The labels of every row in one cell.

    >>> joined(np.array([[True, True], [False, False]]), ["a", "b"])
    ['a;b', '']
    """
    patterns, place = np.unique(inside, axis=0, return_inverse=True)
    words = [JOINT.join(n for n, yes in zip(names, row, strict=True) if yes) for row in patterns]
    return [words[i] for i in place.ravel()]


class Tally(NamedTuple):
    """What was met on the way."""

    rows: int = 0
    rows_unseen: int = 0
    rows_outside: int = 0
    unseen: dict[str, int] = {}  # noqa: RUF012  never written to
    outside: dict[str, int] = {}  # noqa: RUF012
    unread: dict[str, int] = {}  # noqa: RUF012  cells of text where numbers or dates belong
    examples: dict[str, str] = {}  # noqa: RUF012  the first of them, by column

    def add(self, n: int, found: Drift | None) -> "Tally":
        if found is None:
            return self._replace(rows=self.rows + n)
        return Tally(
            self.rows + n,
            self.rows_unseen + found.rows_unseen,
            self.rows_outside + found.rows_outside,
            _plus(self.unseen, found.names, found.unseen),
            _plus(self.outside, found.names, found.outside),
            _plus(self.unread, found.names, found.unread),
            {n: e for n, e in zip(found.names, found.examples, strict=True) if e} | self.examples,
        )


def _plus(old: dict[str, int], names: tuple[str, ...], counts: tuple[int, ...]) -> dict[str, int]:
    more = {name: old.get(name, 0) + c for name, c in zip(names, counts, strict=True) if c}
    return old | more


def missing_columns(needed: list[str] | None, present: Collection[str]) -> list[str]:
    """The needed columns that are not there."""
    return [] if needed is None else [name for name in needed if name not in present]


def predict_blocks(
    application: Application, table: Any, copy: tuple[str, ...] = (), where: str = "the table"
) -> Iterator[tuple[pl.DataFrame, Drift | None]]:
    """Blocks of answers in the order of the rows, with what was strange about each.

    Parameters
    ----------
    application : Application
    table : a table of ``pellucid.data``, read by ranges of rows
    copy : names of columns to put before the answers
    where : what to call the table in a message
    """
    wanted = application.wanted(list(table.schema))
    series = isinstance(application.parts.features, LaggedFeatures)  # rows build on each other
    size = sys.maxsize if series else BLOCK_ROWS
    columns = list(dict.fromkeys([*wanted, *copy]))
    table = commas_as_text(table, application.written)
    for X, _ in table_blocks(table, None, columns, None, size, where):
        inputs = X.select(wanted)
        answers = application.answer(inputs)
        taken = [name for name in copy if name in answers.columns]
        if taken:
            raise ValueError(f"the column {taken[0]!r} cannot be copied: it is an answer's name")
        yield pl.concat([X.select(copy), answers], how="horizontal"), application.strange(inputs)
