"""CCA: scikit-learn's numbers, Hotelling's laws, correlations that come back, Wilks' tests."""

import numpy as np
import pytest
from linear_tables import Blocks
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import kstest
from sklearn import cross_decomposition

from pellucid import CCA
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.linear.components.cca import fit_canonical, turned, wilks_tests

SIDES = ("weights_", "loadings_", "rotations_")
ATTRIBUTES = ("coef_", *(f"{side}_{name}" for side in "xy" for name in SIDES))


def make(n=90, p=6, q=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 5
    return X, X @ rng.normal(size=(p, q)) / 2 + 3 * rng.normal(size=(n, q))


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize(("p", "q", "m"), [(6, 4, 1), (6, 4, 4), (3, 8, 3), (5, 1, 1)])
def test_oracle(p, q, m, scale):
    """scikit-learn's power method and deflation, run to its end."""
    X, Y = make(p=p, q=q)
    ours = CCA(m, scale=scale).fit(X, Y)
    theirs = cross_decomposition.CCA(m, scale=scale, tol=1e-24, max_iter=100_000).fit(X, Y)
    for name in ATTRIBUTES:
        a, b = getattr(ours, name), getattr(theirs, name)
        assert a.shape == b.shape, name
        assert_allclose(a, b, atol=1e-8 * np.abs(b).max(), err_msg=name)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-7)
    T, U = theirs.transform(X, Y)
    for a, b in zip(ours.transform(X, Y), (T, U), strict=True):
        assert_allclose(a, b, atol=1e-7)
    for a, b in zip(ours.inverse_transform(T, U), theirs.inverse_transform(T, U), strict=True):
        assert_allclose(a, b, atol=1e-6)
    assert_allclose(ours.fit_transform(X, Y)[0], T, atol=1e-7)
    assert ours.predict(X).shape == (90, q)
    assert CCA(1).fit(X, Y[:, 0]).predict(X).shape == (90,)


def test_oracle_of_the_tests():
    """statsmodels has Wilks' Lambda and Rao's F."""
    CanCorr = pytest.importorskip("statsmodels.multivariate.cancorr").CanCorr
    X, Y = make(p=5, q=4)
    found = CCA(2).fit(X, Y).summary()
    table = CanCorr(Y, X).corr_test().stats.to_numpy(dtype=float)  # rho, Lambda, df, df, F, p
    assert_allclose(found.estimate, table[:, 0], rtol=1e-9)
    assert_allclose(found.wilks, table[:, 1], rtol=1e-9)
    more = wilks_tests(found.estimate, 91, 5, 4)  # theirs does not count the mean as estimated
    for ours, theirs in zip(more, table.T[1:][[0, 3, 1, 2, 4]], strict=True):
        assert_allclose(ours, theirs, rtol=1e-6, atol=1e-12)
    assert found.dimensions == int(np.argmin(np.append(found.p_value < 0.05, False)))


def test_invariant_scores_are_uncorrelated_but_for_their_partner():
    X, Y = make()
    model = CCA(4).fit(X, Y)
    T, U = model.transform(X, Y)
    C = np.corrcoef(T.T, U.T)
    assert_allclose(C[:4, :4], np.eye(4), atol=1e-10)
    assert_allclose(C[4:, 4:], np.eye(4), atol=1e-10)
    assert_allclose(C[:4, 4:], np.diag(model.canonical_correlations_), atol=1e-10)
    assert_allclose(model.x_weights_.T @ model.x_weights_, np.eye(4), atol=1e-10)
    assert_allclose(model.y_weights_.T @ model.y_weights_, np.eye(4), atol=1e-10)
    assert_allclose(X @ model.coef_.T + model.intercept_, model.predict(X), rtol=1e-10)


def test_invariant_correlations_do_not_see_units_or_mixing():
    X, Y = make()
    rho = CCA(2).fit(X, Y).canonical_correlations_
    mixed = X @ np.random.default_rng(1).normal(size=(6, 6)) * 2.0**30 + 7
    for scale in (True, False):
        assert_allclose(CCA(2, scale=scale).fit(mixed, Y * 2.0**-30).canonical_correlations_, rho)
    uneven = X * [1e9, 1, 1, 1, 1, 1e-9]
    assert_allclose(CCA(2, scale=False).fit(uneven, Y).canonical_correlations_, rho, rtol=1e-8)


def test_recovery_of_known_correlations():
    rng = np.random.default_rng(0)
    n, rho = 40_000, np.array([0.9, 0.5])
    common = rng.normal(size=(n, 2))
    X = np.c_[common, rng.normal(size=(n, 2))]
    Y = np.c_[common * rho + rng.normal(size=(n, 2)) * np.sqrt(1 - rho**2), rng.normal(size=n)]
    model = CCA(2).fit(X @ rng.normal(size=(4, 4)), Y @ rng.normal(size=(3, 3)))
    assert_allclose(model.canonical_correlations_[:2], rho, atol=0.01)
    assert model.summary().dimensions == 2


