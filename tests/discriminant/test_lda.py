"""Linear discriminant analysis: scikit-learn, brute force, laws, corners."""

import numpy as np
import polars as pl
import pytest
import sklearn.discriminant_analysis
from discriminant_tables import THREE_X, THREE_Y, TWO_X, TWO_Y, blobs, mixed
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning, eigh
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm
from sklearn.covariance import OAS
from sklearn.exceptions import NotFittedError

import pellucid
from pellucid import LinearDiscriminantAnalysis
from pellucid.core.loops.statistics import LEAF_ROWS, Rows
from pellucid.discriminant import lda as module
from pellucid.discriminant.moments import class_scatter, merge_class_scatter

Peer = sklearn.discriminant_analysis.LinearDiscriminantAnalysis


def priors(K):
    return np.arange(1, K + 1) / np.arange(1, K + 1).sum()


# The catalogue's examples


def test_example_1_lined_up_classes_are_right():
    x, y = np.array([[0.0], [1], [4], [5], [8], [9]]), [0, 0, 1, 1, 2, 2]
    assert_array_equal(LinearDiscriminantAnalysis().fit(x, y).predict(x), y)


def test_example_12():
    model = LinearDiscriminantAnalysis(covariance_estimator="unbiased").fit(TWO_X, TWO_Y)
    assert_allclose(model.covariance_, [[0.9791666667, 0.3125], [0.3125, 0.84375]], rtol=1e-9)
    assert_allclose(model.coef_, [[2.8525469169, 2.7953529937]], rtol=1e-9)
    assert_allclose(model.intercept_, -12.8894410581, rtol=1e-9)
    assert_allclose(model.decision_function([[2, 1]]), -4.3889942306, rtol=1e-9)
    default = LinearDiscriminantAnalysis().fit(TWO_X, TWO_Y)
    assert_allclose(default.decision_function([[2, 1]]), -5.5876090653, rtol=1e-9)


def test_example_13():
    model = LinearDiscriminantAnalysis(covariance_estimator="unbiased").fit(THREE_X, THREE_Y)
    expected = [[0.5277777778, 0.1944444444], [0.1944444444, 0.5277777778]]
    assert_allclose(model.covariance_, expected, rtol=1e-9)
    assert_allclose(model.eigenvalues_, 4 * np.array([14.5818115951, 6.8604960972]), rtol=1e-9)


def test_example_14():
    X, y = blobs()
    model = LinearDiscriminantAnalysis(covariance_estimator="unbiased").fit(X, y)
    expected = [[0.1606857140, -0.0027290396], [-0.0027290396, 0.1540007936]]
    assert_allclose(model.covariance_, expected, rtol=1e-7)
    plane = model.boundary(0, 1)
    assert_allclose(plane.coef, [-13.2485697154, -6.7810739325], rtol=1e-9)
    assert_allclose(plane.intercept, 36.9071809752, rtol=1e-9)
    assert (model.predict(X) == y).sum() == 296
    wide, labels = mixed(p=10)
    assert LinearDiscriminantAnalysis().fit(wide, labels).n_parameters_ == 22


# Oracles

OPTIONS = [
    {},
    {"n_components": 1, "store_covariance": True},
    {"priors": True},
    {"solver": "lsqr"},
    {"solver": "lsqr", "shrinkage": 0.3},
    {"solver": "lsqr", "shrinkage": "auto"},
    {"solver": "eigen"},
    {"solver": "eigen", "priors": True},
    {"solver": "eigen", "shrinkage": 0.3},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "eigen", "covariance_estimator": OAS()},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("K", [2, 4])
