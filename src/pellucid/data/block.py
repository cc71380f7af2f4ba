"""Blocks of rows: a table that may be larger than memory, read again as often as needed.

A fit asks for *spans*: ranges of whole leaves of LEAF_ROWS rows that start at multiples of
LEAF_ROWS whatever the file's own chunks are, so the sums over them have the same bits for any
block size. A span names its file by path, is a few kilobytes when sent to another process, and
reads its rows there, PIECE_CELLS cells at a time at most. Spans smaller than a piece share the
last pieces read through a small cache, since decoding costs about the same for 100 and 10,000
rows.
"""

import uuid
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.sparse import issparse

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import column_vector
from pellucid.core.arrays.reading import row_table
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.loops.statistics import LEAF_ROWS, Rows
from pellucid.data.doors.dask_collections import is_dask_array, open_dask_array
from pellucid.data.doors.parts import PartTable, shared_cache
from pellucid.data.loader import describe, known_columns, name_list
from pellucid.data.opening import is_array, open_table, to_matrix
from pellucid.data.table import FrameTable, Stack

PIECE_CELLS = 1 << 22  # 32 MB of float64
PIECE_LEAVES = 32
SHARED_LEAVES = 16
ROW_TARGET, ROW_WEIGHT = "__target__", "__weight__"


class FrameRows(NamedTuple):
    """Features, target and weights of a table with named columns."""

    table: Any
    features: tuple[str, ...]
    target: str | tuple[str, ...] | None
    weight: str | None

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def width(self) -> int:
        return len(self.features)

    def read(self, start: int, stop: int) -> Rows:
        targets = [] if self.target is None else name_list(self.target, "target")
        extra = [] if self.weight is None else [self.weight]
        columns = list(dict.fromkeys([*self.features, *targets, *extra]))
        frame = self.table.read(start, stop, columns)
        X = frame.select(self.features) if self.features else np.empty((stop - start, 0))
        y = None
        if self.target is not None:
            y = frame[self.target] if isinstance(self.target, str) else frame.select(targets)
        w = None if self.weight is None else column_vector(frame[self.weight], "the weight")
        return Rows(X, y, w)  # type: ignore[arg-type]

    def cut(self, start: int, stop: int) -> "FrameRows":
        return self._replace(table=self.table.cut(start, stop))

    def only_target(self) -> "FrameRows":
        return self._replace(features=())


class ArrayRows(NamedTuple):
    """Features, target and weights in arrays, from row ``first`` on."""

    X: Any  # dense, or sparse by rows (CSR)
    y: Any
    w: Any
    first: int = 0

    @property
    def n_rows(self) -> int:
        return self.first + self.X.shape[0]

    @property
    def width(self) -> int:
        return self.X.shape[1]

    @property
    def features(self) -> None:
        return None

    def read(self, start: int, stop: int) -> Rows:
        return Rows(*(part_of(part, start - self.first, stop - self.first) for part in self[:3]))

    def cut(self, start: int, stop: int) -> "ArrayRows":
        return ArrayRows(*self.read(start, stop), start)

    def only_target(self) -> "ArrayRows":
        return self._replace(X=self.X[:, :0])


def part_of(part: Any, start: int, stop: int) -> Any:
    """Rows of an array, a frame or a series; None stays None."""
    return None if part is None else part[start:stop]


_pieces = shared_cache(size=3)


