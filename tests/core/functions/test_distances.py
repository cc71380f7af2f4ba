"""Distances against SciPy; blocks do not change a bit."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from pellucid.core.functions import distances as dist

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(57, 5)), RNG.normal(size=(9, 5))
SCIPY = {
    "euclidean": "euclidean",
    "sqeuclidean": "sqeuclidean",
    "manhattan": "cityblock",
    "cosine": "cosine",
    "chebyshev": "chebyshev",
    "canberra": "canberra",
}


@pytest.mark.parametrize("name", SCIPY)
def test_against_scipy(name):
    assert np.allclose(dist.distance(name).pairwise(A, B), cdist(A, B, SCIPY[name]), rtol=1e-12)


def test_hamming_against_scipy():
    a, b = RNG.integers(3, size=(20, 6)) * 1.0, RNG.integers(3, size=(7, 6)) * 1.0
    assert np.allclose(dist.hamming.pairwise(a, b), cdist(a, b, "hamming"))


@pytest.mark.parametrize("q", [1, 1.5, 3])
def test_minkowski_against_scipy(q):
    assert np.allclose(dist.minkowski(q).pairwise(A, B), cdist(A, B, "minkowski", p=q))


def test_minkowski_does_not_overflow():
    a = np.array([[1e200, 0.0]])
    assert dist.minkowski(3).pairwise(a, np.zeros((1, 2)))[0, 0] == pytest.approx(1e200)


@pytest.mark.parametrize("name", dist.DISTANCES)
def test_each_entry_depends_on_its_own_rows_only(name, monkeypatch):
    pairwise = dist.distance(name).pairwise
    whole = pairwise(A, B)
    assert np.array_equal(whole, np.vstack([pairwise(A[i : i + 1], B) for i in range(len(A))]))
    monkeypatch.setattr(dist, "BLOCK_VALUES", 64)
    assert np.array_equal(whole, pairwise(A, B))


@pytest.mark.parametrize("name", dist.DISTANCES)
def test_symmetric_and_zero_to_itself(name):
    D = dist.distance(name).pairwise(A, A)
    assert np.allclose(D, D.T)
    assert np.allclose(np.diag(D), 0, atol=1e-15)
    assert (D >= 0).all()


def test_far_from_the_origin_no_digits_are_lost():
    shift = 1e8
    assert np.allclose(
        dist.euclidean.pairwise(A + shift, B + shift), cdist(A, B), rtol=1e-6
    )  # the inputs themselves were rounded to 1e-8
    same = A + shift
    assert (np.diag(dist.euclidean.pairwise(same, same)) == 0).all()


def test_a_distance_of_ones_own_passes_through():
    mine = dist.Distance("mine", dist.pairwise_manhattan)
    assert dist.distance(mine) is mine


def test_refusals():
    with pytest.raises(ValueError, match="did you mean 'euclidean'"):
        dist.distance("euclidian")
    with pytest.raises(ValueError, match="row 1"):
        dist.cosine.pairwise(np.array([[1.0], [0.0]]), np.array([[1.0]]))
    with pytest.raises(ValueError, match="q must be >= 1"):
        dist.minkowski(0.5)
