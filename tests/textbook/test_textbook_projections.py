"""The projections of the textbook agree with the fast ones."""

from itertools import islice

import numpy as np
import pytest
from agreement import same
from numpy.testing import assert_allclose

from pellucid import (
    CCA,
    MDS,
    NMF,
    PCA,
    TSNE,
    FactorAnalysis,
    FastICA,
    IncrementalPCA,
    Isomap,
    KernelPCA,
    ProbabilisticPCA,
    TruncatedSVD,
)
from pellucid.decomposition.dimension import log_evidence, most_probable
from pellucid.decomposition.maps import tsne as fast_tsne
from pellucid.decomposition.maps.affinities import dense_joint
from pellucid.decomposition.subspace import largest_angle
from pellucid.textbook.projections.canonical_correlation import canonical_correlation
from pellucid.textbook.projections.factor_analysis import factor_analysis
from pellucid.textbook.projections.factor_analysis import rounds as factor_rounds
from pellucid.textbook.projections.fast_ica import fast_ica
from pellucid.textbook.projections.incremental_pca import Seen, incremental_pca
from pellucid.textbook.projections.isomap import isomap
from pellucid.textbook.projections.kernel_pca import kernel_pca
from pellucid.textbook.projections.mds import mds
from pellucid.textbook.projections.minka_evidence import minka_evidence
from pellucid.textbook.projections.nmf import nmf
from pellucid.textbook.projections.pca import pca, rebuild, scores
from pellucid.textbook.projections.power_iteration import power_iteration
from pellucid.textbook.projections.principal_angles import principal_angles
from pellucid.textbook.projections.probabilistic_pca import posterior, probabilistic_pca
from pellucid.textbook.projections.probabilistic_pca_em import probabilistic_pca_em, rounds
from pellucid.textbook.projections.randomised_svd import randomised_svd
from pellucid.textbook.projections.truncated_svd import truncated_svd
from pellucid.textbook.projections.tsne import divergence, neighbour_probabilities, tsne

rng = np.random.default_rng(0)


def table(n=60, p=6):
    return rng.normal(size=(n, 3)) @ rng.normal(size=(3, p)) + 0.5 * rng.normal(size=(n, p))


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_pca(shape):
    X = table(*shape)
    book, model = pca(X, 3), PCA(3).fit(X)
    same(book.directions, model.components_, atol=1e-9)
    same(book.variances, model.explained_variance_)
    same(book.lost, model.reconstruction_error_)
    Z = scores(X, book)
    same(Z, model.transform(X), atol=1e-9)
    same(rebuild(Z, book), model.inverse_transform(Z), atol=1e-9)


def test_power_iteration():
    X = table()
    values, vectors = power_iteration(np.cov(X.T), 3)
    for solver in ("greedy", "full"):
        model = PCA(3, svd_solver=solver).fit(X)
        same(values, model.explained_variance_, rtol=1e-9)
        same(vectors, model.components_)


def test_singular_values():
    A = table(50, 30)
    book, model = truncated_svd(A, 3), TruncatedSVD(3, algorithm="full").fit(A)
    same(book.D, model.singular_values_)
    same(book.error, model.error_)
    same((book.U * book.D) @ book.Vt, model.reconstruct(A), atol=1e-9)
    U, D, Vt = randomised_svd(A, 3, rng)
    random = TruncatedSVD(3, n_iter=7, random_state=0).fit(A)
    same(D, random.singular_values_)
    same((U * D) @ Vt, random.reconstruct(A))


def test_kernel_pca():
    X = table()
    K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    book, model = kernel_pca(K, 3), KernelPCA(3, kernel="rbf", gamma=0.1)
    Z = model.fit_transform(X)
    same(book.eigenvalues, model.eigenvalues_)
    same(np.abs(book.scores), np.abs(Z))


def test_probabilistic_pca():
    X = table()
    book, model = probabilistic_pca(X, 2), ProbabilisticPCA(2).fit(X)
    same(book.W @ book.W.T, model.loadings_ @ model.loadings_.T, atol=1e-9)
    same([book.s, book.log_likelihood], [model.noise_variance_, model.log_likelihood_])
    for (means, C), W, latent in [(posterior(X, book), book.W, model.posterior(X))]:
        same(means @ W.T, latent.means @ model.loadings_.T, atol=1e-9)
        same(W @ C @ W.T, model.loadings_ @ latent.covariance @ model.loadings_.T)


def test_probabilistic_pca_em():
    X, W = table(), rng.normal(size=(6, 2))
    end, model = next(islice(rounds(X, W, 1.0, -np.inf), 500, None)), ProbabilisticPCA(2).fit(X)
    same(end.W @ end.W.T, model.loadings_ @ model.loadings_.T)
    same(end.s, model.noise_variance_)
    same(probabilistic_pca_em(X, W).mean_l * len(X), model.log_likelihood_, rtol=1e-10)
    assert np.all(np.diff([s.mean_l for s in rounds(X, W, 1.0)]) > -1e-12)


def test_factor_analysis():
    noise = rng.normal(size=(300, 6)) * [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) + noise
    end = next(islice(factor_rounds(X, 2, -np.inf), 2000, None))
    model = FactorAnalysis(2, tol=0, max_iter=2000).fit(X)
    same(end.mean_l, model.score(X))
    same(factor_analysis(X, 2).mean_l, model.score(X))
    # looser: the fast one ends where the likelihood no longer rises, and its top is flat
    assert_allclose(end.psi, model.noise_variance_, rtol=1e-5)
    # looser: as above
    assert_allclose(end.W @ end.W.T + np.diag(end.psi), model.get_covariance(), rtol=1e-5)
    assert np.all(np.diff([s.mean_l for s in factor_rounds(X, 2)]) > -1e-12)


