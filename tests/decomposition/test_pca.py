"""Principal components: the course's numbers, scikit-learn's answers, and what must always hold."""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn import decomposition as theirs_module

import pellucid
from pellucid import PCA
from pellucid.decomposition.dimension import most_probable

Theirs = theirs_module.PCA
SOLVERS = ("auto", "full", "covariance_eigh", "randomized", "greedy", "arpack")
FOODS = np.array([[10, 1, 2, 7], [7, 2, 1, 10], [2, 9, 7, 3], [3, 6, 10, 2]], dtype=float)


@pytest.fixture(name="X")
def table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(80, 6)) @ np.diag([5, 3, 2, 1, 0.5, 0.1]) @ rng.normal(size=(6, 6)) + 7


def test_example_15_four_points():
    model = PCA(ddof=0).fit([[2, 0], [0, 2], [3, 3], [-1, -1]])
    np.testing.assert_allclose(model.get_covariance(), [[2.5, 1.5], [1.5, 2.5]])
    np.testing.assert_allclose(model.eigenvalues_, [4, 1])
    np.testing.assert_allclose(model.components_[0], np.sqrt([0.5, 0.5]))


def test_example_15_foods():
    model = PCA(2, standardize=True).fit(FOODS)
    rebuilt = model.inverse_transform(model.transform(FOODS))[0]
    np.testing.assert_allclose(rebuilt, [9.54625869, 0.49353959, 2.53930347, 7.42342464], atol=1e-8)
    whole = PCA(standardize=True).fit(FOODS)
    np.testing.assert_allclose(
        whole.singular_values_[:3], [3.7640325888, 1.2114803013, 0.6036341191], atol=1e-9
    )


def test_example_15_hand_chosen_directions():
    model = PCA.from_components([[3, -3, -3, 3], [1, -1, 1, -1]], mean=(5.5, 4.5, 5, 5.5))
    np.testing.assert_allclose(model.inverse_transform([[1, 1]]), [[9.5, 0.5, 3, 7.5]])
    np.testing.assert_allclose(model.inverse_transform([[-1, 1]]), [[3.5, 6.5, 9, 1.5]])
    np.testing.assert_allclose(model.transform([[9.5, 0.5, 3, 7.5]]), [[1, 1]], atol=1e-12)
    with pytest.raises(ValueError, match="fitted to rows"):
        model.score(FOODS)
    assert "given" in str(model.card())


def test_example_16_five_rows():
    X = [[1, 2, 0], [2, 1, 1], [3, 5, 2], [4, 3, 3], [5, 6, 9]]
    one, two = PCA(1, ddof=0).fit(X), PCA(2, ddof=0).fit(X)
    np.testing.assert_allclose(
        one.eigenvalues_, [14.0317023566, 1.0737958489, 0.3345017945], atol=1e-10
    )
    np.testing.assert_allclose(one.reconstruction_error_, 7.0414882170, atol=1e-9)
    np.testing.assert_allclose(two.reconstruction_error_, 1.6725089724, atol=1e-9)
    np.testing.assert_allclose(one.reconstruction_errors(X).sum(), one.reconstruction_error_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_scikit_learn_gives_the_same(X, solver):
    ours = PCA(3, svd_solver=solver, random_state=0).fit(X)
    theirs = Theirs(3, svd_solver="full").fit(X)
    for name in (
        "components_", "mean_", "explained_variance_", "explained_variance_ratio_",
        "singular_values_", "noise_variance_", "n_components_", "n_samples_",
    ):  # fmt: skip
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-8)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-6)


@pytest.mark.parametrize("given", [None, 0, 2, 0.5, 0.9, 0.999, "mle"])
def test_every_kind_of_number(X, given):
    ours, theirs = PCA(given).fit(X), Theirs(given, svd_solver="full").fit(X)
    assert ours.n_components_ == theirs.n_components_
    np.testing.assert_allclose(ours.components_, theirs.components_, atol=1e-9)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, atol=1e-12)


