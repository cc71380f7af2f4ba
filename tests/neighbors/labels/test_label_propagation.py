"""Label propagation and spreading: scikit-learn's numbers, exact limits, rows out of reach."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import semi_supervised as theirs
from sklearn.datasets import make_blobs, make_moons

import pellucid
from pellucid.core.algebra.graph import rbf_weights
from pellucid.neighbors import LabelPropagation, LabelSpreading, UnreachableWarning
from pellucid.neighbors.labels.label_model import spread_matrix, walk_matrix

PAIRS = [
    pytest.param(LabelPropagation, theirs.LabelPropagation, id="propagation"),
    pytest.param(LabelSpreading, theirs.LabelSpreading, id="spreading"),
]


def table(n=150, labelled=0.2, seed=0):
    X, y = make_blobs(n, centers=3, random_state=seed, cluster_std=2.0)
    y[np.random.default_rng(seed).random(n) > labelled] = -1
    return X, y


def laplacian_kernel(A, B):
    return np.exp(-np.abs(A[:, None] - B[None]).sum(axis=2))


@pytest.mark.parametrize(("cls", "other"), PAIRS)
@pytest.mark.parametrize(
    "params",
    [
        {"gamma": 0.5},
        {"gamma": 20},
        {"kernel": "knn"},
        {"kernel": "knn", "n_neighbors": 12},
        {"kernel": laplacian_kernel},
        {"gamma": 0.5, "tol": 1e-9, "max_iter": 5},
    ],
    ids=["wide", "narrow", "knn", "knn12", "function", "five rounds"],
)
def test_the_numbers_of_scikit_learn(cls, other, params):
    X, y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        a, b = cls(**params).fit(X, y), other(**params).fit(X, y)
    np.testing.assert_allclose(a.label_distributions_, b.label_distributions_, atol=1e-9)
    reached = b.label_distributions_.any(axis=1)
    np.testing.assert_array_equal(a.transduction_[reached], b.transduction_[reached])
    assert a.n_iter_ == b.n_iter_
    new = X[:40] + 0.05
    np.testing.assert_allclose(a.predict_proba(new), b.predict_proba(new), atol=1e-8)
    np.testing.assert_array_equal(a.predict(new), b.predict(new))


def test_propagation_ends_at_the_harmonic_function():
    """f_u = (I - P_uu)^-1 P_ul y_l, solved directly."""
    X, y = table()
    model = LabelPropagation(gamma=0.3, tol=1e-12, max_iter=20_000).fit(X, y)
    P, u = walk_matrix(rbf_weights(X, 0.3)), y == -1
    Y = np.eye(3)[y[~u]]
    exact = np.linalg.solve(np.eye(u.sum()) - P[np.ix_(u, u)], P[np.ix_(u, ~u)] @ Y)
    np.testing.assert_allclose(model.label_distributions_[u], exact, atol=1e-8)
    np.testing.assert_array_equal(model.transduction_[~u], y[~u])


def test_spreading_ends_at_its_minimum_and_the_objective_never_rises():
    X, y = table()
    model = LabelSpreading(gamma=0.3, alpha=0.7, tol=1e-12, max_iter=500).fit(X, y)
    S = spread_matrix(rbf_weights(X, 0.3))
    Y = np.where(y[:, None] == np.arange(3), 1.0, 0.0)
    exact = np.linalg.solve(np.eye(len(y)) - 0.7 * S, 0.3 * Y)
    exact /= exact.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.label_distributions_, exact, atol=1e-9)
    assert (np.diff(model.history_["objective"]) <= 1e-10).all()


@pytest.mark.parametrize("cls", [LabelPropagation, LabelSpreading])
def test_moons_from_one_label_each(cls):
    X, truth = make_moons(400, noise=0.05, random_state=0)
    y = np.full(400, -1)
    y[[int(np.argmax(truth == 0)), int(np.argmax(truth == 1))]] = 0, 1
    params = {} if cls is LabelPropagation else {"alpha": 0.99, "max_iter": 3000}
    model = cls(kernel="knn", n_neighbors=9, **params).fit(X, y)
    assert (model.transduction_ == truth).mean() > 0.97
    assert model.score(X, truth) > 0.97


@pytest.mark.parametrize("cls", [LabelPropagation, LabelSpreading])
@pytest.mark.parametrize("kernel", ["rbf", "knn"])
def test_sparse_rows_and_order_of_rows(cls, kernel):
    X, y = table()
    model = cls(kernel=kernel, gamma=0.5).fit(X, y)
    other = cls(kernel=kernel, gamma=0.5).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(other.label_distributions_, model.label_distributions_, atol=1e-9)
    np.testing.assert_allclose(
        other.predict_proba(sparse.csr_matrix(X[:9])), model.predict_proba(X[:9]), atol=1e-9
    )
    order = np.random.default_rng(0).permutation(len(X))
    turned = cls(kernel=kernel, gamma=0.5).fit(X[order], y[order])
    np.testing.assert_allclose(
        turned.label_distributions_, model.label_distributions_[order], atol=1e-9
    )


@pytest.mark.parametrize("cls", [LabelPropagation, LabelSpreading])
def test_rows_out_of_reach_are_reported(cls):
    """Weights underflow between two groups of which one has no label."""
    X = np.r_[np.linspace(0, 1, 10), np.linspace(100, 101, 5)][:, None]
    y = np.r_[3, np.full(8, -1), 7, np.full(5, -1)]
    with pytest.warns(UnreachableWarning, match=r"5 row\(s\).*row 10"):
        model = cls().fit(X, y)
    np.testing.assert_array_equal(model.unreachable_, np.arange(10, 15))
    assert (model.transduction_[10:] == -1).all()
    assert set(model.transduction_[:10]) == {3, 7}
    assert np.isfinite(model.predict_proba([[50.0], [1e3]])).all()  # scikit-learn: NaN
    assert model.predict([[-40.0], [60.0]]).tolist() == [3, 7]
    assert "no labelled row" in str(model.card())


def test_a_vote_of_rows_without_labels_is_even_and_said():
    X = np.r_[np.linspace(0, 1, 8), np.linspace(100, 101, 8)][:, None]
    y = np.r_[0, np.full(6, -1), 1, np.full(8, -1)]
    with pytest.warns(UnreachableWarning, match="stay -1"):
        model = LabelPropagation("knn", n_neighbors=4).fit(X, y)
    with pytest.warns(UnreachableWarning, match="same probability"):
        np.testing.assert_array_equal(model.predict_proba([[100.5]]), [[0.5, 0.5]])


def test_bad_input():
    X, y = table(30)
    with pytest.raises(ValueError, match="no row has a label"):
        LabelPropagation().fit(X, np.full(30, -1))
    with pytest.raises(ValueError, match="n_neighbors must be at most n_samples=30"):
        LabelPropagation("knn", n_neighbors=31).fit(X, y)
    with pytest.raises(ValueError, match="shape"):
        LabelSpreading(lambda A, B: np.ones((2, 2))).fit(X, y)
    with pytest.raises(ValueError, match="finite weights >= 0"):
        LabelSpreading(lambda A, B: -np.ones((len(A), len(B)))).fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        LabelSpreading(alpha=1.0).fit(X, y)


def test_words_and_saved_models(tmp_path):
    X, y = table(80, labelled=1.1)
    names = np.array(["ant", "bee", "cat"])[y]
    model = LabelSpreading("knn").fit(X, names)
    assert set(model.transduction_) == {"ant", "bee", "cat"}
    pellucid.save(model, tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