def test_same_as_scikit_learn(options, K):
    X, y = mixed(K=K)
    options = {k: (priors(K) if k == "priors" else v) for k, v in options.items()}
    ours, theirs = LinearDiscriminantAnalysis(**options).fit(X, y), Peer(**options).fit(X, y)
    for name in ("coef_", "intercept_", "means_", "priors_"):
        assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-8, atol=1e-9)
    if hasattr(theirs, "covariance_"):
        assert_allclose(ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-12)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-8, atol=1e-8)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-11)
    if options.get("solver") != "lsqr":
        assert_allclose(abs(ours.transform(X)), abs(theirs.transform(X)), rtol=1e-6, atol=1e-8)
        ratio = theirs.explained_variance_ratio_
        assert_allclose(ours.explained_variance_ratio_, ratio, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("given", [None, [0.2, 0.3, 0.5]])
def test_brute_force_densities(given):
    X, y = mixed()
    model = LinearDiscriminantAnalysis(priors=given).fit(X, y)
    logs = np.column_stack(
        [
            multivariate_normal(m, model.covariance_).logpdf(X) + np.log(pi)
            for m, pi in zip(model.means_, model.priors_, strict=True)
        ]
    )
    evidence = logsumexp(logs, axis=1)
    assert_allclose(model.score_samples(X), evidence, rtol=1e-9)
    assert_allclose(model.predict_log_proba(X), logs - evidence[:, None], atol=1e-8)


@pytest.mark.parametrize("kind", [None, "unbiased", "weighted"])
def test_discriminants_are_the_textbook_formula(kind):
    X, y = mixed()
    model = LinearDiscriminantAnalysis(covariance_estimator=kind).fit(X, y)
    each = [np.cov(X[y == k].T, ddof=0 if kind is None else 1) for k in range(3)]
    n = np.bincount(y)
    if kind == "weighted":
        S = sum(n[k] / n.sum() * each[k] for k in range(3))
    else:
        free = n if kind is None else n - 1
        S = sum(free[k] * each[k] for k in range(3)) / free.sum()
    assert_allclose(model.covariance_, S, rtol=1e-10, atol=1e-12)
    P, m = np.linalg.inv(S), model.means_
    delta = X @ P @ m.T - 0.5 * np.einsum("kp,pq,kq->k", m, P, m) + np.log(n / n.sum())
    assert_allclose(model.discriminants(X), delta, rtol=1e-8, atol=1e-8)
    plane = model.boundary(2, 0)
    assert_allclose(plane.score(X), delta[:, 2] - delta[:, 0], rtol=1e-7, atol=1e-7)
    parts = model.explain(X).sum(axis=2)
    gap = (parts[:, 1] - parts[:, 0]) - (delta[:, 1] - delta[:, 0])
    assert_allclose(gap, gap[0], atol=1e-8)  # the score at the centre


# Coordinates


def test_coordinates_solve_the_rayleigh_quotient():
    X, y = mixed(p=5, K=4)
    model = LinearDiscriminantAnalysis(covariance_estimator="unbiased").fit(X, y)
    A, W = model.scalings_, model.covariance_
    assert_allclose(A.T @ W @ A, np.eye(3), atol=1e-9)
    B = model.scatter_.between / 3
    assert_allclose(B @ A, W @ A * model.eigenvalues_, atol=1e-6)
    assert_allclose(model.eigenvalues_, eigh(B, W, eigvals_only=True)[::-1][:3], rtol=1e-8)
    total = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    assert_allclose(model.scatter_.total, total, rtol=1e-9, atol=1e-8)
    Z = model.whiten(X)
    within = sum((z := Z[y == k] - Z[y == k].mean(axis=0)).T @ z for k in range(4))
    assert_allclose(within / (len(X) - 4), np.eye(5), atol=1e-9)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_reduced_rank(solver):
    X, y = mixed(p=5, K=4)
    full = LinearDiscriminantAnalysis(solver).fit(X, y)
    whole = LinearDiscriminantAnalysis(solver, reduced=True).fit(X, y)
    assert_allclose(whole.predict_proba(X), full.predict_proba(X), atol=1e-8)
    two = LinearDiscriminantAnalysis(solver, n_components=2, reduced=True).fit(X, y)
    Z, M = two.transform(X), two.transform(two.means_)
    joint = np.log(two.priors_) - 0.5 * ((Z[:, None] - M) ** 2).sum(axis=2)
    assert_array_equal(two.predict(X), joint.argmax(axis=1))
    assert_allclose(two.predict_log_proba(X), joint - logsumexp(joint, axis=1)[:, None], atol=1e-8)
    assert not np.array_equal(two.predict(X), full.predict(X))


def test_output_names():
    X, y = mixed()
    model = LinearDiscriminantAnalysis().set_output(transform="pandas").fit(X, y)
    names = ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    assert list(model.transform(X).columns) == names


# Blocks and partial fits


@pytest.mark.parametrize("options", [{}, {"covariance_estimator": "weighted"}, {"solver": "eigen"}])
def test_partial_fit_is_exact(options):
    X, y = mixed(600, labels=["a", "b", "c"])
    w = np.random.default_rng(5).integers(0, 3, size=600)
    whole = LinearDiscriminantAnalysis(**options).fit(X, y, sample_weight=w)
    parts = LinearDiscriminantAnalysis(**options)
    for rows in np.array_split(np.arange(600), [60, 200, 230]):
        parts.partial_fit(X[rows], y[rows], ["a", "b", "c"], sample_weight=w[rows])
    for name in ("coef_", "intercept_", "covariance_", "means_", "eigenvalues_"):
        assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-9, atol=1e-11)
    again = LinearDiscriminantAnalysis(**options).fit(X[:300], y[:300], sample_weight=w[:300])
    again.partial_fit(X[300:], y[300:], sample_weight=w[300:])
    assert_allclose(again.coef_, whole.coef_, rtol=1e-8)


