"""DensityOutlier and EllipticEnvelope."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import EllipticEnvelope as Peer
from sklearn.neighbors import KernelDensity

from pellucid import DensityOutlier, EllipticEnvelope, GaussianMixture
from pellucid.mixture.outliers.determinant import (
    c_step,
    half_of,
    minimum_determinant,
    shortest_window,
    small_starts,
)
from pellucid.mixture.outliers.exchange import best_exchange, determinant_ratios


def with_odd_rows(n=200, odd=20, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) @ rng.normal(size=(p, p))
    X[:odd] += 15 * X.std(axis=0)
    return X


def test_default_density_is_one_gaussian():
    X = with_odd_rows()
    model = DensityOutlier(contamination=0.05).fit(X)
    D = X - X.mean(axis=0)
    S = np.cov(X.T, bias=True) + 1e-6 * np.eye(3)
    d = np.einsum("ij,ij->i", D @ np.linalg.inv(S), D)
    scores = -0.5 * (d + np.linalg.slogdet(2 * np.pi * S)[1])
    assert_allclose(model.score_samples(X), scores, rtol=1e-9)
    assert_allclose(model.offset_, np.percentile(scores, 5), rtol=1e-9)
    assert (model.predict(X) == -1).sum() == 10
    assert_allclose(model.p_values(X), [(scores <= s).mean() for s in scores])


def test_any_density_and_its_refusals():
    X = with_odd_rows()
    for density in (KernelDensity(bandwidth=2.0), GaussianMixture(2, random_state=0)):
        model = DensityOutlier(density).fit(X)
        assert_allclose(
            model.score_samples(X), density.fit(X).score_samples(X), rtol=1e-12, atol=1e-12
        )
    w = np.arange(len(X)) % 3
    a = DensityOutlier().fit(X, sample_weight=w)
    b = DensityOutlier().fit(np.repeat(X, w, axis=0))
    assert_allclose(a.offset_, b.offset_, rtol=1e-9)
    assert_allclose(a.p_values(X), b.p_values(X), atol=1e-12)
    with pytest.raises(ValueError, match="fit and score_samples"):
        DensityOutlier(3).fit(X)
    with pytest.raises(ValueError, match="contamination"):
        DensityOutlier(contamination=0.6).fit(X)


@pytest.mark.parametrize("seed", range(4))
def test_finds_the_least_determinant(seed):
    """Against every subset there is."""
    X = np.random.default_rng(seed).normal(size=(10, 2))
    h = 6
    best = min(half_of(X, np.array(s), False).log_determinant for s in combinations(range(10), h))
    found = minimum_determinant(X, h, np.random.default_rng(0))
    assert_allclose(found.log_determinant, best, rtol=1e-9)


@pytest.mark.parametrize("centred", [False, True])
def test_one_column_is_exact(centred):
    x = np.random.default_rng(0).normal(size=12) + 1
    mean = (lambda v: 0.0) if centred else np.mean
    cost = {s: ((x[list(s)] - mean(x[list(s)])) ** 2).sum() for s in combinations(range(12), 7)}
    assert tuple(shortest_window(x, 7, centred)) == min(cost, key=cost.get)


def test_a_step_never_raises_the_determinant():
    X = with_odd_rows(100, 10)
    floor = 1e-14 * X.var(axis=0)
    for start in small_starts(X, np.random.default_rng(0), False):
        half = c_step(X, start, 60, floor, False)
        for _ in range(3):
            new = c_step(X, half, 60, floor, False)
            assert new.log_determinant <= half.log_determinant + 1e-9
            half = new


@pytest.mark.parametrize("centred", [False, True])
def test_exchange_formula_against_the_determinants_themselves(centred):
    X = with_odd_rows(40, 4)
    rows = np.arange(5, 27)
    half = half_of(X, rows, centred)
    Z = np.linalg.solve(np.linalg.cholesky(half.covariance * len(rows)), (X - half.location).T)
    G, others = Z.T @ Z, np.setdiff1d(np.arange(40), rows)
    cross = G[np.ix_(rows, others)]
    ratios = determinant_ratios(np.diag(G)[rows], np.diag(G)[others], cross, len(rows), centred)
    for a, i in enumerate(rows):
        for b, j in enumerate(others):
            new = half_of(X, np.append(rows[rows != i], j), centred).log_determinant
            assert_allclose(np.log(ratios[a, b]), new - half.log_determinant, atol=1e-9)
    found, ratio = best_exchange(X, rows, half.location, half.covariance, centred)
    assert_allclose(ratio, ratios.min())
    assert_allclose(
        half_of(X, found, centred).log_determinant - half.log_determinant, np.log(ratio), atol=1e-9
    )


@pytest.mark.parametrize(("n", "p"), [(200, 3), (400, 6), (500, 8), (900, 2), (1200, 5), (2600, 4)])
@pytest.mark.parametrize("centred", [False, True])
def test_scikit_learn_finds_the_same(n, p, centred):
    X = with_odd_rows(n, n // 10, p)
    ours = EllipticEnvelope(random_state=0, assume_centered=centred).fit(X)
    theirs = Peer(random_state=0, assume_centered=centred).fit(X)
    raw = [half_of(X, np.flatnonzero(m.raw_support_), centred).log_determinant
           for m in (ours, theirs)]  # fmt: skip
    assert raw[0] <= raw[1] + 1e-6  # both searches are local: ours is no worse
    if np.array_equal(ours.raw_support_, theirs.raw_support_):
        assert_allclose(ours.raw_covariance_, theirs.raw_covariance_, rtol=1e-8)
        assert_allclose(ours.location_, theirs.location_, atol=1e-9)
        assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-8, atol=1e-9)
        assert_allclose(ours.mahalanobis(X), theirs.mahalanobis(X), rtol=1e-7)
        assert_allclose(ours.offset_, theirs.offset_, rtol=1e-7)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.995


@pytest.mark.parametrize("centred", [False, True])
def test_with_all_rows_in_the_bulk_scikit_learn_has_the_same_numbers(centred):
    """No search: the consistency factors and the reweighting alone."""
    X = with_odd_rows(300, 10, 4)
    params = {"support_fraction": 1.0, "assume_centered": centred, "random_state": 0}
    ours, theirs = EllipticEnvelope(**params).fit(X), Peer(**params).fit(X)
    assert_array_equal(ours.support_, theirs.support_)
    for name in ("raw_location_", "raw_covariance_", "location_", "covariance_", "precision_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-10)
    assert_allclose(ours.dist_, theirs.dist_, rtol=1e-8)
    assert_allclose(ours.offset_, theirs.offset_, rtol=1e-8)


def test_odd_rows_do_not_hide():
    """A fifth of the rows far away: the plain covariance swallows them, this one does not."""
    X = with_odd_rows(300, 60, 3)
    model = EllipticEnvelope(contamination=0.2, random_state=0).fit(X)
    assert_array_equal(np.flatnonzero(model.predict(X) == -1), np.arange(60))
    assert not model.support_[:60].any()
    assert_allclose(model.location_, X[60:].mean(axis=0), atol=0.3)


def test_degenerate_tables():
    X = with_odd_rows(60, 6)
    flat = np.column_stack([X, np.ones(60)])
    with pytest.warns(UserWarning, match="rank 3 for 4"):
        model = EllipticEnvelope(random_state=0).fit(flat)
    assert np.isfinite(model.score_samples(flat)).all()
    with pytest.warns(UserWarning, match="rank"):
        EllipticEnvelope(random_state=0).fit(np.ones((9, 2)))
    # more than half of the rows on a line
    line = np.vstack([np.column_stack([np.arange(40.0), np.arange(40.0)]), X[:20, :2]])
    with pytest.warns(UserWarning, match="rank 1 for 2"):
        model = EllipticEnvelope(contamination=0.3, random_state=0).fit(line)
    assert np.isfinite(model.dist_).all()
    assert model.dist_[40:].min() > model.dist_[:40].max()
    with pytest.raises(ValueError, match="support_fraction"):
        EllipticEnvelope(support_fraction=1.5).fit(X)