def test_tests_of_nothing_are_uniform():
    """Of tables that have nothing in common every p-value is as likely as any other."""
    rng = np.random.default_rng(0)
    p = [
        CCA(1).fit(rng.normal(size=(30, 4)), rng.normal(size=(30, 3))).summary().p_value[0]
        for _ in range(300)
    ]
    assert kstest(p, "uniform").pvalue > 0.01


def test_few_rows_have_no_tests_and_say_so():
    X, Y = make(n=9)
    model = CCA(2).fit(X, Y)
    summary = model.summary()
    assert not summary.valid
    assert "at least 12" in summary.reason
    assert "correlation of 1" in str(model.card())
    assert "correlation of 1" not in str(CCA(2).fit(*make()).card())


def test_dependent_columns_and_constants():
    """A column that adds nothing changes no score; components beyond the rank are 0, warned."""
    X, Y = make()
    plain = CCA(2).fit(X, Y)
    more = np.c_[X, X @ np.ones(6), np.full(90, 3.0)]
    model = CCA(2).fit(more, Y)
    assert_allclose(model.canonical_correlations_, plain.canonical_correlations_, atol=1e-8)
    T, S = model.transform(more), plain.transform(X)
    assert_allclose(np.abs(np.corrcoef(T.T, S.T)[:2, 2:]), np.eye(2), atol=1e-7)
    assert model._ranks == (6, 4)
    twice = np.c_[Y[:, :1], Y[:, :1] * 2, np.ones(90)]
    with pytest.warns(UserWarning, match="y residual is constant at iteration 1: the ranks of X"):
        short = CCA(3).fit(X, twice)
    assert not short.x_rotations_[:, 1:].any()
    assert short.n_iter_ == [1]
    assert_allclose(short.predict(X)[:, 0] * 2, short.predict(X)[:, 1], rtol=1e-6)
    with pytest.warns(UserWarning, match="iteration 0"):
        nothing = CCA(1).fit(X, np.ones((90, 2)))
    assert_allclose(nothing.predict(X), 1.0)
    assert not nothing.summary().valid


def test_wide_tables():
    """More columns than rows: all correlations are 1, and y's columns come in their order."""
    X, Y = make(n=12, p=20, q=3)
    model = CCA(3).fit(X, Y)
    assert_allclose(model.canonical_correlations_, 1.0)
    assert_allclose(np.abs(model.y_weights_), np.eye(3), atol=1e-8)
    theirs = cross_decomposition.CCA(1).fit(X, Y)  # of the later ones its rounding decides
    assert_allclose(CCA(1).fit(X, Y).x_weights_, theirs.x_weights_, atol=1e-8)


def test_weights_blocks_sparse_and_ill_conditioned_rows():
    X, Y = make()
    w = np.random.default_rng(0).integers(0, 3, size=90)
    a, b = CCA(3).fit(X, Y, sample_weight=w), CCA(3).fit(X.repeat(w, axis=0), Y.repeat(w, axis=0))
    c = CCA(3).fit(sparse.csr_array(X), Y)
    for name in ATTRIBUTES:
        assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-7, atol=1e-9)
        assert_allclose(getattr(c, name), getattr(CCA(3).fit(X, Y), name), rtol=1e-7, atol=1e-9)
    X, Y = make(2 * LEAF_ROWS + 5)
    whole, parts = CCA(3).fit(X, Y), CCA(3).fit_blocks(Blocks(X, Y, 4096))
    assert_array_equal(parts.coef_, whole.coef_)
    close = np.c_[X, X[:, 0] + 1e-6 * np.random.default_rng(0).normal(size=len(X))]
    theirs = np.linalg.svd(
        np.linalg.qr(close - close.mean(axis=0))[0].T @ np.linalg.qr(Y - Y.mean(axis=0))[0]
    )[1]
    assert_allclose(CCA(3).fit(close, Y).canonical_correlations_, theirs[:4], rtol=1e-8)


def test_the_core():
    """Equal correlations are turned to the columns of y; the tests of one pair are the t-test."""
    rng = np.random.default_rng(0)
    Q = turned(rng.normal(size=(3, 5)))
    assert_allclose(Q.T @ Q, np.eye(3), atol=1e-12)
    A = rng.normal(size=(20, 2))
    A -= A.mean(axis=0)
    fit = fit_canonical(A, A @ [[1.0, 1.0], [0.0, 1.0]], 2)
    assert_allclose(fit.rho, 1.0)
    assert_allclose(np.abs(fit.y.weights), np.eye(2), atol=1e-8)
    r, n = 0.4, 25
    assert_allclose(wilks_tests(np.array([r]), n, 1, 1).statistic, r**2 / (1 - r**2) * (n - 2))


def test_refusals():
    X, Y = make()
    with pytest.raises(ValueError, match=r"`n_components` upper bound is 4\. Got 5 instead"):
        CCA(5).fit(X, Y)
    with pytest.raises(ValueError, match="upper bound is 1"):
        CCA(2).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="scale"):
        CCA(1, scale="yes").fit(X, Y)


def test_one_row_is_refused():
    with pytest.raises(ValueError, match="1 sample"):
        CCA(1).fit([[1.0, 2.0]], [[3.0, 4.0]])