def test_partial_fit_waits_for_enough_rows():
    X, y = mixed()
    model = LinearDiscriminantAnalysis()
    model.partial_fit(X[y == 0][:1], y[y == 0][:1], [0, 1, 2])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X[y < 2], y[y < 2])
    assert set(model.predict(X)) == {0, 1}  # class 2 has not been seen
    assert_array_equal(model.predict_proba(X)[:, 2], 0)
    model.partial_fit(X[y == 2], y[y == 2])
    assert set(model.predict(X)) == {0, 1, 2}
    with pytest.raises(ValueError, match="do not exist"):
        model.partial_fit(X, y + 1)
    with pytest.raises(ValueError, match="moments only"):
        LinearDiscriminantAnalysis(shrinkage="auto").partial_fit(X, y, [0, 1, 2])


@pytest.mark.parametrize("options", [{}, {"solver": "eigen", "shrinkage": "auto"}])
def test_blocks(options):
    X, y = mixed(LEAF_ROWS + 900, labels=["a", "b", "c"])
    frame = pl.DataFrame(X, schema=list("pqrs")).with_columns(y=pl.Series(y))
    source = pellucid.data.blocks(frame, target="y", block_rows=700)
    parts = LinearDiscriminantAnalysis(**options).fit_blocks(source)
    whole = LinearDiscriminantAnalysis(**options).fit(X, y)
    assert_array_equal(parts.coef_, whole.coef_)


def test_moments_merge_and_far_from_the_origin():
    X, y = mixed(500)
    X += 1e7
    X[:, 3] = 5.0
    w = np.random.default_rng(0).random(500)
    w[y == 1] = 0
    a = class_scatter(Rows(X[:200], y[:200], w[:200]), 3, True)
    b = class_scatter(Rows(X[200:], y[200:], w[200:]), 3, True)
    both = merge_class_scatter(a, b)
    for k in (0, 2):
        own, v = X[y == k], w[y == k]
        C = own - np.average(own, axis=0, weights=v)
        assert_allclose(both.scatter[k], (C * v[:, None]).T @ C, rtol=1e-6, atol=1e-6)
        assert_allclose(both.mean[k], np.average(own, axis=0, weights=v), rtol=1e-14)
    assert not both.scatter[1].any()
    assert not both.scatter[:, 3].any()
    one = class_scatter(Rows(X, y, w), 3, False)
    assert_allclose(one.scatter[0], both.scatter.sum(axis=0), rtol=1e-6, atol=1e-6)
    assert_allclose(one.weight, both.weight)
    many = class_scatter(Rows(X, y, w), 40, False)
    assert_allclose(many.scatter, one.scatter, rtol=1e-6, atol=1e-6)
    assert_allclose(many.mean[:3], one.mean)


# Laws


def test_affine_changes_of_units_do_not_matter():
    X, y = mixed()
    A = np.random.default_rng(1).normal(size=(4, 4)) * [1e-6, 1, 1e3, 1e8]
    ours = LinearDiscriminantAnalysis().fit(X, y)
    moved = LinearDiscriminantAnalysis(tol=1e-7).fit(X @ A + 5.0, y)
    assert_allclose(moved.predict_proba(X @ A + 5.0), ours.predict_proba(X), atol=1e-5)


def test_order_of_rows_does_not_matter():
    X, y = mixed()
    order = np.random.default_rng(0).permutation(len(y))
    ours = LinearDiscriminantAnalysis().fit(X, y)
    turned = LinearDiscriminantAnalysis().fit(X[order], y[order])
    assert_allclose(turned.coef_, ours.coef_, rtol=1e-9, atol=1e-11)


def test_expected_error_is_the_overlap():
    model = LinearDiscriminantAnalysis(priors=[0.3, 0.7]).fit(*mixed(K=2))
    d = model.boundary()
    u = d.coef / np.sqrt(d.coef @ model.covariance_ @ d.coef)
    a, b = model.means_ @ u
    t = np.linspace(min(a, b) - 12, max(a, b) + 12, 200_001)
    density = np.minimum(0.3 * norm(a, 1).pdf(t), 0.7 * norm(b, 1).pdf(t))
    assert_allclose(model.expected_error_, np.trapezoid(density, t), rtol=1e-6)
    X, y = model.sample(200_000, random_state=0)
    assert_allclose((model.predict(X) != y).mean(), model.expected_error_, atol=4e-3)
    with pytest.raises(AttributeError, match="two classes"):
        _ = LinearDiscriminantAnalysis().fit(*mixed()).expected_error_


def test_recovers_what_it_draws():
    model = LinearDiscriminantAnalysis().fit(*mixed())
    X, y = model.sample(100_000, random_state=1)
    again = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(again.means_, model.means_, atol=0.05)
    assert_allclose(again.covariance_, model.covariance_, rtol=0.05, atol=0.05)
    assert_allclose(again.priors_, model.priors_, atol=0.01)


