"""What the pictures are given: tables, targets, fitted models and columns, each with one sentence.

Nothing is drawn here, and nothing is learned: names and numbers are read off, one input is moved at
a time, models get their labels.
"""

from copy import copy
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.matrices import column_names, numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, Model
from pellucid.linear.least_squares.summary import column_positions


def table(X: ArrayLike) -> tuple[Array, tuple[str, ...]]:
    """The numbers of a table and the names of its columns.

    >>> table([[1, 2]])
    (array([[1., 2.]]), ('x0', 'x1'))
    """
    matrix = numeric_matrix(X, "X")
    return matrix, column_names(X, matrix.shape[1])


def response(y: ArrayLike, n: int, name: str = "y") -> tuple[Array, str]:
    """One target of n finite numbers, and its name where it has one.

    >>> response([[1], [2]], 2)
    (array([1., 2.]), 'y')
    """
    if is_frame(y):
        return response(numeric_matrix(y, name), n, column_names(y, 1)[0])
    label = getattr(y, "name", None)
    values = np.asarray(y, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must be one target at a time, got shape {values.shape}")
    if len(values) != n:
        raise ValueError(f"X and {name} must have as many rows, got {n} and {len(values)}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must hold finite numbers, got NaN or infinity")
    return values, name if label in (None, "") else str(label)


def same_kind(X: ArrayLike, matrix: Array) -> Any:
    """``matrix`` as a frame of the kind and column names of X, or as it is."""
    if not is_frame(X):
        return matrix
    names = column_names(X, matrix.shape[1])
    columns = {name: matrix[:, j] for j, name in enumerate(names)}
    space = nw.get_native_namespace(nw.from_native(X))
    return nw.to_native(nw.from_dict(columns, native_namespace=space))


def predicted(E: Model, X: ArrayLike) -> Array:
    """Predictions of one target, (n,)."""
    found = np.asarray(E.predict(X), dtype=np.float64)
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    if found.ndim != 1:
        raise ValueError(f"the picture shows one target at a time, got {found.shape[1]}")
    return found


def model_names(E: Model, p: int | None = None) -> tuple[str, ...]:
    """The names of the columns that a model was fitted on."""
    check_is_fitted(E)
    p = getattr(E, "n_features_in_", p)
    found = getattr(E, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(p or 0)) if found is None else tuple(map(str, found))


def given_names(names: Any, p: int) -> tuple[str, ...]:
    """The names a user gave for p columns, or x0, x1, ..."""
    if names is None:
        return tuple(f"x{j}" for j in range(p))
    names = tuple(map(str, names))
    if len(names) != p:
        raise ValueError(f"names must hold one name per column ({p}), got {len(names)}")
    return names


def two_columns(columns: Columns, names: tuple[str, ...]) -> tuple[int, int]:
    """Positions of two different columns, given by name or position."""
    found = column_positions(columns, names)
    if len(found) != 2:
        raise ValueError(f"columns must name two columns, got {columns!r}")
    return found[0], found[1]


def one_target(values: ArrayLike, target: int, ndim: int) -> Array:
    """The array of one target from that of one (``ndim`` axes) or of several (one axis more)."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim == ndim:
        return values
    if not 0 <= target < len(values):
        raise ValueError(f"target must be a position below {len(values)}, got {target!r}")
    return values[target]


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
