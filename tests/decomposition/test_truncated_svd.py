"""Truncated SVD: the course's example, Eckart & Young, scikit-learn, sparse without densifying."""

import numpy as np
import pytest
from scipy import sparse
from sklearn import decomposition as theirs

from pellucid import TruncatedSVD
from pellucid.core.runtime.threads import limit_threads
from pellucid.decomposition import truncated_svd
from pellucid.decomposition.truncated_svd import Table, by_full, by_gram, by_lanczos


def decaying(n, p, seed=0, rank=30):
    rng = np.random.default_rng(seed)
    U, V = np.linalg.qr(rng.normal(size=(n, rank)))[0], np.linalg.qr(rng.normal(size=(p, rank)))[0]
    return (U * 100 * 0.7 ** np.arange(rank)) @ V.T + 1e-3 * rng.normal(size=(n, p))


def test_example_18_rank_one():
    X = [[3, 0], [4, 5]]
    for algorithm in ("randomized", "full", "arpack"):
        model = TruncatedSVD(1, algorithm=algorithm).fit(X)
        np.testing.assert_allclose(model.reconstruct(X), [[1.5, 1.5], [4.5, 4.5]])
        np.testing.assert_allclose(model.error_, 2.2360679775, atol=1e-10)
        assert model.storage_ratio_ == 1 * (2 + 2 + 1) / 4


@pytest.mark.parametrize("shape", [(1510, 200), (200, 1510), (550, 550)])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("algorithm", ["randomized", "arpack", "full"])
def test_leading_part_of_the_whole_decomposition(shape, kind, algorithm):
    X = decaying(*shape)
    X[np.random.default_rng(1).random(shape) < 0.5] = 0
    _, s, V = np.linalg.svd(X, full_matrices=False)
    given = sparse.csr_matrix(X) if kind == "sparse" else X
    model = TruncatedSVD(4, algorithm=algorithm, n_iter=12, random_state=0).fit(given)
    np.testing.assert_allclose(model.singular_values_, s[:4], rtol=1e-6)
    np.testing.assert_allclose(model.components_.T @ model.components_, V[:4].T @ V[:4], atol=1e-3)
    np.testing.assert_allclose(model.error_, np.sqrt((s[4:] ** 2).sum()), rtol=1e-6)
    np.testing.assert_allclose(
        model.reconstruct(given), X @ model.components_.T @ model.components_
    )


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_scikit_learn_has_the_same_attributes(kind):
    X = decaying(1200, 300)
    given = sparse.csr_matrix(X) if kind == "sparse" else X
    ours = TruncatedSVD(5, random_state=0).fit(given)
    other = theirs.TruncatedSVD(5, random_state=0).fit(given)
    for name in ("singular_values_", "explained_variance_", "explained_variance_ratio_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(other, name), rtol=1e-6)
    np.testing.assert_allclose(ours.components_, other.components_, atol=1e-5)
    np.testing.assert_array_equal(ours.fit_transform(given), ours.transform(given))
    back = ours.inverse_transform(ours.transform(given))
    np.testing.assert_allclose(back, other.inverse_transform(other.transform(given)), atol=1e-3)


def test_random_rounds_are_as_good_as_scikit_learns_and_improve(monkeypatch):
    """Flat spectra are the hard ones; more rounds come nearer to the best."""
    X = np.random.default_rng(0).normal(size=(600, 520))
    best = by_full(X, 5).dropped ** 0.5
    errors = [TruncatedSVD(5, n_iter=q, random_state=0).fit(X).error_ for q in (0, 5, 40)]
    theirs_model = theirs.TruncatedSVD(5, n_iter=5, random_state=0).fit(X)
    T = theirs_model.transform(X)
    assert errors[0] > errors[1] > errors[2] >= best * (1 - 1e-12)
    assert errors[1] <= np.linalg.norm(X - T @ theirs_model.components_) * 1.001
    np.testing.assert_allclose(errors[2], best, rtol=1e-4)


def test_sparse_is_never_made_dense(monkeypatch):
    X = sparse.random(1000, 20_000, density=1e-3, format="csr", random_state=0)
    monkeypatch.setattr(type(X), "toarray", lambda self, *a, **k: pytest.fail("made dense"))
    model = TruncatedSVD(3, n_iter=10, random_state=0).fit(X)
    s = by_lanczos(Table(X), 3, 0.0, np.random.default_rng(0)).s
    np.testing.assert_allclose(model.singular_values_, s, rtol=0.03)
    assert model.transform(X[:5]).shape == (5, 3)


def test_gram_is_left_when_it_would_lose_digits():
    rng = np.random.default_rng(0)
    U, V = np.linalg.qr(rng.normal(size=(4000, 5)))[0], np.linalg.qr(rng.normal(size=(100, 5)))[0]
    X = (U * [1e6, 1e3, 1, 1e-3, 1e-4]) @ V.T
    assert by_gram(X, 5) is None
    assert by_gram(X, 2) is not None
    model = TruncatedSVD(4, random_state=0).fit(X)
    np.testing.assert_allclose(model.singular_values_, [1e6, 1e3, 1, 1e-3], rtol=1e-5)
    np.testing.assert_allclose(model.error_, 1e-4, rtol=1e-3)


@pytest.mark.parametrize("shape", [(900, 350), (350, 900)])
def test_same_bits_for_any_number_of_threads(shape):
    X = decaying(*shape)
    found = []
    for threads in (1, 3):
        with limit_threads(threads):
            found.append(TruncatedSVD(2, n_iter=2, random_state=0).fit(X).components_)
    np.testing.assert_array_equal(*found)


def test_repeated_rows_scale_the_singular_values():
    X = decaying(150, 40)
    once, twice = TruncatedSVD(3).fit(X), TruncatedSVD(3).fit(np.vstack([X, X]))
    np.testing.assert_allclose(twice.singular_values_, once.singular_values_ * 2**0.5)
    np.testing.assert_allclose(twice.components_, once.components_, atol=1e-9)


def test_degenerate_tables():
    zero = TruncatedSVD(1).fit(np.zeros((4, 3)))
    assert zero.error_ == 0
    assert (zero.explained_variance_ratio_ == 0).all()
    with pytest.raises(ValueError, match="n_features=3"):
        TruncatedSVD(4).fit(np.ones((5, 3)))
    with pytest.raises(ValueError, match="at most 2"):
        TruncatedSVD(3, algorithm="arpack").fit(np.ones((5, 3)))
    with pytest.raises(ValueError, match="overflow"):
        TruncatedSVD(1).fit(np.full((3, 3), 1e200))
    exact = np.outer(np.arange(1.0, 2001), np.ones(400))
    model = TruncatedSVD(1, random_state=0).fit(exact)
    assert model.error_ < 1e-9 * np.linalg.norm(exact)
    assert exact.size > truncated_svd.SMALL_CELLS
