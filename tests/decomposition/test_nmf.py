"""NMF: scikit-learn's rounds, laws of the minimum, recovery of parts, kernels in NumPy."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls
from sklearn import decomposition as theirs
from sklearn.exceptions import ConvergenceWarning

from pellucid import NMF
from pellucid.decomposition.nmf import solved
from pellucid.decomposition.nmf_kernels import descend_rows, solve_rows
from pellucid.decomposition.nmf_parts import divergence
from pellucid.decomposition.nmf_parts import start as begin

rng = np.random.default_rng(0)


def table(n=60, p=12, k=3):
    return rng.random((n, k)) @ rng.random((k, p)) + 0.1 * rng.random((n, p))


CASES = [
    {"solver": "cd"},
    {"solver": "cd", "alpha_W": 0.01, "alpha_H": 0.02, "l1_ratio": 0.5},
    {"solver": "mu"},
    {"solver": "mu", "beta_loss": "kullback-leibler", "alpha_W": 0.01, "l1_ratio": 1.0},
    {"solver": "mu", "beta_loss": "itakura-saito"},
    {"solver": "mu", "beta_loss": 3.0},
    {"solver": "mu", "beta_loss": 1.5},
]


@pytest.mark.parametrize("options", CASES, ids=str)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_oracle(options, kind):
    """The same rounds from the same start, and an error as small."""
    X = table()
    W, H = rng.random((60, 3)), rng.random((3, 12))
    given = sparse.csr_matrix(X) if kind == "sparse" else X
    settings = {"n_components": 3, "init": "custom", "max_iter": 30, "tol": 1e-12, **options}
    with pytest.warns(ConvergenceWarning):
        mine = NMF(**settings).fit(given, W=W.copy(), H=H.copy())
    other = theirs.NMF(**settings)
    with pytest.warns(ConvergenceWarning):
        other.fit_transform(X, W=W.copy(), H=H.copy())
    np.testing.assert_allclose(mine.components_, other.components_, rtol=1e-5, atol=1e-8)
    slack = 1e-6 if "alpha_W" not in options else 0.1  # theirs leaves W one half round behind
    assert mine.reconstruction_err_ <= other.reconstruction_err_ * (1 + slack)


@pytest.mark.parametrize("init", ["random", "nndsvd", "nndsvda", "nndsvdar", None])
def test_invariant_the_objective_never_rises_and_rows_are_solved(init):
    X = table()
    model = NMF(3, init=init, random_state=0, max_iter=2000, tol=1e-3)
    W = model.fit_transform(X)
    assert (np.diff(model.history_["objective"]) <= 1e-9).all()
    assert (W >= 0).all()
    assert (model.components_ >= 0).all()
    exact = np.array([nnls(model.components_.T, x)[0] for x in X])
    np.testing.assert_allclose(W, exact, atol=1e-3)
    np.testing.assert_array_equal(model.transform(X), W)
    np.testing.assert_allclose(model.transform(X[5:9]), W[5:9], atol=1e-9)


def test_recovery_of_parts():
    H = np.kron(np.eye(3), np.ones(4))
    X = (rng.random((200, 3)) * (rng.random((200, 3)) < 0.5)) @ H
    model = NMF(3, random_state=0, max_iter=2000, tol=1e-8).fit(X)
    found = model.components_ / model.components_.max(axis=1, keepdims=True)
    order = np.argsort(found.argmax(axis=1))
    np.testing.assert_allclose(found[order], H, atol=1e-3)
    assert model.reconstruction_err_ < 1e-3


def test_kernels_are_their_numpy_twins():
    W, G, B = rng.random((5, 3)), np.cov(rng.random((3, 9))) + np.eye(3), rng.random((5, 3))
    mine, twin, moved = W.copy(), W.copy(), 0.0
    for t in range(3):
        slope = twin @ G[t] - B[:, t]
        moved += np.abs(np.where(twin[:, t] == 0, np.minimum(slope, 0), slope)).sum()
        twin[:, t] = np.maximum(twin[:, t] - slope / G[t, t], 0)
    assert descend_rows(mine, G, B, np.arange(3), 0, 5) == pytest.approx(moved)
    np.testing.assert_allclose(mine, twin)
    solve_rows(mine, G, B, 1e-14, 1000, 0, 5)
    slope = mine @ G - B
    assert (np.abs(np.where(mine > 0, slope, np.minimum(slope, 0))) < 1e-9).all()
    assert solved(B @ np.eye(3), np.eye(3), 0.0, 0.0, 1e-9, 50) == pytest.approx(B)


def test_rows_are_solved_to_the_last_digits_whatever_the_condition_of_the_parts():
    H = rng.random((6, 40))
    H[3] = H[2] + 1e-4 * rng.random(40)
    X = rng.random((50, 6)) * (rng.random((50, 6)) < 0.5) @ H + 0.1 * rng.random((50, 40))
    W = solved(X, H, 0.0, 0.0, 1e-12, 10_000)
    np.testing.assert_allclose(W, [nnls(H.T, x)[0] for x in X], rtol=1e-6, atol=1e-9)
    H[3] = H[2]  # singular: any of the minima, but one of them
    W = solved(X, H, 0.0, 0.0, 1e-9, 10_000)
    best = [nnls(H.T, x)[1] for x in X]
    np.testing.assert_allclose(np.linalg.norm(X - W @ H, axis=1), best, rtol=1e-9)


@pytest.mark.parametrize("init", ["nndsvd", "nndsvda", "nndsvdar"])
@pytest.mark.parametrize("scale", [1.0, 1e-120, 1e120])
def test_a_start_from_singular_vectors_beyond_the_rank(init, scale):
    """Nothing is divided by a singular value that is only rounding."""
    with np.errstate(over="raise", divide="raise", invalid="raise"):
        W, H = begin(scale * np.outer(np.arange(1.0, 6), [1.0, 2.0, 4.0]), 3, init, rng)
    assert np.isfinite(W).all()
    assert np.isfinite(H).all()
    if init == "nndsvd":
        assert not W[:, 1:].any()
        np.testing.assert_allclose(W @ H, scale * np.outer(np.arange(1.0, 6), [1, 2, 4]))


def test_refusals():
    X = table()
    with pytest.raises(ValueError, match="Negative values in data"):
        NMF(2).fit(-X)
    with pytest.raises(ValueError, match="does not handle beta_loss"):
        NMF(2, beta_loss=1.0).fit(X)
    with pytest.raises(ValueError, match="can only be used when n_components"):
        NMF(20, init="nndsvd").fit(X)
    with pytest.raises(ValueError, match="X contains zeros"):
        NMF(2, solver="mu", beta_loss=0).fit(np.eye(3))
    with pytest.raises(ValueError, match="wrong first dimension passed to NMF"):
        NMF(2, init="custom").fit(X, W=np.ones((60, 2)), H=np.ones((3, 12)))
    with pytest.warns(RuntimeWarning, match="are ignored"):
        NMF(2, random_state=0, tol=0.1).fit(X, W=np.ones((60, 2)))
    assert divergence(X, X, np.eye(12), 1.0) == pytest.approx(0.0, abs=1e-7)
