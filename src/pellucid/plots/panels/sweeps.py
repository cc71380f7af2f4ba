"""One input moved at a time, models with their labels, and the parts of a pipeline."""

from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.linear.least_squares.summary import column_positions
from pellucid.plots.panels.inputs import same_kind, table


class Sweep(NamedTuple):
    """Rows along which one input moves."""

    column: int
    name: str
    grid: Array  # (g,)
    rows: Array  # (g, p)
    note: str  # what was held, for the title


class Table(NamedTuple):
    """A table of numbers with the names of its columns, and the table as it was given."""

    X: Array  # (n, p)
    names: tuple[str, ...]
    given: Any

    def like(self, rows: Array) -> Any:
        """Rows of numbers in the user's kind of frame, or the array."""
        return same_kind(self.given, rows)

    def at(self, column: np.ndarray) -> int:
        """The position of a column given by its name or number."""
        return column_positions([column], self.names)[0]

    def sweep(self, column: np.ndarray | None = None, *, widen: float = 0.0, n: int = 201) -> Sweep:
        """One input from end to end (and ``widen`` of the range beyond), the others at medians."""
        j = 0 if column is None else self.at(column)
        low, high = float(self.X[:, j].min()), float(self.X[:, j].max())
        room = widen * (high - low) if high > low else 1.0
        grid = np.linspace(low - room, high + room, n)
        rows = np.tile(np.median(self.X, axis=0), (n, 1))
        rows[:, j] = grid
        held = "other inputs at their median" if len(self.names) > 1 else ""
        return Sweep(j, self.names[j], grid, rows, held)


def read_table(X: ArrayLike, model: Model = None) -> Table:
    """A table as numbers; one column may come as a vector.

    An array for a model that was fitted on a frame gets the names of that frame.

    >>> read_table([1.0, 2.0]).names, read_table([[1, 2], [3, 4]]).X.shape
    (('x',), (2, 2))
    """
    if not is_frame(X):
        series = getattr(X, "name", None)
        X = np.asarray(X)
        plain, X = X.ndim == 1, X[:, None] if X.ndim == 1 else X
        known = getattr(model, "feature_names_in_", None)
        if known is not None and X.ndim == 2 and len(known) == X.shape[1]:
            import polars

            X = polars.DataFrame(np.asarray(X, dtype=np.float64), schema=list(map(str, known)))
        elif plain:
            return Table(table(X)[0], ("x" if series is None else str(series),), X)
    return Table(*table(X), X)


def with_note(title: str, note: str) -> str:
    """A title, and below it what was held."""
    return f"{title}\n({note})" if note else title


def last_step(model: Model) -> Any:
    """The estimator at the end of a pipeline, or the estimator itself; it must be fitted."""
    model = model.steps[-1][1] if isinstance(model, Pipeline) else model
    check_is_fitted(model)
    return model


def with_last(E: Model, last: Any) -> Any:
    """A pipeline that ends with another estimator; that estimator itself where E is no pipeline."""
    if not isinstance(E, Pipeline):
        return last
    line = copy(E)
    line.steps = [*E.steps[:-1], (E.steps[-1][0], last)]
    return line


def features_of(model: Model, rows: np.ndarray) -> Array:
    """The columns that the last step of a pipeline sees."""
    Z = model[:-1].transform(rows) if isinstance(model, Pipeline) and len(model) > 1 else rows
    Z = frame_matrix(Z) if is_frame(Z) else Z
    return np.asarray(Z.toarray() if hasattr(Z, "toarray") else Z, dtype=np.float64)


def labelled(models: Any) -> list[tuple[str, Any]]:
    """(label, model) pairs from a model, a list of them, or a dictionary; labels differ.

    >>> from pellucid import LinearRegression
    >>> [label for label, _ in labelled([LinearRegression(), LinearRegression()])]
    ['LinearRegression 1', 'LinearRegression 2']
    """
    if isinstance(models, dict):
        pairs = [(str(label), model) for label, model in models.items()]
    else:
        several = isinstance(models, list | tuple) and not hasattr(models, "_fields")
        pairs = [(label_of(model), model) for model in (models if several else [models])]
    if not pairs:
        raise ValueError("at least one fitted model is needed, got none")
    names = [label for label, _ in pairs]
    found = []
    for i, (label, model) in enumerate(pairs):
        again = names.count(label) > 1
        found.append((f"{label} {names[: i + 1].count(label)}" if again else label, model))
    return found


def label_of(model: Model) -> str:
    """A short name: the basis of a pipeline, the solver and its rate, or the class."""
    if isinstance(model, Pipeline):
        last = label_of(model.steps[-1][1])
        return f"{type(model.steps[-2][1]).__name__} + {last}" if len(model) > 1 else last
    if hasattr(model, "regressor_"):
        return f"scaled inputs, {label_of(model.regressor_)}"
    solver = getattr(model, "solver", None)
    if solver is None or isinstance(solver, str):
        return type(model).__name__
    rate, batch = getattr(solver, "learning_rate", None), getattr(solver, "batch_size", None)
    parts = [type(solver).__name__]
    if rate is not None:
        parts.append(f"rate {rate:g}" if isinstance(rate, int | float) else f"rate {rate}")
    if batch is not None:
        parts.append(f"{batch} row{'s' if batch != 1 else ''} at a time")
    return ", ".join(parts)
