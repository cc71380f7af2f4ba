"""Find the categories of columns of any kind, and the code of every cell.

Every column becomes distinct values and codes into them in one threaded sweep:

    numbers               hash of their bits, blocks of rows in threads
    text of fixed width   hash of their characters, the same way
    Python objects        hash of their addresses; only distinct objects are compared by value.
                          Columns in which nearly every cell is an object of its own go through
                          Polars (text) or a Python dictionary (anything else)
    frames' text          Polars' own categorical codes

What scikit-learn does to all n cells in Python (sort, compare, look up) is then done to the few
distinct values, and matrices are built from the codes by compiled sweeps. Categories are sorted;
None comes before NaN, and both after everything else.
"""

import ctypes
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array
from sklearn.utils._sparse import _align_api_if_sparse

from pellucid.core.arrays.columns import Text
from pellucid.core.arrays.typing import IntArray
from pellucid.core.runtime.threads import map_threads
from pellucid.features.encoding import category_kernels as compiled

Column: TypeAlias = Any  # an array, or text and categories as Polars and pandas hold them
Codes: TypeAlias = NDArray[np.int32]
BLOCK_ROWS = 131_072
MANY_OBJECTS = 16_384  # distinct objects in a block: addresses no longer stand for values


class Found(NamedTuple):
    """The distinct values of each column, in no particular order, and the code of every cell."""

    values: list[Any]  # p arrays (k_j,)
    codes: Codes  # (p, n) int32

    @property
    def n_rows(self) -> int:
        return self.codes.shape[1]

    def counts(self, j: int) -> Any:
        """How often each value of column j occurs."""
        counts = np.zeros(len(self.values[j]), np.int64)
        compiled.count_codes(self.codes[j], counts)
        return counts


def find_values(columns: Sequence[Any]) -> Found:
    """The distinct values and codes of columns as the door of ``base`` gives them.

    >>> found = find_values([np.array(["b", "a", "b"], dtype=object)])
    >>> found.values, found.codes
    ([array(['b', 'a'], dtype=object)], array([[0, 1, 0]], dtype=int32))
    """
    columns = _physical(columns)
    first = columns[0]
    n = len(first if isinstance(first, np.ndarray) else first.codes)
    codes = np.empty((len(columns), n), np.int32)
    blocks = row_blocks(n)
    keys = [_keys(column) for column in columns]
    jobs = [(j, a, b) for j, key in enumerate(keys) if key is not None for a, b in blocks]
    firsts = list(map_threads(lambda job: keys[job[0]].first(codes[job[0]], *job[1:]), jobs))
    by_column: dict[int, list[Any]] = {}
    for (j, *_), first in zip(jobs, firsts, strict=True):
        by_column.setdefault(j, []).append(first)
    merge = [(j, columns[j], keys[j], by_column.get(j), codes[j]) for j in range(len(columns))]
    return Found(list(map_threads(lambda job: _merge(blocks, *job[1:]), merge)), codes)


class Keys(NamedTuple):
    """Cells as 64-bit keys (width 0) or runs of ``width`` words, wherever they lie in memory."""

    flat: Any
    start: int
    stride: int
    width: int
    limit: int
    owner: Any  # keeps the memory of borrowed addresses alive

    def first(self, codes: Codes, a: int, b: int) -> Any:
        """Local codes of rows a..b-1; where each distinct key first occurs, counted from a."""
        start = self.start + a * self.stride
        if self.width:
            return compiled.distinct_words(self.flat, start, self.stride, self.width, codes[a:b])
        return compiled.distinct_keys(self.flat, start, self.stride, codes[a:b], self.limit)


def _keys(column: Column) -> Keys | None:
    """Keys that are equal where the cells are; None where only Python can tell."""
    if not isinstance(column, np.ndarray):
        column = column.codes
    kind = column.dtype.kind
    if kind in "biu":
        flat, start, stride = _flat(column) if column.dtype == np.int64 else (None, 0, 1)
        if flat is None:
            flat = np.ascontiguousarray(column).astype(np.int64)
        return Keys(flat, start, stride, 0, len(column) + 1, column)
    if kind == "f":
        bits = column.astype(np.float64) + 0.0  # -0.0 becomes 0.0
        bits[np.isnan(bits)] = np.nan  # one NaN for all
        return Keys(bits.view(np.int64), 0, 1, 0, len(column) + 1, bits)
    if kind == "U" and column.dtype.itemsize and column.dtype.isnative:
        width = column.dtype.itemsize // 4
        flat, start, stride = _words(column, width)
        return Keys(flat, start, stride, width, 0, column)
    if kind == "O":
        flat, start, stride = _flat(column)
        if flat is None:
            column = np.ascontiguousarray(column)
            flat, start, stride = _flat(column)
        return Keys(flat, start, stride, 0, MANY_OBJECTS, column)
    return None