# Corners


def test_collinear_and_constant_columns_are_dropped_with_a_warning():
    X, y = mixed()
    wide = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(X), 3.0)])
    with pytest.warns(LinAlgWarning, match=r"x0, x1, x4, x5 .*2 of 6 directions"):
        model = LinearDiscriminantAnalysis().fit(wide, y)
    plain = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(model.predict_proba(wide), plain.predict_proba(X), atol=1e-9)
    assert_array_equal(model.predict(wide), Peer().fit(wide, y).predict(wide))
    drawn, _ = model.sample(50, random_state=0)
    assert_allclose(drawn[:, 4], drawn[:, 0] + drawn[:, 1], atol=1e-9)


@pytest.mark.parametrize("p", [60, 700])
def test_fewer_rows_than_columns(p):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, p)) + 2 * y[:, None]
    with pytest.warns(LinAlgWarning, match="30 rows"):
        ours = LinearDiscriminantAnalysis().fit(X, y)
    theirs = Peer().fit(X, y)
    query = rng.normal(size=(40, p)) + 2
    assert_allclose(ours.predict_proba(query), theirs.predict_proba(query), atol=1e-7)
    assert_allclose(abs(ours.transform(query)), abs(theirs.transform(query)), rtol=1e-6, atol=1e-6)
    assert np.isfinite(ours.score_samples(query)).all()
    assert ours.sample(3, random_state=0)[0].shape == (3, p)
    assert np.shape(ours.covariance_) == (p, p)


def test_two_ways_of_sphering_agree(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.arange(30) % 3
    X = rng.normal(size=(30, 60)) + y[:, None]
    with pytest.warns(LinAlgWarning):
        a = LinearDiscriminantAnalysis().fit(X, y)
    monkeypatch.setattr(module, "WIDE", 20)
    with pytest.warns(LinAlgWarning):
        b = LinearDiscriminantAnalysis().fit(X, y)
    assert_allclose(a.coef_, b.coef_, rtol=1e-7, atol=1e-9)
    assert_allclose(a.log_determinant_, b.log_determinant_, rtol=1e-9)
    assert_allclose(a.covariance_, b.covariance_, atol=1e-9)
    with pytest.raises(ValueError, match="start again"):
        b.partial_fit(X, y)


def test_far_rows_have_finite_probabilities():
    X, y = mixed()
    model = LinearDiscriminantAnalysis().fit(X, y)
    P = model.predict_proba(1e150 * X)
    assert np.isfinite(P).all()
    assert_allclose(P.sum(axis=1), 1)


def test_a_tie_goes_to_the_first_class_as_in_scikit_learn():
    X, y = np.array([[-2.0], [-1], [1], [2]]), [0, 0, 1, 1]
    assert LinearDiscriminantAnalysis().fit(X, y).predict([[0.0]]) == 0
    assert Peer().fit(X, y).predict([[0.0]]) == 0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_components": 3}, "n_components cannot be larger"),
        ({"shrinkage": 2.0}, "at most 1"),
        ({"shrinkage": "some"}, "auto"),
        ({"covariance_estimator": "none"}, "unbiased"),
        ({"covariance_estimator": 3}, "have fit"),
        ({"covariance_estimator": OAS(), "shrinkage": 0.1}, "Only one of the two"),
        ({"priors": [0.5, 0.5]}, "3 numbers"),
        ({"priors": [-1, 1, 1]}, "non-negative"),
    ],
)
def test_refusals(options, match):
    with pytest.raises(ValueError, match=match):
        LinearDiscriminantAnalysis(**options).fit(*mixed())


def test_other_refusals():
    X, y = mixed()
    with pytest.raises(ValueError, match="class"):
        LinearDiscriminantAnalysis().fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match="more than the number of classes"):
        LinearDiscriminantAnalysis().fit(X[:3], [0, 1, 2])
    with pytest.raises(ValueError, match="no column varies"):
        LinearDiscriminantAnalysis().fit(y[:, None].astype(float), y)
    with pytest.raises(ValueError, match="no class"):
        LinearDiscriminantAnalysis().fit(X, y).boundary(0, 7)
    with pytest.warns(UserWarning, match="do not sum to 1"):
        LinearDiscriminantAnalysis(priors=[1, 1, 1]).fit(X, y)
    with pytest.raises(ValueError, match="overflow"):
        LinearDiscriminantAnalysis().fit(X * 1e200, y)


def test_whitened_rows_are_centred_at_the_mean_of_all():
    X, y = blobs()[:2]
    X = X + 100.0
    model = LinearDiscriminantAnalysis().fit(X, y)
    Z = model.whiten(X)
    assert_allclose(Z, (X - model.xbar_) @ model.whitening_, atol=1e-8)
    assert_allclose(np.average(Z, axis=0), 0.0, atol=1e-8)
