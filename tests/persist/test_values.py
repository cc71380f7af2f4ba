"""The value tree: every kind of value comes back with its type and bits."""

import math
import struct
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from model_files import Mean, bits, load_of, round_trip, trip
from scipy import sparse

# --- values --------------------------------------------------------------------------------------

DTYPES = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.floating_dtypes(sizes=(16, 32, 64), endianness="?"),
    hnp.unicode_string_dtypes(max_len=5),
    hnp.byte_string_dtypes(max_len=5),
)
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
NUMPY_SCALARS = DTYPES.flatmap(hnp.from_dtype).map(
    lambda value: value if isinstance(value, np.generic) else np.asarray(value)[()]
)
FLOATS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(0, 2**64 - 1).map(lambda n: struct.unpack(">d", n.to_bytes(8, "big"))[0]),
)
KEYS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()
)
SCALARS = st.one_of(KEYS, FLOATS, NUMPY_SCALARS)
LEAVES = st.one_of(
    SCALARS,
    ARRAYS,
    ARRAYS.map(np.asfortranarray),
    hnp.arrays(object, 3, elements=st.one_of(st.text(), st.none(), st.booleans(), FLOATS)),
    st.slices(5),
    st.builds(  # what a file may count
        lambda start, n, step: range(start, start + n * step, step),
        st.integers(),
        st.integers(0, 2**20),
        st.integers(1),
    ),
    st.sampled_from([np.float64, np.int8, float, str, object, np.dtype("f4"), np.dtype("O")]),
    st.lists(FLOATS, min_size=30, max_size=40),
    st.lists(st.integers(-(2**63), 2**64), min_size=30, max_size=40),
    st.lists(st.fixed_dictionaries({"step": st.integers(), "w": ARRAYS}), max_size=4),
)
HASHABLE = st.recursive(KEYS, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(HASHABLE, inner, max_size=4),
        st.sets(HASHABLE, max_size=4),
        st.frozensets(HASHABLE, max_size=4),
    ),
    max_leaves=8,
)


@given(VALUES)
@settings(deadline=None, max_examples=300)
def test_values_come_back_bit_equal(value):
    assert bits(trip(value)) == bits(value)


@given(VALUES)
@settings(deadline=None, max_examples=30)
def test_values_come_back_from_files(value):
    model = Mean(start=value)
    with tempfile.TemporaryDirectory() as folder:
        assert bits(round_trip(model, Path(folder) / "m").start) == bits(value)


@pytest.mark.parametrize(
    "value",
    [
        -0.0,
        math.nan,
        -math.nan,
        math.inf,
        -math.inf,
        5e-324,
        2**4096 - 1,
        "\x00 \u2028 \U0001f600",
        np.array(3.5),
        np.empty((0, 3)),
        np.empty((3, 0), order="F"),
        np.array([-0.0, np.nan]),
        np.array([0x7FF0000000000001, 0xFFF8000000000123], dtype="u8").view("f8"),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(12)[::2],
        np.arange(24).reshape(2, 3, 4).transpose(1, 0, 2),
        np.array([["a", None], [1, math.nan]], dtype=object, order="F"),
        np.array(["é", "日本"]),
        np.float16(0.1),
        np.longlong(3).astype("i8"),
        np.str_("a"),
        (1, [2, {3: (4,)}], {5, "x"}, frozenset({None})),
        {1: "a", "1": "b", (1, 2): "c", None: 0},
        sparse.random(5, 7, 0.3, format="csr", random_state=0),
        sparse.csc_array(np.eye(3)),
        sparse.csr_matrix((3, 2**40 // 512)),
        [np.full((2, 2), float(i)) for i in range(40)],
        [np.array(float(i)) for i in range(40)],
    ],
    ids=lambda value: repr(value)[:20],
)
def test_edge_values(value):
    contiguous = isinstance(value, np.ndarray) and not value.flags.forc
    again = trip(value)
    assert bits(again) == bits(np.ascontiguousarray(value) if contiguous else value)


def test_memory_maps_and_ragged_arrays(tmp_path, path):
    stored = np.memmap(tmp_path / "raw", dtype="f8", mode="w+", shape=(3,))
    stored[:] = [1, 2, 3]
    ragged = np.empty(2, dtype=object)
    ragged[:] = [np.arange(2), np.arange(3)]
    model = Mean(start=(stored, ragged))
    again = load_of(model, path).start
    assert bits(again[0]) == bits(np.array([1.0, 2, 3]))
    assert bits(again[1]) == bits(ragged)
