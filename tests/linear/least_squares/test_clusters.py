"""CR2 errors: a dense formula, unbiasedness, HC2 as a special case, and what the record says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student

from pellucid import LinearRegression


def rows(G=7, seed=0):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(G), rng.integers(2, 9, G))
    n = len(groups)
    X = np.column_stack([rng.normal(size=G)[groups], rng.normal(size=n)])
    y = X @ [1.0, -0.5] + rng.normal(size=G)[groups] + rng.normal(size=n)
    return X, y, groups


def power(A, p):
    values, vectors = np.linalg.eigh(A)
    return (vectors * values**p) @ vectors.T


def dense(X, y, groups):
    """Bell and McCaffrey's formulas with n x n matrices: errors and degrees of freedom."""
    D = np.column_stack([np.ones(len(X)), X])
    B = np.linalg.inv(D.T @ D)
    R = np.eye(len(D)) - D @ B @ D.T  # I - H
    e, V, lines = R @ y, np.zeros((3, 3)), []
    for g in np.unique(groups):
        rows_ = np.flatnonzero(groups == g)
        A = power(R[np.ix_(rows_, rows_)], -0.5)
        s = B @ D[rows_].T @ A @ e[rows_]
        V += np.outer(s, s)
        lines.append(R[:, rows_] @ A @ D[rows_] @ B)  # (n, q): the g-th form of every parameter
    df = []
    for j in range(3):
        L = np.column_stack([line[:, j] for line in lines])
        values = np.linalg.eigvalsh(L.T @ L)
        df.append(values.sum() ** 2 / (values**2).sum())
    return np.sqrt(np.diag(V)), np.array(df)


def test_cr2_is_the_dense_formula():
    X, y, groups = rows()
    s = LinearRegression().fit(X, y).summary(covariance="CR2", X=X, y=y, groups=groups)
    error, df = dense(X, y, groups)
    assert_allclose(s.standard_error, error, rtol=1e-9)
    half = student.ppf(0.975, df) * error
    assert_allclose(s.high - s.low, 2 * half, rtol=1e-8)
    assert_allclose(s.p_value, 2 * student.sf(np.abs(s.statistic), df), rtol=1e-7)
    assert df.max() < 6
    assert df.min() > 1


def test_cr2_is_unbiased_under_equal_noise():
    """Over the unit vectors as targets the covariances sum to (D'D)^-1."""
    X, _, groups = rows()
    n = len(X)
    model = LinearRegression().fit(X, np.eye(n))
    s = model.summary(covariance="CR2", X=X, y=np.eye(n), groups=groups)
    D = np.column_stack([np.ones(n), X])
    total = (s.standard_error**2).sum(axis=0)
    assert_allclose(total, np.diag(np.linalg.inv(D.T @ D)), rtol=1e-8)


def test_each_row_its_own_cluster_is_hc2():
    X, y, _ = rows()
    model = LinearRegression().fit(X, y)
    a = model.summary(covariance="CR2", X=X, y=y, groups=np.arange(len(y)))
    b = model.summary(covariance="HC2", X=X, y=y)
    assert_allclose(a.standard_error, b.standard_error, rtol=1e-9)


def test_a_weight_is_a_repetition():
    X, y, groups = rows()
    w = np.random.default_rng(1).integers(1, 4, len(y))
    again = np.repeat(np.arange(len(y)), w)
    kind = {"covariance": "CR2"}
    weighted = LinearRegression().fit(X, y, sample_weight=w)
    a = weighted.summary(**kind, X=X, y=y, groups=groups, sample_weight=w)
    long = {"X": X[again], "y": y[again], "groups": groups[again]}
    b = LinearRegression().fit(long["X"], long["y"]).summary(**kind, **long)
    assert_allclose([a.low, a.high], [b.low, b.high], rtol=1e-8)


def test_a_column_that_is_a_cluster():
    """An indicator of a cluster leaves no residual along itself: the pseudo-inverse."""
    X, y, groups = rows()
    X = np.column_stack([X, groups == 0])
    s = LinearRegression().fit(X, y).summary(covariance="CR2", X=X, y=y, groups=groups)
    assert np.isfinite(s.standard_error[:3]).all()


@pytest.mark.parametrize(("G", "few"), [(7, True), (19, True), (20, False)])
@pytest.mark.parametrize("kind", ["cluster", "CR2"])
def test_few_clusters_are_said(G, few, kind):
    X, y, groups = rows(G)
    s = LinearRegression().fit(X, y).summary(covariance=kind, X=X, y=y, groups=groups)
    assert any(f"only {G} clusters" in note for note in s.notes) == few
    assert any("use covariance='CR2'" in note for note in s.notes) == (few and kind == "cluster")


def test_every_summary_says_what_its_errors_need():
    X, y, _ = rows()
    model = LinearRegression().fit(X, y)
    assert "independent noise of equal size" in str(model.summary())
    said = " ".join(model.summary(covariance="HC0", X=X, y=y).notes)
    assert "independent noise of unequal size" in said
    assert "HC3 is safer" in said
    assert "safer" not in str(model.summary(covariance="HC3", X=X, y=y))
