r"""A table of categories as codes, and the counts of its families.

Every column becomes codes 0 .. card-1 into its sorted states, -1 where the cell is missing (NaN or
None). The counts of a family (u_1, .., u_m, v) are the array N[u_1, .., u_m, v]: what a table, a
score and a test are made of. Counts of disjoint sets of rows add up, so they are the statistic
over blocks; weights are repetitions.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.check import hint
from pellucid.core.arrays.columns import Text
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops.statistics import is_unit
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.features.encoding.categories import find_values, sorted_values
from pellucid.graphical.learning.count_kernels import count_family

MOST_STATES = 32_767  # codes are 16-bit numbers
MANY_CELLS = 2_000_000  # rows x families from which threads pay


class CodedTable(NamedTuple):
    """Codes of a table of categories."""

    names: tuple[Any, ...]
    states: tuple[tuple[Any, ...], ...]
    codes: Any  # (d, n) int16, C-contiguous; -1 is missing
    w: Array  # (n,), or empty for weights of 1

    @property
    def card(self) -> Any:
        return np.array([len(s) for s in self.states], np.int64)

    @property
    def n_rows(self) -> int:
        return self.codes.shape[1]

    @property
    def weight(self) -> float:
        """The sum of the weights: the number of rows they stand for."""
        return float(self.w.sum()) if len(self.w) else float(self.n_rows)

    @property
    def weights(self) -> Array:
        return self.w if len(self.w) else np.ones(self.n_rows)

    def place(self, name: object) -> int:
        """The number of a variable; an unknown name is refused."""
        if name not in self.names:
            near = hint(name, [str(n) for n in self.names])
            raise ValueError(f"there is no variable {name!r} in the data{near}")
        return self.names.index(name)


def absent(values: IntArray) -> Any:
    """Which values stand for a missing cell."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), bool)
    return np.array([v is None or v != v for v in values.tolist()], bool)


def n_cells(column: np.ndarray) -> int:
    """The length of a column as the door of ``base`` gives it."""
    if isinstance(column, np.ndarray):
        return len(column)
    return len(column.codes if hasattr(column, "codes") else column.series)


def bare_weights(w: Array | None) -> Array:
    """Weights as the kernels want them: nothing where all are 1."""
    w = np.asarray(w, np.float64)
    return np.empty(0) if is_unit(w) or (w == 1.0).all() else np.ascontiguousarray(w)


def enumerated_states(columns: Sequence[Any], names: Sequence[Any]) -> dict[Any, tuple[str, ...]]:
    """All values of the columns that are enumerations of Polars, whether a row has them or not.

    >>> import polars
    >>> size = polars.Series(["s", "s"], dtype=polars.Enum(["s", "m", "l"]))
    >>> enumerated_states([Text(size, None), np.array([1, 2])], ["size", "x"])
    {'size': ('s', 'm', 'l')}
    """
    return {
        name: tuple(column.series.dtype.categories)
        for name, column in zip(names, columns, strict=True)
        if isinstance(column, Text) and type(column.series.dtype).__name__ == "Enum"
    }


def encode_table(
    columns: Sequence[Any],
    names: Sequence[Any],
    w: np.ndarray,
    states: Any = None,
    *,
    lenient: bool = False,
) -> CodedTable:
    """Number the cells of columns as the door of ``base`` gives them.

    A value outside the given ``states`` of its variable is refused; ``lenient`` takes a number
    outside them for a missing cell, with a warning. A value that only rows of
    weight 0 show is no state.

    >>> table = encode_table([np.array(["b", "a", None], object)], ["x"], np.ones(3))
    >>> table.states, table.codes.tolist()
    ((('a', 'b'),), [[1, 0, -1]])
    """
    found = find_values(columns)
    w = np.asarray(w, np.float64)
    maps, kept = [], []
    for j, values in enumerate(found.values):
        given = None if states is None else states.get(names[j])
        known = _known_states(values, found.codes[j], w, given, names[j])
        kept.append(tuple(known.tolist()))
        maps.append(_places(values, known, names[j], given is not None, lenient))
    codes = np.empty((len(maps), found.n_rows), np.int16)

    def number(j: int) -> None:
        np.take(maps[j], found.codes[j], out=codes[j], mode="clip")

    few = codes.size < MANY_CELLS
    for _ in (map if few else map_threads)(number, range(len(maps))):
        pass
    return CodedTable(tuple(names), tuple(kept), codes, bare_weights(w))


def _known_states(values: np.ndarray, codes: np.ndarray, w: Array, given: Any, name: Any) -> Any:
    if given is not None:
        known = _array(given)
    else:
        shown = np.bincount(codes, w, len(values)) > 0
        known = sorted_values(values[shown & ~absent(values)])
    if len(known) > MOST_STATES:
        raise ValueError(
            f"variable {name!r} has {len(known)} states, at most {MOST_STATES} are accepted; "
            "cut a column of numbers into intervals first"
        )
    if len(known) == 0:
        raise ValueError(f"variable {name!r} has no value but missing ones: give its states")
    return known


def _array(values: Sequence[Any]) -> Any:
    array = np.asarray(values)
    kinds = {type(v) for v in values}
    if array.ndim != 1 or (len(kinds) > 1 and array.dtype.kind == "U"):
        array = np.empty(len(values), object)
        array[:] = list(values)
    return array


def _places(values: IntArray, known: Any, name: object, strict: bool, lenient: bool) -> Any:
    """The code of each distinct value, -1 for missing ones and those of weight 0."""
    gone = absent(values)
    numbers = {state: k for k, state in enumerate(known.tolist())}
    cells = [None if m else v for v, m in zip(values.tolist(), gone, strict=True)]
    place = np.array([-1 if c is None else numbers.get(c, -1) for c in cells], np.int16)
    unknown = (place < 0) & ~gone
    if strict and unknown.any():
        value = values[unknown].tolist()[0]
        if lenient and values.dtype.kind in "biuf":
            warn(
                f"variable {name!r} holds {value!r}, which the fit never saw ({unknown.sum()} such "
                "numbers): the cell counts as missing"
            )
            return place
        shown = ", ".join(repr(s) for s in known.tolist()[:8])
        raise ValueError(f"variable {name!r} has no state {value!r}; its states are {shown}")
    return place


def family_counts(table: CodedTable, families: Sequence[Sequence[int]]) -> list[Array]:
    """N[parents.., v] of every family (parents.., v); rows with a missing cell in it are left out.

    >>> table = CodedTable(("a", "b"), ((0, 1), (0, 1)), np.array([[0, 1, 1], [0, 1, 0]],
    ...     np.int16), np.empty(0))
    >>> family_counts(table, [(0, 1)])[0]
    array([[1., 0.],
           [1., 1.]])
    """
    card, codes, w = table.card, table.codes, table.w

    def count(family: Sequence[int]) -> Array:
        shape = tuple(int(card[v]) for v in family)
        size = int(np.prod(shape, dtype=np.float64))
        cells = np.empty(4 * size if 4 * size <= table.n_rows else size)
        count_family(codes, np.asarray(family, np.int64), card, w, cells)
        return cells[:size].reshape(shape).copy()

    if table.n_rows * len(families) < MANY_CELLS:
        return [count(family) for family in families]
    return list(map_threads(count, families))


def add_counts(a: list[Array], b: list[Array]) -> list[Array]:
    """Counts of two disjoint sets of rows taken together."""
    return [x + y for x, y in zip(a, b, strict=True)]