def test_minka_evidence():
    X = table(100, 7)
    lam = np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]
    ours = np.array([minka_evidence(lam, d, 100) for d in range(1, 7)])
    theirs = np.array([log_evidence(lam, d, 100) for d in range(1, 7)])
    same(ours - ours[0], theirs - theirs[0], atol=1e-8)
    assert ours.argmax() + 1 == most_probable(lam, 100)


def test_principal_angles():
    A, B = rng.normal(size=(6, 2)), rng.normal(size=(6, 2))
    Q, R = np.linalg.qr(A)[0].T, np.linalg.qr(B)[0].T
    same(principal_angles(A, B)[-1], largest_angle(Q, R))
    same(np.cos(np.radians(principal_angles(A, A @ rng.normal(size=(2, 2))))), 1)


def test_incremental_pca():
    X = np.random.default_rng(0).normal(size=(60, 4)) * [3, 2, 1, 0.5] + 1
    seen, fast = Seen(0, np.zeros(4), np.zeros((0, 4))), IncrementalPCA(2)
    for batch in np.split(X, 3):
        seen = incremental_pca(seen, batch, 2)
        fast.partial_fit(batch)
    same(np.linalg.norm(seen.rows, axis=1), fast.singular_values_)
    same(seen.mean, fast.mean_)


def test_fast_ica():
    own = np.random.default_rng(0)
    X = own.laplace(size=(500, 2)) @ [[1.0, 0.5], [0.2, 2.0]]
    book = fast_ica(X, np.eye(2))
    fast = FastICA(tol=1e-10, max_iter=1000, w_init=np.eye(2)).fit_transform(X)
    match = np.abs(book.T @ fast) / len(X)
    same(np.sort(match, axis=1)[:, 1], 1.0)


def test_nmf():
    own = np.random.default_rng(0)
    X = own.random((20, 3)) @ own.random((3, 8))
    W, H = own.random((20, 3)), own.random((3, 8))
    book = nmf(X, W, H, 30)
    model = NMF(3, init="custom", solver="mu", max_iter=30, tol=0)
    fast = model.fit_transform(X, W=W, H=H)
    same(book.W, fast)
    same(book.H, model.components_)


def test_isomap():
    own = np.random.default_rng(0)
    turn = own.uniform(0, 4, size=60)
    X = np.c_[np.cos(turn), np.sin(turn), own.random(60)]
    fast = Isomap(n_neighbors=8).fit(X)
    book = isomap(X, 8, 2)
    same(book.geodesic, fast.dist_matrix_, rtol=1e-12)
    sign = np.sign((book.Y * fast.embedding_).sum(axis=0))
    same(book.Y * sign, fast.embedding_, atol=1e-9)


def test_canonical_correlation():
    own = np.random.default_rng(0)
    X = own.normal(size=(80, 4))
    Y = X @ own.normal(size=(4, 3)) + own.normal(size=(80, 3))
    book = canonical_correlation(X, Y)
    model = CCA(3, scale=False).fit(X, Y)
    same(book.rho, model.canonical_correlations_, rtol=1e-10)
    for found, G, Z in zip(model.transform(X, Y), (book.G, book.H), (X, Y), strict=True):
        T = (Z - Z.mean(axis=0)) @ G
        cosine = (found * T).sum(axis=0) / np.linalg.norm(found, axis=0)
        same(np.abs(cosine), 1.0, rtol=1e-10)  # the same scores in other units


def test_mds():
    own = np.random.default_rng(0)
    X, start = own.normal(size=(15, 3)), own.random((15, 2))
    delta = np.linalg.norm(X[:, None] - X, axis=2)
    fast = MDS(metric="precomputed", max_iter=20, eps=0).fit(delta, init=start)
    same(mds(delta, start, 20), fast.embedding_, atol=1e-8)


def test_tsne():
    """The probabilities to rounding; sixty steps, half of them exaggerated, from one start."""
    own = np.random.default_rng(0)
    X, start = own.normal(size=(40, 4)), 1e-2 * own.normal(size=(40, 2))
    P = neighbour_probabilities(X, 8.0)
    squares = np.square(X[:, None] - X).sum(axis=2)
    same(P, dense_joint(squares, 8.0)[0], rtol=1e-9, atol=1e-18)
    A, Y = fast_tsne.affinities(P), np.ascontiguousarray(start.T)
    forces = fast_tsne.divergence(A, Y, fast_tsne.all_pairs_of, None)
    at = fast_tsne.Map(Y, *forces, np.zeros_like(Y), np.ones_like(Y))
    plan = fast_tsne.Schedule(2.0, 12.0, 30, 50, 300, 0.0)
    for _ in range(60):
        at, _ = fast_tsne.descend(A, fast_tsne.all_pairs_of, plan, at)
    book = tsne(P, start, 60, rate=2.0, exploring=30)
    same(book, at.Y.T, atol=1e-9)
    same(divergence(P, book)[0], at.kl, rtol=1e-9)
    model = TSNE(perplexity=8, method="exact", init=start, max_iter=250).fit(X)
    same(divergence(P, model.embedding_)[0], model.kl_divergence_, rtol=1e-9)
