"""The model of a server: what it takes, what it answers, what it says of itself."""

import threading
from collections import OrderedDict
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

from pellucid.persist.writer import card_of
from pellucid.serve.records import Abilities, Column, RefusalError, Schema
from pellucid.study.columns.lagged_features import LaggedFeatures
from pellucid.study.columns.table_features import Drift
from pellucid.study.saved.drift import typical_row
from pellucid.study.saved.prediction import Application, Asked, QuestionError

KEPT = 32  # questions whose preparation is kept
TRIED = {
    "proba": Asked(proba=True),
    "interval": Asked(interval=0.9),
    "threshold": Asked(threshold=0.5),
    "sets": Asked(sets=0.9),
}


class Desk:
    """A fitted model that answers questions; several threads may ask at once.

    >>> from pellucid import GaussianNB
    >>> desk = Desk(GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]))
    >>> desk.answer(pl.DataFrame({"x0": [0.5]}), Asked()).rows()
    [('a',)]
    >>> desk.schema.abilities.proba
    True
    """

    def __init__(self, model: BaseEstimator) -> None:
        self.model = model
        self.plain = Application(model, Asked())
        self.schema = schema_of(self.plain)
        self.lock = threading.Lock()
        self.prepared: OrderedDict[Asked, Application] = OrderedDict()

    def application(self, asked: Asked) -> Application:
        """The model made ready for a question; RefusalError where it has no answer to it."""
        with self.lock:
            found = self.prepared.get(asked)
            if found is not None:
                self.prepared.move_to_end(asked)
                return found
        try:
            found = Application(self.model, asked)
        except (QuestionError, ValueError) as error:
            raise RefusalError(422, str(error)) from error
        with self.lock:
            self.prepared[asked] = found
            if len(self.prepared) > KEPT:
                self.prepared.popitem(last=False)
        return found

    def answer(self, frame: pl.DataFrame, asked: Asked) -> pl.DataFrame:
        """One row of answers for every row; RefusalError where the model refuses the rows."""
        try:
            return self.application(asked).answer(frame)
        except (QuestionError, ValueError, TypeError, ArithmeticError) as error:
            raise RefusalError(422, str(error) or type(error).__name__) from error
        except pl.exceptions.PolarsError as error:
            raise RefusalError(422, str(error).splitlines()[0]) from error

    def strange(self, frame: pl.DataFrame) -> Drift | None:
        """Cells unlike the training rows; None where the model does not know them."""
        return self.plain.strange(frame)

    def training_gaps(self) -> dict[str, float]:
        """The share of missing cells in every column of the training rows, where it is known."""
        known = self.plain.about.get("training") or {}
        return {
            name: one["missing"] / total
            for name, one in known.items()
            if (total := one["missing"] + one["n"])
        }

    def card(self) -> dict[str, Any]:
        """The model's card and what its study found out about it."""
        about = self.plain.about
        facts = ("name", "target", "kind", "metric", "score", "tested", "learned", "rows")
        return {
            "model": type(self.plain.parts.last).__name__,
            "card": card_of(self.model),
            "study": {name: about[name] for name in facts if name in about} or None,
        }

    def warm(self) -> None:
        """Answer one row in every way, so that the first client does not wait for compilers."""
        frame = example_row(self.plain, self.schema)
        for name, able in self.schema.abilities._asdict().items():
            if able:
                self.try_row(frame, TRIED[name])
        self.try_row(frame, Asked())
        if frame is not None:
            self.strange(frame)

    def try_row(self, frame: pl.DataFrame | None, asked: Asked) -> None:
        if frame is None:
            return
        try:
            self.answer(frame, asked)
        except RefusalError:  # a made-up row is not what the model takes; a real one will do
            return


def schema_of(application: Application) -> Schema:
    """What the model takes and gives."""
    features, last = application.parts.features, application.parts.last
    names, about = application.columns, application.about
    kinds = dict(about.get("columns") or {})
    for name, kind in zip(names or (), getattr(features, "kinds_", ()), strict=False):
        kinds.setdefault(name, kind)
    p: Any = getattr(features, "n_features_in_", None) or getattr(last, "n_features_in_", 0)
    taken = names if names is not None else [f"x{j}" for j in range(int(p))]
    several = application.several
    classes = () if not application.is_classifier or several else application.classes
    return Schema(
        tuple(Column(name, kinds.get(name, "number")) for name in taken),
        names is not None,
        tuple(features.takes_) if isinstance(features, LaggedFeatures) else (),
        tuple(about.get("target") or ()),
        "classes" if application.is_classifier else "numbers",
        tuple(str(label) for label in np.asarray(classes).tolist()),
        Abilities(**{name: is_able(application.model, asked) for name, asked in TRIED.items()}),
    )


def is_able(model: BaseEstimator, asked: Asked) -> bool:
    try:
        Application(model, asked)
    except (QuestionError, ValueError):
        return False
    return True


def example_row(application: Application, schema: Schema) -> pl.DataFrame | None:
    """A row in the middle of the training rows, or zeros where the model keeps none."""
    training = application.about.get("training")
    names = [column.name for column in schema.columns]
    if training is not None and set(names) <= set(training):
        return typical_row(training).select(names)
    if schema.named and application.parts.features is not None:
        return None
    return pl.DataFrame({name: [0.0] for name in names}) if names else None
