"""The fixed tree and the centred moments."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pellucid.core.loops import statistics
from pellucid.core.loops.statistics import (
    LEAF_ROWS,
    MemorySpan,
    Node,
    Rows,
    Statistic,
    is_unit,
    merge_moments,
    merge_nodes,
    moments,
    reduce_rows,
    summarise_span,
    unit_weights,
)
from pellucid.core.runtime.threads import limit_threads, map_threads

rng = np.random.default_rng(0)


def leaf_moments(rows):
    return moments(rows.X, rows.w)


MOMENTS = Statistic(leaf_moments, merge_moments)


def bracket(a, b):
    return f"({a}{b})"


@given(st.integers(1, 40), st.lists(st.integers(1, 39), max_size=6))
def test_any_cut_gives_the_same_tree(n, cuts):
    leaves = [Node(0, i, f"[{i}]") for i in range(n)]
    whole = merge_nodes(leaves, bracket)
    edges = sorted({0, n, *(c for c in cuts if c < n)})
    nodes = []
    for a, b in pairwise(edges):
        stack = []
        for leaf in leaves[a:b]:
            statistics.push(stack, leaf, bracket)
        assert len(stack) <= 2 * n.bit_length()
        nodes += stack
    assert merge_nodes(nodes, bracket) == whole


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="no rows"):
        merge_nodes([], bracket)


def rows_of(n, p=3, weighted=False):
    X = rng.normal(size=(n, p)) + 100
    w = rng.integers(0, 3, size=n).astype(float) if weighted else unit_weights(n)
    return Rows(X, None, w)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n", [1, 5, LEAF_ROWS, 3 * LEAF_ROWS + 7])
def test_moments_oracle(n, weighted):
    rows = rows_of(n, weighted=weighted)
    if not rows.w.any():
        pytest.skip("all weights zero")
    got = reduce_rows(MOMENTS, rows, map_threads)
    mean = np.average(rows.X, axis=0, weights=rows.w)
    C = rows.X - mean
    assert got.weight == rows.w.sum()
    assert_allclose(got.mean, mean, rtol=1e-14)
    assert_allclose(got.scatter, (C * rows.w[:, None]).T @ C, rtol=1e-10, atol=1e-8)


def test_same_bits_for_any_threads_and_spans():
    rows = rows_of(9 * LEAF_ROWS + 11)
    results = []
    for n in (1, 2, 5):
        with limit_threads(n):
            results.append(reduce_rows(MOMENTS, rows, map_threads))
    for step in (1, 2, 7):
        size = step * LEAF_ROWS
        spans = [
            MemorySpan(rows, a, min(a + size, rows.n_rows)) for a in range(0, rows.n_rows, size)
        ]
        nodes = [node for span in spans for node in summarise_span(MOMENTS, span)]
        results.append(merge_nodes(nodes, merge_moments))
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert_array_equal(a, b)


@settings(max_examples=30, deadline=None)
@given(st.floats(-1e12, 1e12), st.integers(2, 300))
def test_centring_survives_a_large_shift(shift, n):
    Z = np.random.default_rng(n).normal(size=(n, 2))
    shifted = Z + shift
    C = shifted - shifted.mean(axis=0)
    exact = C.T @ C
    half = n // 2
    a, b = (moments(part, unit_weights(len(part))) for part in (shifted[:half], shifted[half:]))
    scale = 1e-9 + 4e-16 * abs(shift)  # the data themselves are rounded by the shift
    assert_allclose(merge_moments(a, b).scatter, exact, atol=n * 30 * scale)


def test_weights_are_repetitions():
    rows = rows_of(50, weighted=True)
    repeated = np.repeat(rows.X, rows.w.astype(int), axis=0)
    a, b = leaf_moments(rows), moments(repeated, unit_weights(len(repeated)))
    for x, y in zip(a, b, strict=True):
        assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def test_a_leaf_of_zero_weight_counts_nothing():
    Z = rng.normal(size=(4, 2))
    empty = moments(Z, np.zeros(4))
    full = moments(Z, unit_weights(4))
    for a, b in zip(merge_moments(empty, full), full, strict=True):
        assert_array_equal(a, b)
    for a, b in zip(merge_moments(full, empty), full, strict=True):
        assert_array_equal(a, b)


def test_unit_weights():
    assert is_unit(unit_weights(5))
    assert is_unit(unit_weights(5)[2:4])
    assert not is_unit(np.ones(5))
    assert unit_weights(10**9).nbytes == 8 * 10**9  # claimed, never allocated


def test_one_standard_error_keeps_what_is_exactly_at_the_bar():
    """Without any error the best is within its own error; a simpler model at the bar is taken."""
    from pellucid.core.loops.selection import one_standard_error

    assert one_standard_error([3.0, 1.0, 2.0], [0.0] * 3, [1, 2, 3], greater_is_better=False) == 1
    assert one_standard_error([1.5, 1.0], [0.5, 0.5], [1, 2], greater_is_better=False) == 0
    assert one_standard_error([0.5, 1.0], [0.5, 0.5], [1, 2]) == 0
