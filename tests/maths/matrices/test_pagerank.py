"""PageRank against the linear system, its error bound, and graphs with known answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from pellucid.maths import pagerank


def solved(A, d, v):
    """The share of every node by solving (I - d P') x = (1 - d) v + d v (x.stuck)."""
    out = A.sum(axis=1)
    P = np.where(out[:, None] > 0, A / np.where(out > 0, out, 1)[:, None], v)
    return np.linalg.solve(np.eye(len(A)) - d * P.T, (1 - d) * v)


@pytest.mark.parametrize("damping", [0.5, 0.85, 0.99])
def test_the_linear_system(damping):
    rng = np.random.default_rng(0)
    A = rng.integers(0, 3, size=(30, 30)) * (rng.random((30, 30)) < 0.1)
    A[4] = 0  # no way out
    v = rng.uniform(size=30)
    found = pagerank(csr_array(A), damping=damping, personalization=v, max_iter=5000)
    exact = solved(A, damping, v / v.sum())
    assert_allclose(found.ranks, exact, atol=1e-11)
    assert np.abs(found.ranks - exact).sum() <= found.error + 1e-14
    assert (np.diff(found.ranks[found.order]) <= 0).all()
    assert_allclose(found.ranks.sum(), 1)


def test_known_graphs():
    assert_allclose(pagerank(np.ones((4, 4))).ranks, 0.25)
    assert_allclose(pagerank(np.zeros((3, 3))).ranks, 1 / 3)
    star = np.zeros((5, 5))
    star[1:, 0] = 1
    assert pagerank(star).order[0] == 0


def test_too_few_steps_warn():
    with pytest.warns(ConvergenceWarning, match="pagerank"):
        pagerank([[0, 1], [0, 0]], max_iter=2)


@pytest.mark.parametrize(
    ("A", "given", "words"),
    [
        (np.ones((2, 3)), {}, "square"),
        ([[0, -1], [1, 0]], {}, ">= 0"),
        (np.ones((2, 2)), {"damping": 1.0}, "damping"),
        (np.ones((2, 2)), {"personalization": [0.0, 0.0]}, "not all 0"),
    ],
)
def test_refusals(A, given, words):
    with pytest.raises(ValueError, match=words):
        pagerank(A, **given)