@pytest.mark.parametrize("whiten", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_there_and_back(X, whiten, standardize):
    model = PCA(whiten=whiten, standardize=standardize).fit(X)
    scores = model.transform(X)
    np.testing.assert_allclose(model.inverse_transform(scores), X, atol=1e-9)
    spread = np.eye(6) if whiten else np.diag(model.explained_variance_)
    np.testing.assert_allclose(np.cov(scores.T), spread, atol=1e-9)
    if whiten and not standardize:
        np.testing.assert_allclose(scores, Theirs(whiten=True).fit_transform(X), atol=1e-7)


def test_the_density_is_that_of_the_standardised_model_in_plain_units(X):
    model = PCA(2, standardize=True).fit(X)
    normal = multivariate_normal(model.mean_, model.get_covariance())
    np.testing.assert_allclose(model.score_samples(X), normal.logpdf(X))


def test_loadings_are_correlations(X):
    model = PCA(3).fit(X)
    scores = model.transform(X)
    r = np.corrcoef(np.hstack([X, scores]).T)[:6, 6:]
    np.testing.assert_allclose(model.loadings_, r, atol=1e-10)


def test_weights_are_repetitions(X):
    w = np.random.default_rng(1).integers(0, 3, len(X))
    for solver in ("covariance_eigh", "full", "greedy"):
        a = PCA(2, svd_solver=solver, standardize=True).fit(X, sample_weight=w)
        b = PCA(2, svd_solver=solver, standardize=True).fit(np.repeat(X, w, axis=0))
        np.testing.assert_allclose(a.components_, b.components_, atol=1e-10)
        np.testing.assert_allclose(a.eigenvalues_, b.eigenvalues_, atol=1e-10)
        np.testing.assert_allclose(a.reconstruction_error_, b.reconstruction_error_)


@pytest.mark.parametrize("solver", ["auto", "full", "randomized", "arpack"])
def test_more_columns_than_rows(solver):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20, 700)) + 5
    X += rng.normal(size=(20, 4)) * [40, 30, 20, 10] @ rng.normal(size=(4, 700)) / 10
    ours = PCA(4, svd_solver=solver, random_state=0, iterated_power=12).fit(X)
    theirs = Theirs(4, svd_solver="full").fit(X)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(ours.noise_variance_, theirs.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(
        ours.reconstruction_errors(X).sum(), ours.reconstruction_error_, rtol=1e-9
    )
    assert PCA().fit(X).n_components_ == 20
    with pytest.raises(ValueError, match="no density"):
        PCA().fit(X).score(X)


@pytest.mark.parametrize("solver", ["auto", "covariance_eigh", "arpack", "randomized", "greedy"])
def test_sparse(solver):
    X = sparse.random_array((300, 12), density=0.3, rng=np.random.default_rng(3), format="csr")
    ours = PCA(3, svd_solver=solver, random_state=0, iterated_power=10).fit(X)
    theirs = Theirs(3, svd_solver="full").fit(X.toarray())
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_, rtol=1e-5)
    np.testing.assert_allclose(ours.transform(X), ours.transform(X.toarray()))
    with pytest.raises(TypeError, match="sparse"):
        PCA(svd_solver="full").fit(X)


def test_greedy_on_close_and_equal_eigenvalues():
    Q = np.linalg.qr(np.random.default_rng(4).normal(size=(5, 5)))[0]
    Z = np.vstack([Q, -Q]) * np.repeat(np.sqrt([[3, 3, 2, 2 - 1e-9, 1]]), 2, axis=0).reshape(-1, 1)
    model = PCA(svd_solver="greedy").fit(Z @ Q)
    np.testing.assert_allclose(
        model.eigenvalues_, PCA(svd_solver="full").fit(Z @ Q).eigenvalues_, rtol=1e-12
    )
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(5), atol=1e-12)
    assert len(model.history_) == 5
    assert (np.diff(model.history_["objective"]) <= 1e-9).all()


def test_recovers_a_plane_with_noise():
    rng = np.random.default_rng(5)
    V = np.linalg.qr(rng.normal(size=(8, 2)))[0].T
    X = rng.normal(size=(5000, 2)) * [5, 3] @ V + 0.1 * rng.normal(size=(5000, 8)) + 2
    model = PCA("mle").fit(X)
    assert model.n_components_ == 2
    angles = np.linalg.svd(model.components_ @ V.T, compute_uv=False)
    assert angles.min() > 0.9999
    assert model.card().numbers["intrinsic dimension (95% of the variance)"] == 2
    low, high = model.eigenvalue_intervals()[0]
    assert low < 25 < high


