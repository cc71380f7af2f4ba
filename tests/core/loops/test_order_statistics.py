"""Quantiles over blocks are those of memory, for any numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pellucid.core.arrays.quantiles import column_quantiles
from pellucid.core.loops import order_statistics as radix
from pellucid.core.loops.order_statistics import block_quantiles, sortable, unsorted
from pellucid.core.loops.statistics import LEAF_ROWS, Rows, unit_weights

Q = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
ANY = st.floats(allow_nan=False, allow_infinity=False)


def both(X):
    w = unit_weights(len(X))
    expected = column_quantiles(X, Q, w)
    found, n = block_quantiles(Rows(np.ascontiguousarray(X), None, w), map, X.shape[1], Q)
    assert_array_equal(n, (~np.isnan(X)).sum(axis=0))
    return found, expected


@pytest.mark.parametrize("few", [1 << 17, 3, 0])
def test_quantiles_of_every_kind_of_column(monkeypatch, few):
    """Collected at once, late, or never: every bit is found by counting."""
    monkeypatch.setattr(radix, "FEW", few)
    monkeypatch.setattr(radix, "PER_QUESTION", min(few, radix.PER_QUESTION))
    rng = np.random.default_rng(0)
    n = LEAF_ROWS + 77
    X = np.column_stack(
        [rng.normal(size=n), rng.integers(0, 3, n), np.full(n, -2.5), rng.lognormal(0, 40, n),
         -(10.0 ** rng.integers(-300, 300, n)), np.full(n, np.nan)]
    )  # fmt: skip
    X[rng.random(n) < 0.2, 0] = np.nan
    assert_array_equal(*both(X))


@given(st.lists(ANY, min_size=1, max_size=30))
def test_keys_keep_order_and_value(values):
    x = np.array(values)
    assert_array_equal(unsorted(sortable(x)), x)
    assert_array_equal(np.argsort(sortable(x), kind="stable"), np.argsort(x, kind="stable"))


def test_few_passes_and_no_weights():
    X = np.random.default_rng(0).normal(size=(3 * LEAF_ROWS, 2))
    passes = []

    def counting(function, items):
        passes.append(1)
        return map(function, items)

    block_quantiles(Rows(X, None, unit_weights(len(X))), counting, 2, Q)
    assert len(passes) <= 3
    with pytest.raises(ValueError, match="take no sample weights"):
        block_quantiles(Rows(X, None, np.ones(len(X))), map, 2, Q)


@pytest.mark.parametrize("most", [4096, 40])
def test_many_quantiles_a_few_columns_at_a_time(monkeypatch, most):
    monkeypatch.setattr(radix, "MOST", most)
    X = np.random.default_rng(0).lognormal(0, 3, size=(2 * LEAF_ROWS, 7))
    X[::5, 3] = np.nan
    q, w = np.linspace(0, 1, 11), unit_weights(len(X))
    found, n = block_quantiles(Rows(X, None, w), map, 7, q)
    assert_array_equal(found, column_quantiles(X, q, w))
    assert_array_equal(n, (~np.isnan(X)).sum(axis=0))


def test_a_thousand_quantiles_are_collected_rather_than_counted(monkeypatch):
    """As many counts as values would come back: a pass less, and no table of counts."""
    X = np.random.default_rng(0).normal(size=(4 * LEAF_ROWS, 1))
    q, passes = np.linspace(0, 1, 1000), []

    def counting(function, items):
        passes.append(1)
        return map(function, items)

    monkeypatch.setattr(radix, "FEW", 0)
    found, _ = block_quantiles(Rows(X, None, unit_weights(len(X))), counting, 1, q)
    assert_array_equal(found, column_quantiles(X, q, unit_weights(len(X))))
    assert len(passes) == 2
