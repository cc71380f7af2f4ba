"""conditioning: the example, relations, advice."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from pellucid.core.algebra.relations import exact_relations
from pellucid.features import add_dummy_feature
from pellucid.maths import conditioning

g = np.random.default_rng(0)


def test_example_19_units():
    """Example 8 of the foundations as well."""
    rs = np.random.RandomState(0)
    X = np.column_stack([rs.uniform(0, 1, 50), rs.uniform(0, 100, 50)])
    found = conditioning(add_dummy_feature(X))
    assert_allclose(found.condition, 47166.71, atol=0.01)
    assert_allclose(found.condition_scaled, 1.193620, atol=1e-6)
    D = np.column_stack([np.ones(50), X])
    assert_allclose(found.condition, np.linalg.cond(D.T @ D / 50), rtol=1e-8)
    assert found.unique
    assert found.exact_fit is None


def test_combinations_by_name():
    X = g.integers(-4, 5, size=(30, 3)).astype(float)
    frame = pl.DataFrame({"x1": X[:, 0], "x2": X[:, 1], "x3": X[:, 2], "x4": X[:, 0] + X[:, 1]})
    found = conditioning(frame)
    assert found.combinations == ("x4 = x1 + x2",)
    assert (found.rank, found.n_columns, found.unique) == (3, 4, False)
    assert found.condition == np.inf
    assert found.advice[0].startswith("drop")
    named = conditioning(frame.to_numpy(), feature_names=["a", "b", "c", "d"])
    assert named.combinations == ("d = a + b",)


def test_exact_fit():
    X = g.normal(size=(10, 3))
    assert conditioning(X, X @ [1.0, -2.0, 0.5]).exact_fit
    assert not conditioning(X, g.normal(size=10)).exact_fit
    assert conditioning(g.normal(size=(3, 3)), [1.0, 2.0, 3.0]).exact_fit


def test_advice():
    X = g.normal(size=(50, 3))
    assert "directly" in conditioning(X).advice[0]
    assert conditioning(X * [1, 1e5, 1]).advice[0].startswith("scale")
    near = np.column_stack([X, X[:, 0] + 1e-5 * g.normal(size=50)])
    assert conditioning(near).advice[0].startswith("ridge")
    from pellucid.maths.matrices.condition import _advice

    assert "iterative" in _advice(10**7, 50_000, (), 1.0, 1.0)[0]


def test_refusals():
    with pytest.raises(ValueError, match="2 names"):
        conditioning([[1, 2], [3, 5]], feature_names=["a"])
    with pytest.raises(ValueError, match="same number of rows"):
        conditioning([[1, 2], [3, 5]], [1])
    with pytest.raises(ValueError, match="finite"):
        conditioning([[1, np.inf]])
    with pytest.raises(ValueError, match="rows and columns"):
        conditioning(np.zeros((0, 2)))


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("intercept", [True, False])
def test_relations_reproduce_the_columns(scale, intercept):
    base = g.normal(size=(40, 4)) * scale + 3
    mix = g.normal(size=(4, 3))
    X = np.column_stack([base, base @ mix + (2.0 if intercept else 0.0)])
    found = exact_relations(X, intercept=intercept)
    assert found.kept == [0, 1, 2, 3]
    for relation in found.relations:
        value = relation.intercept + sum(c * X[:, k] for k, c in relation.coefficients.items())
        assert_allclose(value, X[:, relation.column], rtol=1e-6)