def _flat(column: Column) -> tuple[Any, int, int]:
    """The memory of a column of 8-byte cells as int64 and its stride; None if it runs backward."""
    step = column.strides[0]
    if step <= 0 or step % 8 or len(column) == 0 or not column.flags.aligned:
        return (None, 0, 1)
    stride = step // 8
    size = (len(column) - 1) * stride + 1
    address = column.__array_interface__["data"][0]
    return np.ctypeslib.as_array((ctypes.c_int64 * size).from_address(address)), 0, stride


def _words(column: Column, width: int) -> tuple[Any, int, int]:
    """The memory of a column of text of fixed width as 32-bit words."""
    if column.strides[0] <= 0 or column.strides[0] % 4:
        column = np.ascontiguousarray(column)
    if column.flags.c_contiguous:
        return column.view(np.uint32), 0, width
    stride = column.strides[0] // 4
    size = (len(column) - 1) * stride + width
    address = column.__array_interface__["data"][0]
    return np.ctypeslib.as_array((ctypes.c_uint32 * size).from_address(address)), 0, stride


def _merge(
    blocks: list[tuple[int, int]],
    column: Column,
    keys: Keys | None,
    firsts: list[IntArray] | None,
    codes: Codes,
) -> Any:
    """Number the values of all blocks together; returns the distinct values of the column."""
    if keys is None:
        values, inverse = np.unique(column, return_inverse=True)
        codes[:] = inverse
        return values
    if firsts is None:  # there are no rows
        return take(column, np.empty(0, dtype=np.intp))
    if any(len(first) == 0 for first in firsts):
        return _many_objects(column, codes)
    places = np.concatenate([a + first for (a, _), first in zip(blocks, firsts, strict=True)])
    places, number = _first_of_all(column, keys, places)
    values = take(column, places)
    if values.dtype.kind == "O" and isinstance(column, np.ndarray):
        values, same = distinct_objects(values.tolist())
        number = same[number]
    begin = 0
    for (a, b), first in zip(blocks, firsts, strict=True):
        compiled.renumber(codes[a:b], number[begin : begin + len(first)])
        begin += len(first)
    return values


def _first_of_all(column: Column, keys: Keys, places: IntArray) -> tuple[Any, Any]:
    """Of places found block by block, the first of each key, and the number of its key."""
    number = np.empty(len(places), np.int32)
    if keys.width:
        words = np.ascontiguousarray(column[places]).view(np.uint32)
        first = compiled.distinct_words(words, 0, keys.width, keys.width, number)
    else:
        local = keys.flat[keys.start + places * keys.stride]
        first = compiled.distinct_keys(local, 0, 1, number, len(places) + 1)
    return places[first], number


def take(column: Column, places: IntArray) -> Any:
    """The cells at these places as an array."""
    if isinstance(column, np.ndarray):
        return column[places]
    if isinstance(column, Physical):
        cells = column.series.gather(places).to_list()
        return object_array([column.missing if cell is None else cell for cell in cells])
    codes = column.codes[places]
    cells, absent = np.asarray(column.values).take(codes, mode="clip"), codes < 0
    if absent.any():
        cells = cells.astype(np.float64 if cells.dtype.kind in "iuf" else object)
        cells[absent] = column.missing
    return cells


def _many_objects(column: Column, codes: Codes) -> Any:
    """Nearly every cell is an object of its own: compare all of them by value."""
    cells = column.tolist()
    if set(map(type, cells)) <= {str, type(None)}:
        import polars as pl

        physical = _physical([Text(pl.Series(cells, dtype=pl.String), None)])[0]
        first = compiled.distinct_keys(physical.codes, 0, 1, codes, len(codes) + 1)
        return take(physical, first)
    values, codes[:] = distinct_objects(cells)
    return values


def distinct_objects(cells: list[Any]) -> tuple[Any, Any]:
    """Distinct Python values in order of appearance, and the number of each; all NaN are one.

    >>> distinct_objects(["b", None, "b"])
    (array(['b', None], dtype=object), array([0, 1, 0], dtype=int32))
    """
    table: dict[Any, int] = {}
    try:
        numbers = [table.setdefault(comparable(cell), len(table)) for cell in cells]
    except TypeError:
        raise _not_uniform(cells) from None
    return object_array(list(table)), np.array(numbers, np.int32)


def comparable(cell: object) -> Any:
    """The cell itself, and one NaN for every kind of NaN (pandas' NA too)."""
    if type(cell) is str or cell is None:
        return cell
    if isinstance(cell, float | np.floating) and cell != cell:
        return np.nan
    return np.nan if type(cell).__name__ == "NAType" else cell


def object_array(cells: list[Any]) -> Any:
    """A one-dimensional object array, whatever the cells are."""
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def _not_uniform(cells: list[Any]) -> TypeError:
    kinds = sorted({type(cell).__qualname__ for cell in cells})
    return TypeError(
        f"the argument must be uniformly strings or numbers in each column, got {kinds}"
    )


class Physical(NamedTuple):
    """Text that Polars has numbered: codes (n,) int64, -1 where missing."""

    codes: Codes
    series: Any
    missing: Any


