"""linear_separability against known cases and a plain linear programme."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from pellucid.linear import linear_separability


def margins(found, X, y):
    X, (classes, codes) = np.asarray(X, float), np.unique(y, return_inverse=True)
    if len(classes) == 2:
        return (X @ found.coef + found.intercept) * np.where(codes == 1, 1, -1)
    Z = X @ found.coef.T + found.intercept
    gaps = Z[np.arange(len(Z)), codes][:, None] - Z
    return gaps[np.arange(Z.shape[1]) != codes[:, None]]


def plain(X, y):
    """The textbook programme on all rows at once, for two classes."""
    D = np.column_stack([np.ones(len(X)), X]) * np.where(y == 1, 1, -1)[:, None]
    strict = linprog(np.zeros(D.shape[1]), A_ub=-D, b_ub=-np.ones(len(D)), bounds=(None, None))
    if strict.status == 0:
        return "separable"
    weak = linprog(-D.sum(axis=0), A_ub=-D, b_ub=np.zeros(len(D)), bounds=(-1, 1))
    return "quasi" if -weak.fun > 1e-7 else "overlapping"


def test_against_the_plain_programme():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(60):
        n, p = int(rng.integers(4, 30)), int(rng.integers(1, 4))
        X = rng.integers(-2, 3, size=(n, p)).astype(float)
        w = rng.normal(size=p)
        y = (X @ w + rng.choice([0.0, 0.3, 2.0]) * rng.normal(size=n) > 0).astype(int)
        if len(np.unique(y)) < 2:
            continue
        found = linear_separability(X, y)
        seen.add(found.status)
        assert found.status == plain(X, y)
        if found.status == "separable":
            assert margins(found, X, y).min() > 0
        elif found.status == "quasi":
            assert margins(found, X, y).min() > -1e-7
            assert margins(found, X, y).max() > 0
        else:
            assert found.coef is None
            assert found.intercept is None
    assert seen == {"separable", "quasi", "overlapping"}


def test_three_classes():
    X = [[0.0, 0], [1, 0], [0, 4], [1, 4], [5, 1], [6, 1]]
    found = linear_separability(X, list("aabbcc"))
    assert found.status == "separable"
    assert found.coef.shape == (3, 2)
    assert margins(found, X, list("aabbcc")).min() > 0
    line = np.arange(6.0)[:, None]
    assert linear_separability(line, [0, 0, 1, 1, 2, 2]).status == "separable"
    assert linear_separability(line, [0, 1, 2, 0, 1, 2]).status == "overlapping"
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=60), np.repeat([0.0, 0, 1], 20)])
    y = np.where(X[:, 1] == 1, 2, rng.integers(0, 2, 60))
    assert linear_separability(X, y).status == "quasi"


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_many_rows_by_few_constraints(noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 5)) + 100
    y = (X - 100) @ rng.normal(size=5) + noise * rng.normal(size=20_000) > 0
    found = linear_separability(X, y)
    assert found.status == ("overlapping" if noise else "separable")
    if not noise:
        assert margins(found, X, y).min() > 0


def test_sparse_scale_and_dependent_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1e-6, 1.0, 1e6]
    y = X[:, 0] / 1e-6 + X[:, 1] > 0
    assert linear_separability(X, y).status == "separable"
    assert linear_separability(csr_matrix(X), y).status == "separable"
    twice = np.column_stack([X, X[:, 0], np.ones(40)])
    assert linear_separability(twice, y).status == "separable"
    assert linear_separability(twice, rng.integers(0, 2, 40)).status == "overlapping"


def test_one_class_and_bad_cells():
    with pytest.raises(ValueError, match="class"):
        linear_separability([[1.0], [2.0]], [1, 1])
    with pytest.raises(ValueError, match="nan"):
        linear_separability([[np.nan], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="NaN"):
        linear_separability(csr_matrix([[np.nan], [2.0]]), [0, 1])
    with pytest.raises(ValueError, match="rows"):
        linear_separability([[1.0], [2.0]], [0, 1, 1])
