"""The finder of categories against Python's own sets and dictionaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixed_tables import containers, text

from pellucid.core.arrays.columns import frame_columns
from pellucid.core.runtime.signatures import compile_modules
from pellucid.core.runtime.threads import limit_threads
from pellucid.features.encoding import categories
from pellucid.features.encoding import category_kernels as compiled
from pellucid.features.encoding.categories import (
    comparable,
    find_values,
    indicator_matrix,
    look_up,
    object_array,
    sorted_values,
    value_matrix,
)

rng = np.random.default_rng(0)


def same_cells(found, j, cells):
    got = [comparable(v) for v in found.values[j][found.codes[j]].tolist()]
    assert got == [comparable(v) for v in cells]
    assert len({comparable(v) for v in found.values[j].tolist()}) == len(found.values[j])


ARRAYS = {
    "int": rng.integers(-5, 6, size=(300, 3)),
    "far apart": rng.choice(np.array([-(2**62), 0, 2**62]), size=(300, 3)),
    "int32": rng.integers(-5, 6, size=(300, 3)).astype(np.int32),
    "uint64": rng.choice(np.array([0, 2**64 - 1, 2**63], dtype=np.uint64), size=(300, 3)),
    "bool": rng.random((300, 3)) < 0.5,
    "float": rng.choice([0.5, np.nan, -0.0, 0.0, 1e300], size=(300, 3)),
    "float32": rng.choice([0.5, np.nan, 2.0], size=(300, 3)).astype(np.float32),
    "text": rng.choice(np.array(["a", "bb", "", "bb "]), size=(300, 3)),
    "bytes": rng.choice(np.array([b"a", b"bb"]), size=(300, 3)),
    "objects": rng.choice(np.array(["a", None, "c"], dtype=object), size=(300, 3)),
    "dates": rng.choice(np.array(["2020-01-01", "2021-05-05"], dtype="M8[D]"), size=(300, 3)),
}


@pytest.mark.parametrize("kind", list(ARRAYS))
@pytest.mark.parametrize("layout", ["C", "F", "reversed", "strided"])
def test_every_kind_and_layout(kind, layout):
    X = ARRAYS[kind]
    if layout == "F":
        X = np.asfortranarray(X)
    elif layout == "reversed":
        X = X[::-1, ::-1]
    elif layout == "strided":
        X = X[::2, ::2]
    columns = [X[:, j] for j in range(X.shape[1])]
    found = find_values(columns)
    for j, cells in enumerate(columns):
        same_cells(found, j, cells.tolist())


@pytest.mark.parametrize("kind", ["int", "float", "text", "objects"])
def test_blocks_and_threads_change_nothing(kind, monkeypatch):
    columns = [ARRAYS[kind][:, j] for j in range(3)]
    whole = find_values(columns)
    monkeypatch.setattr(categories, "BLOCK_ROWS", 37)
    for threads in (1, 2, 3):
        with limit_threads(threads):
            found = find_values(columns)
        for j, cells in enumerate(columns):
            same_cells(found, j, cells.tolist())
            np.testing.assert_array_equal(
                look_up(found.values[j], sorted_values(found.values[j]))[found.codes[j]],
                look_up(whole.values[j], sorted_values(whole.values[j]))[whole.codes[j]],
            )


@pytest.mark.parametrize("cells", [[f"word {i % 997}" for i in range(5000)], list(range(5000)) * 2])
def test_objects_of_their_own(cells, monkeypatch):
    """Equal values in different objects: text by Polars, the rest by a dictionary."""
    monkeypatch.setattr(categories, "MANY_OBJECTS", 10)
    same_cells(find_values([object_array(cells)]), 0, cells)


def test_objects_of_their_own_with_nan_and_none(monkeypatch):
    monkeypatch.setattr(categories, "MANY_OBJECTS", 3)
    cells = [f"w{i % 9}" for i in range(50)] + [None, float("nan"), float("nan")]
    same_cells(find_values([object_array(cells)]), 0, cells)


def test_many_categories_grow_the_table():
    cells = rng.permutation(np.repeat(np.arange(40_000), 2))
    for column in (cells, cells.astype(float), cells.astype("U8")):
        found = find_values([column])
        assert len(found.values[0]) == 40_000
        np.testing.assert_array_equal(found.values[0][found.codes[0]], column)


@pytest.mark.parametrize("name", list(containers(text(0))))
def test_frames(name):
    X = text(3)
    frame = containers(X)[name]
    found = find_values(frame_columns(frame))
    missing = np.nan if "pandas" in name and "object" not in name else None
    for j in range(3):
        same_cells(found, j, [missing if v is None else v for v in X[:, j]])


@given(st.lists(st.one_of(st.text(max_size=3), st.none(), st.just(float("nan"))), min_size=1))
@settings(max_examples=60, deadline=None)
def test_any_text(cells):
    found = find_values([object_array(cells)])
    same_cells(found, 0, cells)
    ordered = sorted_values(found.values[0]).tolist()
    present = [v for v in ordered if isinstance(v, str)]
    assert present == sorted(present)
    assert ordered[: len(present)] == present


@given(st.lists(st.one_of(st.integers(-9, 9), st.floats(allow_infinity=False)), min_size=1))
@settings(max_examples=60, deadline=None)
def test_any_numbers(cells):
    values = np.array(cells, dtype=float)
    found = find_values([values])
    np.testing.assert_array_equal(np.sort(found.values[0]), np.unique(values))
    np.testing.assert_array_equal(found.values[0][found.codes[0]] + 0.0, values + 0.0)


def test_look_up():
    known = np.array([1.0, 3.0, np.nan])
    np.testing.assert_array_equal(look_up(np.array([np.nan, 2.0, 1.0]), known), [2, -1, 0])
    words = object_array(["b", "a", None])
    np.testing.assert_array_equal(look_up(object_array(["a", "z", None]), words), [1, -1, 2])
    assert look_up(np.array([3]), object_array([1, 3])).tolist() == [1]


def test_matrices_are_numpy_indexing():
    codes = rng.integers(4, size=(3, 50)).astype(np.int32)
    found = categories.Found([np.arange(4)] * 3, codes)
    maps = [np.array([0, 1, -1, 2]), np.array([3, 4, 5, 6]), np.array([-1, -1, 7, 8])]
    dense = np.zeros((50, 9))
    for j in range(3):
        for i in range(50):
            if maps[j][codes[j, i]] >= 0:
                dense[i, maps[j][codes[j, i]]] = 1
    np.testing.assert_array_equal(indicator_matrix(found, maps, 9, np.float64).toarray(), dense)
    values = value_matrix(found, [m * 1.5 for m in maps], np.float64)
    expected = [m[c] * 1.5 for m, c in zip(maps, codes, strict=True)]
    np.testing.assert_array_equal(values, np.column_stack(expected))
    assert value_matrix(found, [m.astype(object) for m in maps], object).dtype == object


def test_mixed_types_are_refused():
    with pytest.raises(TypeError, match=r"string.*number"):
        sorted_values(object_array(["a", 1]))


def test_kernels_warm():
    compile_modules([compiled.__name__])