class BlockSpan(NamedTuple):
    """A range of whole leaves; it reads its own rows wherever it is."""

    rows: Any
    start: int
    stop: int
    piece: int  # rows to read at a time
    token: str | None  # of the blocks, when small spans share pieces

    def leaves(self) -> Iterator[Rows]:
        """Yield the rows, LEAF_ROWS at a time."""
        for first, piece in self._read():
            low = max(self.start - first, 0)
            high = min(self.stop - first, piece.n_rows)
            for start in range(low, high, LEAF_ROWS):
                stop = min(start + LEAF_ROWS, high)
                yield Rows(*(part_of(part, start, stop) for part in piece))

    def _read(self) -> Iterator[tuple[int, Rows]]:
        if self.token is None:
            for first in range(self.start, self.stop, self.piece):
                yield first, self.rows.read(first, min(first + self.piece, self.stop))
            return
        for first in range(self.start // self.piece * self.piece, self.stop, self.piece):
            last = min(first + self.piece, self.rows.n_rows)
            yield first, _pieces.get((self.token, first), lambda: self.rows.read(first, last))  # noqa: B023


class Blocks:
    """Rows that can be read again and again, a block at a time; made by :func:`blocks`.

    Parameters
    ----------
    rows : FrameRows or ArrayRows
        Where the rows come from.
    schema : dict of str to str
        Column names and their types.
    block_rows : int
        Rows of a block.
    target : str, tuple of str, True or None
        The target columns; True where an array was given.

    Attributes
    ----------
    n_rows, n_features, block_rows : int
    feature_names : list of str, or None for plain arrays
    target : str, tuple of str, True (an array was given) or None
    schema : dict of column name -> type, as text

    Examples
    --------
    >>> from pellucid.data import blocks
    >>> data = blocks({"a": [1.0, 2.0, 3.0], "y": [0, 1, 1]}, target="y", block_rows=2)
    >>> [(X["a"].to_list(), y.to_list()) for X, y in data]
    [([1.0, 2.0], [0, 1]), ([3.0], [1])]
    """

    def __init__(self, rows: Any, schema: dict[str, str], block_rows: int, target: Any) -> None:
        self._rows = rows
        self._token = uuid.uuid4().hex
        self.schema = schema
        self.block_rows = block_rows
        self.target = target
        weakref.finalize(self, _pieces.forget, self._token)

    @property
    def n_rows(self) -> int:
        return self._rows.n_rows

    @property
    def feature_names(self) -> list[str] | None:
        return None if self._rows.features is None else list(self._rows.features)

    @property
    def n_features(self) -> int:
        return self._rows.width

    def __repr__(self) -> str:
        return (
            f"Blocks({self.n_rows} rows x {self.n_features} columns, target={self.target!r}, "
            f"block_rows={self.block_rows})"
        )

    def __len__(self) -> int:
        """The number of blocks."""
        return -(-self.n_rows // self.block_rows)

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        """Yield ``(X, y)`` with ``block_rows`` rows each; the last may be shorter."""
        step = max(1, self._piece() // self.block_rows) * self.block_rows
        for first in range(0, self.n_rows, step):
            piece = self._rows.read(first, min(first + step, self.n_rows))
            for start in range(0, piece.n_rows, self.block_rows):
                stop = min(start + self.block_rows, piece.n_rows)
                yield part_of(piece.X, start, stop), part_of(piece.y, start, stop)

    def only_target(self) -> "Blocks":
        """The same rows without features: reads the target column alone."""
        return Blocks(self._rows.only_target(), self.schema, self.block_rows, self.target)

    def spans(self) -> list[BlockSpan]:
        """Ranges of whole leaves, about ``block_rows`` each, that read themselves."""
        step = max(1, self.block_rows // LEAF_ROWS) * LEAF_ROWS
        piece = self._piece()
        shared = min(piece, SHARED_LEAVES * LEAF_ROWS)
        token = None if keeps_pieces(self._rows) or step >= shared else self._token
        result = []
        for start in range(0, self.n_rows, step):
            stop = min(start + step, self.n_rows)
            if token is None:
                result.append(BlockSpan(self._rows.cut(start, stop), start, stop, piece, None))
            else:
                low = start // shared * shared
                high = min(-(-stop // shared) * shared, self.n_rows)
                rows = self._rows.cut(low, high)
                result.append(BlockSpan(rows, start, stop, shared, token))
        return result

    def _piece(self) -> int:
        leaves = PIECE_CELLS // (LEAF_ROWS * (self.n_features + 2))
        return LEAF_ROWS * min(max(leaves, 1), PIECE_LEAVES)


def keeps_pieces(rows: Any) -> bool:
    """Whether a small range costs no more than its rows: in memory, or in parts kept there."""
    if not isinstance(rows, FrameRows):
        return True
    parts = rows.table.parts if isinstance(rows.table, Stack) else (rows.table,)
    return isinstance(parts[0], FrameTable | PartTable)


def blocks(
    source: object,
    *,
    target: Any = None,
    columns: Sequence[Any] | None = None,
    sql: str | None = None,
    block_rows: int = 65536,
    weight: str | ArrayLike | None = None,
    format: str = "auto",
) -> Blocks:
    """Open a table for reading in blocks of rows, for data larger than memory.

    Parameters
    ----------
    source : as for :func:`load`
        Parquet, Arrow, CSV and JSON lines are read by row range; so are folders of them, PyArrow
        datasets, frames and arrays of Dask, Polars' lazy frames, addresses (``s3://``), Delta
        tables and sparse matrices. Packed and open files, queries, record batch readers, DuckDB
        relations and Iceberg tables are first written, a piece at a time, to a temporary folder.
    target : str, list of str, or array
        The column(s) to predict; an array only with data in memory.
    columns : list of str, optional
        The features; by default all columns but target and weight. Positions for an array.
    sql : str, optional
        The query, when ``source`` is a database.
    block_rows : int, default=65536
        Rows per block: memory in exchange for fewer reads, never a different answer.
    weight : str or array, optional
        Sample weights.
    format : str, default="auto"
        As for :func:`load`.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.data import blocks
    >>> data = blocks(np.arange(6.0).reshape(3, 2), target=np.array([1, 0, 1]), block_rows=2)
    >>> data
    Blocks(3 rows x 2 columns, target=True, block_rows=2)
    >>> [X.shape for X, y in data]
    [(2, 2), (1, 2)]
    """
    check.whole(block_rows=block_rows)
    block_rows = int(block_rows)
    if is_array(source):
        return array_blocks(to_matrix(source), target, columns, sql, block_rows, weight)
    if issparse(source):
        return array_blocks(row_table(source), target, columns, sql, block_rows, weight)
    if is_dask_array(source):
        return dask_array_blocks(source, target, columns, sql, block_rows, weight)
    table = open_table(source, sql=sql, format=format, in_memory=False)
    if isinstance(table, FrameTable):
        table, target_name = with_column(table, target, ROW_TARGET, "target")
        table, weight = with_column(table, weight, ROW_WEIGHT, "weight")
    else:
        target_name = target
    return table_blocks(table, target_name, columns, weight, block_rows, describe(source))


def table_blocks(
    table: Any, target: Any, columns: Any, weight: Any, block_rows: int, where: str
) -> Blocks:
    """Blocks of a table with named columns."""
    targets = name_list(target, "target")
    weights = name_list(weight, "weight")
    if len(weights) > 1:
        raise ValueError(f"weight must be one column, got {weights!r}")
    used = {*targets, *weights}
    features = [name for name in table.schema if name not in used]
    if columns is not None:
        features = [name for name in name_list(columns, "columns") if name not in used]
    known_columns([*targets, *weights, *features], table.schema, where)
    for name in weights:
        if not table.schema[name].is_numeric():
            raise ValueError(f"weight column {name!r} is {table.schema[name]}; numbers are needed")
    given = target if isinstance(target, str | None) else tuple(targets)
    rows = FrameRows(table, tuple(features), given, weights[0] if weights else None)
    schema = {name: str(table.schema[name]) for name in [*features, *targets, *weights]}
    return Blocks(rows, schema, block_rows, True if target == ROW_TARGET else given)


def with_column(table: FrameTable, value: Any, name: str, what: str) -> tuple[FrameTable, Any]:
    """Add a target or weight given as an array to a frame in memory, under a reserved name."""
    if value is None or isinstance(value, str) or is_name_list(value):
        return table, value
    column = pl.Series(name, value if isinstance(value, pl.Series) else as_vector(value, what))
    same_length(table.n_rows, len(column), what)
    return FrameTable(table.frame.with_columns(column)), name


def is_name_list(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)


def as_vector(value: Any, what: str) -> np.ndarray:
    vector = np.asarray(value)
    if vector.ndim != 1:
        raise ValueError(
            f"{what} must be a column name or one column of values, got {vector.shape}"
        )
    return vector


def same_length(n: int, m: int, what: str) -> None:
    if n != m:
        raise ValueError(f"{what} must have one value per row, got {m} values for {n} rows")


def dask_array_blocks(
    X: Any, target: Any, columns: Any, sql: Any, block_rows: int, weight: Any
) -> Blocks:
    """Blocks of an array of Dask, which is never computed whole."""
    if sql is not None:
        raise ValueError("sql goes with a database URL or connection, got an array")
    rows = open_dask_array(X, target, columns, weight)
    schema = {f"x{j}": str(X.dtype) for j in range(rows.width)}
    return Blocks(rows, schema, block_rows, None if target is None else True)


def array_blocks(
    X: Any, target: Any, columns: Any, sql: Any, block_rows: int, weight: Any
) -> Blocks:
    """Blocks of an array: columns by position, target and weight by position or as arrays."""
    if sql is not None:
        raise ValueError("sql goes with a database URL or connection, got an array")
    y, y_column = array_part(X, target, "target")
    w, w_column = array_part(X, weight, "weight")
    used = {y_column, w_column}
    kept = [j for j in range(X.shape[1]) if j not in used]
    if columns is not None:
        kept = [position(j, X.shape[1], "columns") for j in columns]
    if len(kept) < X.shape[1]:
        X = X[:, kept]
    if w is not None and w.dtype.kind not in "biuf":
        raise ValueError(f"weight must be numbers, got {w.dtype}")
    schema = {f"x{j}": str(X.dtype) for j in kept}
    return Blocks(ArrayRows(X, y, w), schema, block_rows, None if y is None else True)


def array_part(X: Any, value: Any, what: str) -> tuple[Any, int | None]:
    if value is None:
        return None, None
    if isinstance(value, str):
        raise ValueError(f"an array has no column names: {what} must be a position or an array")
    if np.ndim(value) == 0:
        j = position(value, X.shape[1], what)
        column = X[:, [j]].toarray().ravel() if issparse(X) else X[:, j]
        return column, j
    vector = np.asarray(value)
    same_length(X.shape[0], len(vector), what)
    return vector, None


def position(j: Any, n_columns: int, what: str) -> int:
    check.whole(at_least=0, **{what: j})
    if j >= n_columns:
        raise ValueError(f"{what} must be below {n_columns}, the number of columns, got {j!r}")
    return int(j)