def test_mle_of_a_bare_spectrum():
    assert most_probable(np.array([4.0]), 10) == 1


def test_constant_columns():
    X = np.random.default_rng(6).normal(size=(30, 3))
    X[:, 1] = 4.2
    model = PCA().fit(X)
    assert model.eigenvalues_[-1] == 0
    assert (model.loadings_[1] == 0).all()
    with pytest.raises(ValueError, match="column 1 is constant"):
        PCA(standardize=True).fit(X)
    flat = PCA().fit(np.ones((5, 2)))
    assert (flat.explained_variance_ratio_ == 0).all()
    assert np.isfinite(flat.transform(np.ones((2, 2)))).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_components": 7}, "n_components=7 must be between 0 and .*=6 with"),
        ({"n_components": 1.5}, "between 0 and 1"),
        ({"n_components": "mlf"}, "mle"),
        ({"n_components": -1}, "whole number"),
        ({"n_components": 0.5, "svd_solver": "randomized"}, "whole number n_components"),
        ({"n_components": 6, "svd_solver": "arpack"}, "must be strictly less than .*=6 with"),
        ({"svd_solver": "svd"}, "svd_solver"),
        ({"ddof": 2}, "ddof"),
    ],
)
def test_bad_parameters_are_refused(X, options, words):
    with pytest.raises(ValueError, match=words):
        PCA(**options).fit(X)


def test_one_row_and_wrong_scores(X):
    with pytest.raises(ValueError, match="n_samples=1"):
        PCA().fit(X[:1])
    with pytest.raises(ValueError, match="2 columns"):
        PCA(3).fit(X).inverse_transform(np.ones((2, 2)))
    with pytest.raises(ValueError, match="only supported if n_samples >= n_features"):
        PCA("mle").fit(X[:4])


def test_blocks_refuse_solvers_that_need_the_rows(X):
    import polars as pl

    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(6)])
    with pytest.raises(ValueError, match="fit_blocks works from sums"):
        PCA(svd_solver="full").fit_blocks(pellucid.data.blocks(frame, block_rows=20))
    greedy = PCA(2, svd_solver="greedy").fit_blocks(pellucid.data.blocks(frame, block_rows=20))
    np.testing.assert_allclose(greedy.components_, PCA(2).fit(X).components_, atol=1e-10)


def test_the_four_views_agree(X):
    """Largest variance, least error, eigenvectors of S, singular vectors of the centred rows."""
    Z, d, rng = X - X.mean(axis=0), 2, np.random.default_rng(0)
    values, Q = np.linalg.eigh(Z.T @ Z / len(Z))
    s, V = np.linalg.svd(Z, full_matrices=False)[1:]
    models = [PCA(d, svd_solver=solver, ddof=0, random_state=0).fit(X) for solver in SOLVERS]
    for model in models:
        plane = model.components_.T @ model.components_
        np.testing.assert_allclose(plane, Q[:, -d:] @ Q[:, -d:].T, atol=1e-8)
        np.testing.assert_allclose(plane, V[:d].T @ V[:d], atol=1e-8)
        np.testing.assert_allclose(model.explained_variance_, values[::-1][:d], rtol=1e-8)
        np.testing.assert_allclose(model.explained_variance_, s[:d] ** 2 / len(Z), rtol=1e-8)
        variance = np.trace(plane @ Z.T @ Z) / len(Z)
        error = ((Z - Z @ plane) ** 2).sum()
        np.testing.assert_allclose(model.reconstruction_error_, error, rtol=1e-8)
        np.testing.assert_allclose(variance * len(Z) + error, (Z**2).sum(), rtol=1e-12)
        for _ in range(50):  # no other plane, near or far, has more variance or less error
            step = rng.normal(size=(X.shape[1], d)) * rng.choice([1e-3, 0.1, 10.0])
            B = np.linalg.qr(model.components_.T + step)[0]
            assert ((Z @ B) ** 2).sum() / len(Z) <= variance * (1 + 1e-12)
            assert ((Z - Z @ B @ B.T) ** 2).sum() >= error * (1 - 1e-12)