def _physical(columns: Sequence[Any]) -> list[Any]:
    """Let Polars number all its text columns at once, in its threads."""
    texts = {str(j): column.series for j, column in enumerate(columns) if isinstance(column, Text)}
    if not texts:
        return list(columns)
    import polars as pl  # takes longer to load than all of a small fit

    own = pl.Categorical(pl.Categories.random()) if hasattr(pl, "Categories") else pl.Categorical
    cells = {name: pl.col(name) for name in texts}
    cells |= {n: pl.col(n).cast(own) for n, series in texts.items() if series.dtype == pl.String}
    whole = (cell.to_physical().cast(pl.Int64).fill_null(-1) for cell in cells.values())
    numbered = pl.DataFrame(texts).select(whole)
    return [
        Physical(numbered[str(j)].to_numpy(), column.series, column.missing)
        if isinstance(column, Text)
        else column
        for j, column in enumerate(columns)
    ]


def sorted_values(values: NDArray[Any]) -> Any:
    """Distinct values in order; None and NaN come last.

    >>> sorted_values(object_array(["b", None, "a"]))
    array(['a', 'b', None], dtype=object)
    """
    if values.dtype.kind != "O":
        return np.sort(values)
    cells = values.tolist()
    missing = [cell for cell in (None, np.nan) if any(v is cell for v in cells)]
    present = [cell for cell in cells if cell is not None and cell is not np.nan]
    try:
        return object_array([*sorted(present), *missing])
    except TypeError:
        raise _not_uniform(present) from None


def look_up(values: NDArray[Any], categories: NDArray[Any]) -> Any:
    """The place of each value among the categories, -1 where it is not one of them.

    >>> look_up(np.array([3.0, 2.5, np.nan]), np.array([1.0, 3.0, np.nan]))
    array([ 1, -1,  2], dtype=int32)
    """
    if values.dtype.kind in "biuf" and categories.dtype.kind in "biuf" and len(categories):
        at = np.searchsorted(categories, values).clip(max=len(categories) - 1)
        found = categories[at]
        known = (found == values) | ((found != found) & (values != values))
        return np.where(known, at, -1).astype(np.int32)
    place = {comparable(cell): i for i, cell in enumerate(categories.tolist())}
    return np.array([place.get(comparable(cell), -1) for cell in values.tolist()], np.int32)


def is_missing(cell: object) -> bool:
    """Whether a cell is NaN."""
    return comparable(cell) is np.nan


def row_blocks(n: int) -> list[tuple[int, int]]:
    """Row ranges for the threads of a sweep."""
    return [(a, min(a + BLOCK_ROWS, n)) for a in range(0, n, BLOCK_ROWS)]


def joined(maps: Sequence[Any], dtype: DTypeLike) -> tuple[Any, Any]:
    """One array per column laid end to end, and where each begins."""
    lengths = [len(column) for column in maps]
    starts = np.concatenate([[0], np.cumsum(lengths[:-1], dtype=np.int64)]).astype(np.int64)
    return np.concatenate(maps).astype(dtype, copy=False), starts


def indicator_matrix(found: Found, maps: Sequence[Any], n_columns: int, dtype: DTypeLike) -> Any:
    """The sparse 0/1 matrix with a one in column ``maps[j][code]``; -1 leaves the cell out."""
    p, n = found.codes.shape
    flat, starts = joined(maps, np.int32)
    blocks = row_blocks(n)
    if (flat >= 0).all():
        indptr = np.arange(0, n * p + 1, p, dtype=np.int32 if n * p < 2**31 else np.int64)
        indices = np.empty(n * p, np.int32)
        fill = lambda b: compiled.fill_full_rows(found.codes, flat, starts, *b, indices)  # noqa: E731
    else:
        indptr = np.zeros(n + 1, np.int64)
        count = lambda b: compiled.count_rows(found.codes, flat, starts, *b, indptr)  # noqa: E731
        list(map_threads(count, blocks))
        np.cumsum(indptr, out=indptr)
        indptr = indptr.astype(np.int32) if indptr[-1] < 2**31 else indptr
        indices = np.empty(indptr[-1], np.int32)
        fill = lambda b: compiled.fill_rows(found.codes, flat, starts, *b, indptr, indices)  # noqa: E731
    list(map_threads(fill, blocks))
    indices = indices.astype(indptr.dtype, copy=False)
    matrix = csr_array((np.ones(len(indices), dtype), indices, indptr), shape=(n, n_columns))
    return _align_api_if_sparse(matrix)


def value_matrix(found: Found, maps: Sequence[Any], dtype: DTypeLike) -> Any:
    """The dense matrix (n, p) of ``maps[j][code]``."""
    p, n = found.codes.shape
    flat, starts = joined(maps, dtype)
    out = np.empty((n, p), dtype)
    if np.dtype(dtype).kind not in "biuf" or np.dtype(dtype).itemsize > 8:  # not for compiled code
        for j in range(p):
            out[:, j] = maps[j][found.codes[j]]
        return out
    fill = lambda b: compiled.fill_values(found.codes, flat, starts, *b, out)  # noqa: E731
    list(map_threads(fill, row_blocks(n)))
    return out
