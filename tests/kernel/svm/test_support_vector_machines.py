"""SMO: scikit-learn as oracle, optimality in double precision, and what must not matter.

KER-04, KER-06, NuSVC, NuSVR and OneClassSVM (ANO-04).
"""

import numpy as np
import pytest
import sklearn.svm
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import cross_val_score

import pellucid
from pellucid import SVC, SVR, MaximumMarginClassifier, NuSVC, NuSVR, OneClassSVM
from pellucid.core.runtime.threads import limit_threads
from pellucid.kernel import GaussianKernel, LinearKernel
from pellucid.kernel.svm import smo

rng = np.random.default_rng(0)
IRIS = load_iris(return_X_y=True)
X2 = rng.normal(size=(300, 4))
Y2 = (X2[:, 0] * X2[:, 1] + 0.3 * rng.normal(size=300) > 0).astype(int)
TARGET = np.sin(X2[:, 0]) + 0.5 * X2[:, 1] + 0.2 * rng.normal(size=300)
W = rng.uniform(0.2, 2.0, size=300)

SETTINGS = [
    {},
    {"kernel": "linear", "C": 0.5},
    {"kernel": "poly", "degree": 2, "coef0": 1.0},
    {"kernel": "poly", "gamma": 0.1},
    {"gamma": "auto", "C": 10.0, "class_weight": "balanced"},
    {"kernel": rbf_kernel},
]


@pytest.mark.parametrize("params", SETTINGS, ids=[str(i) for i in range(6)])
@pytest.mark.parametrize("data", [IRIS, (X2, Y2)], ids=["three", "two"])
def test_svc_is_scikit_learns(data, params):
    X, y = data
    ours = SVC(tol=1e-6, **params).fit(X, y)
    theirs = sklearn.svm.SVC(tol=1e-6, **params).fit(X, y)
    assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-4)
    assert (ours.predict(X) == theirs.predict(X)).all()
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
    assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
    assert np.abs(ours.n_support_ - theirs.n_support_).max() <= 2
    if len(ours.support_) == len(theirs.support_) and params.get("kernel") != "linear":
        assert (ours.support_ == theirs.support_).all()


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-8])
@pytest.mark.parametrize("params", SETTINGS[:4], ids=[str(i) for i in range(4)])
def test_dual_objective_is_no_worse_than_libsvms(params, tol):
    """At equal tolerance, up to what the tolerance leaves open; libsvm ends in single precision."""
    ours = SVC(tol=tol, **params).fit(X2, Y2)
    theirs = sklearn.svm.SVC(tol=tol, **params).fit(X2, Y2)
    K, s = ours.kernel_(X2), 2.0 * Y2 - 1.0
    mine, other = (s @ b - b @ K @ b / 2 for b in (coefficients(ours), coefficients(theirs)))
    assert_allclose(ours.dual_objective_, mine, rtol=1e-9)
    assert ours.duality_gap_ <= 300 * ours.C * tol
    assert mine >= other - min(ours.duality_gap_, 1e-6 * other)


def coefficients(model):
    """y a of every row; rows that are no support vectors have 0."""
    beta = np.zeros(model.shape_fit_[0])
    beta[model.support_] = model.dual_coef_[0]
    return beta


def apart(gaps, K, tol):
    """How far the decision functions of two solutions with these duality gaps may lie apart.

    The primal is 1-strongly convex in w: |w - w*|^2 / 2 <= P(w) - P(w*) <= gap, and
    |f(x) - f*(x)| <= |w - w*| sqrt(k(x, x)). The intercept is read off rows whose f is known to
    within tol, so it moves by as much again and tol for either solution.
    """
    assert min(gaps) > -1e-9
    return 2 * np.sqrt(K.diagonal().max()) * np.sqrt(2 * np.maximum(gaps, 0)).sum() + 2 * tol


def test_layout_of_pairs():
    """Pair by pair against the exact programme: our error is nil, libsvm's what its gap allows."""
    X, y = IRIS
    ours = SVC(kernel="linear", tol=1e-8, decision_function_shape="ovo").fit(X, y)
    theirs = sklearn.svm.SVC(kernel="linear", tol=1e-8, decision_function_shape="ovo").fit(X, y)
    dual = np.zeros((2, len(X)))
    dual[:, ours.support_] = ours.dual_coef_
    for p, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        rows = (y == i) | (y == j)
        Z, s = X[rows], np.where(y[rows] == i, 1.0, -1.0)
        exact = MaximumMarginClassifier(C=1.0, tol=1e-12).fit(Z, s)
        assert_allclose(ours.coef_[p], exact.coef_[0], atol=1e-7)
        assert_allclose(ours.intercept_[p], exact.intercept_[0], atol=1e-6)
        w, b = theirs.coef_[p], theirs.intercept_[p]
        gap = w @ w / 2 + np.maximum(0, 1 - s * (Z @ w + b)).sum() - exact.dual_objective_
        assert np.linalg.norm(ours.coef_[p] - w) <= np.sqrt(2 * gap) + 1e-7  # single precision
        f, g = ours.decision_function(X)[:, p], theirs.decision_function(X)[:, p]
        assert_allclose(f, exact.decision_function(X), atol=1e-6)
        assert_allclose(f, g, atol=apart(np.array([gap]), X @ X.T, 1e-8))
        found = np.where(y == i, dual[j - 1], dual[i])[rows]
        assert_allclose(found, s * exact.multipliers_, atol=1e-6)
    assert (ours.support_ == theirs.support_).all()
    assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)  # theirs: single precision
    ties = SVC(break_ties=True).fit(X, y)
    assert (ties.predict(X) == np.argmax(ties.decision_function(X), axis=1)).all()
    with pytest.raises(ValueError, match="break_ties"):
        SVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)


@pytest.mark.parametrize("params", [{}, {"kernel": "linear"}, {"C": 20.0, "epsilon": 0.3}], ids=str)
def test_svr_is_scikit_learns(params):
    ours = SVR(tol=1e-6, **params, gamma=0.3).fit(X2, TARGET, sample_weight=W)
    theirs = sklearn.svm.SVR(tol=1e-6, gamma=0.3, **params).fit(X2, TARGET, sample_weight=W)
    K, C = ours.kernel_(X2), W * ours.C
    gaps, duals = [], []
    for model in (ours, theirs):
        beta, r = coefficients(model), np.abs(TARGET - model.predict(X2))
        duals.append(TARGET @ beta - ours.epsilon * np.abs(beta).sum() - beta @ K @ beta / 2)
        gaps.append(beta @ K @ beta / 2 + C @ np.maximum(0, r - ours.epsilon) - duals[-1])
    assert_allclose(ours.duality_gap_, gaps[0], atol=1e-9)
    assert_allclose(ours.primal_objective_ - ours.dual_objective_, gaps[0], atol=1e-9)
    assert gaps[0] <= 2 * C.sum() * ours.tol  # a violation of tol costs each row at most 2 C tol
    assert duals[0] >= duals[1] - gaps[0]
    assert_allclose(ours.predict(X2), theirs.predict(X2), atol=apart(gaps, K, 1e-6))
    tight = SVR(tol=1e-10, **params, gamma=0.3).fit(X2, TARGET, sample_weight=W)
    assert tight.duality_gap_ <= 2 * C.sum() * 1e-10
    assert tight.dual_objective_ >= duals[1] - 1e-9  # libsvm at equal tolerance is no better
    assert_allclose(ours.predict(X2), tight.predict(X2), atol=2e-6)
    r = np.abs(TARGET - ours.predict(X2))
    e = ours.epsilon
    assert (r[ours.categories_ == "inside_tube"] <= e + 1e-5).all()
    assert_allclose(r[ours.categories_ == "on_tube"], e, atol=1e-5)
    assert (r[ours.categories_ == "outside_tube"] >= e - 1e-5).all()


def test_example_25():
    model = SVR(kernel="linear", C=1.0, epsilon=0.1, tol=1e-10)
    model.fit(np.arange(6.0)[:, None], [0, 1.2, 1.9, 3.1, 3.9, 5.2])
    assert_allclose(model.coef_, [[0.975]], atol=1e-8)
    assert_allclose(model.intercept_, [0.1], atol=1e-8)


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.6])
def test_nu_classification_is_scikit_learns(nu):
    """Before the division by rho: 1/2 |w|^2 - nu n rho + sum max(0, rho - y f), dual -1/2 |w|^2."""
    ours = NuSVC(nu=nu, gamma=0.3, tol=1e-8).fit(X2, Y2)
    theirs = sklearn.svm.NuSVC(nu=nu, gamma=0.3, tol=1e-8).fit(X2, Y2)
    K, s, gaps, scores, rhos = ours.kernel_(X2), 2.0 * Y2 - 1.0, [], [], []
    for model in (ours, theirs):
        beta = coefficients(model)
        rho = 1 / np.abs(beta).max()  # some row is at its bound 1 before the division
        f = rho * model.decision_function(X2)
        gaps.append(rho**2 * beta @ K @ beta - nu * 300 * rho + np.maximum(0, rho - s * f).sum())
        scores.append(f)
        rhos.append(rho)
    assert_allclose(ours.duality_gap_, gaps[0], atol=1e-9)
    assert gaps[0] <= 300 * 1e-8
    assert gaps[0] < gaps[1]  # single-precision rows hold libsvm back
    far = apart(gaps, K, 1e-8)
    assert_allclose(scores[0], scores[1], atol=far)
    assert_allclose(rhos[0], rhos[1], atol=far)
    margin = s * ours.decision_function(X2)
    assert np.mean(margin < 1 - 2e-8 / rhos[0]) <= nu + 1e-9  # f is known to within tol / rho
    assert len(ours.support_) >= nu * len(X2) - 1e-9


@pytest.mark.parametrize("nu", [0.1, 0.3, 0.6])
def test_nu_regression_and_one_class_are_scikit_learns(nu):
    ours = NuSVR(nu=nu, gamma=0.3, tol=1e-8).fit(X2, TARGET)
    theirs = sklearn.svm.NuSVR(nu=nu, gamma=0.3, tol=1e-8).fit(X2, TARGET)
    K, gaps = ours.kernel_(X2), []
    for model in (ours, theirs):  # 1/2 |w|^2 + sum (nu e + max(0, |y - f| - e)), e as ours
        beta, r = coefficients(model), np.abs(TARGET - model.predict(X2))
        loss = nu * 300 * ours.epsilon_ + np.maximum(0, r - ours.epsilon_).sum()
        gaps.append(beta @ K @ beta + loss - TARGET @ beta)
    assert gaps[0] <= 2 * 300 * 1e-8
    assert_allclose(ours.predict(X2), theirs.predict(X2), atol=apart(gaps, K, 1e-8))
    assert np.mean(ours.slack_ > 2e-8) <= nu + 1e-9
    ours = OneClassSVM(nu=nu, gamma=0.3, tol=1e-8).fit(X2, sample_weight=W)
    theirs = sklearn.svm.OneClassSVM(nu=nu, gamma=0.3, tol=1e-8).fit(X2, sample_weight=W)
    gaps = []
    for model in (ours, theirs):  # 1/2 |w|^2 - nu W rho + sum w max(0, rho - f), dual -1/2 |w|^2
        beta, rho, f = coefficients(model), model.offset_[0], model.decision_function(X2)
        gaps.append(beta @ K @ beta - nu * W.sum() * rho + W @ np.maximum(0, -f))
    assert gaps[0] <= 2 * W.sum() * 1e-8
    far = apart(gaps, K, 1e-8)
    assert_allclose(ours.decision_function(X2), theirs.decision_function(X2), atol=far)
    assert_allclose(ours.score_samples(X2), theirs.score_samples(X2), atol=far)
    assert_allclose(ours.offset_, theirs.offset_, atol=far)


def test_nu_that_leaves_no_margin():
    """The reduced hulls of classes that are drawn alike meet: w = 0 and rho = 0."""
    y = np.random.default_rng(5).integers(2, size=300)
    for params in ({}, {"class_weight": {1: 2.0}}):
        with pytest.warns(UserWarning, match="nu=0.2 leaves no margin"):
            model = NuSVC(nu=0.2, kernel="linear", **params).fit(X2, y)
        assert np.isfinite(model.decision_function(X2)).all()
    with pytest.warns(UserWarning, match="no margin"):
        NuSVC(nu=0.5).fit(np.ones((4, 2)), [0, 1, 0, 1])


def test_nu_that_no_class_can_bear():
    y = np.r_[np.zeros(290, int), np.ones(10, int)]
    with pytest.raises(ValueError, match="infeasible"):
        NuSVC(nu=0.5).fit(X2, y)


def test_class_weights_of_nu_move_the_boundary():
    plain = NuSVC(nu=0.4).fit(X2, Y2)
    heavy = NuSVC(nu=0.4, class_weight={1: 20.0}).fit(X2, Y2)
    assert heavy.predict(X2).sum() > plain.predict(X2).sum()
    even = NuSVC(nu=0.4, tol=1e-8, class_weight={1: 1.0}).fit(X2, Y2)
    exact = NuSVC(nu=0.4, tol=1e-8).fit(X2, Y2)  # the price that nu stands for
    assert_allclose(even.decision_function(X2), exact.decision_function(X2), atol=1e-5)


def many(n=3000, seed=1):
    state = np.random.default_rng(seed)
    X = state.normal(size=(n, 6))
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] + 0.5 * state.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("params", [{}, {"kernel": "poly", "coef0": 1.0}], ids=str)
def test_many_rows_end_optimal_in_double_precision(params):
    """Single-precision rows, the cache and shrinking leave no trace in the answer."""
    X, y = many()
    model = SVC(cache_size=4, **params).fit(X, y)
    s = 2.0 * y - 1.0
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    F = model.kernel_(X) @ beta - s
    up = np.where(s > 0, beta < 1.0, beta < 0.0)
    down = np.where(s > 0, beta > 0.0, beta > -1.0)
    top, low = (-F)[up].max(), (-F)[down].min()
    assert top - low <= model.tol + 1e-9
    assert abs(beta.sum()) < 1e-9
    theirs = sklearn.svm.SVC(**params).fit(X, y)
    other = np.zeros(len(X))
    other[theirs.support_] = theirs.dual_coef_[0]
    K = model.kernel_(X)
    dual = [s @ b - 0.5 * b @ K @ b for b in (beta, other)]
    assert dual[0] >= dual[1] - 1e-3
    assert_allclose(model.dual_objective_, dual[0], rtol=1e-9)
    assert model.history_["active"].min() < len(X)
    unshrunk = SVC(shrinking=False, **params).fit(X, y)
    assert_allclose(unshrunk.decision_function(X), model.decision_function(X), atol=0.02)


def test_rows_of_any_kernel_on_demand(monkeypatch):
    """Kernels that compiled code does not know, sparse rows, and a whole Gram matrix agree."""
    X, y = many(400)
    whole = SVC(kernel=GaussianKernel(1.0) + LinearKernel(), tol=1e-7).fit(X, y)
    monkeypatch.setattr(smo, "FEW", 50)
    monkeypatch.setattr(smo, "MANY", 50)
    rows = SVC(kernel=GaussianKernel(1.0) + LinearKernel(), tol=1e-7, cache_size=0.1).fit(X, y)
    assert_allclose(rows.decision_function(X), whole.decision_function(X), atol=1e-5)
    monkeypatch.setattr("pellucid.kernel.svm.svm_model.DENSE_CELLS", 10)
    sparse = SVC(tol=1e-7).fit(csr_array(X), y)
    dense = SVC(tol=1e-7).fit(X, y)
    assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-5)
    for kernel in ("linear", "sigmoid", "poly"):
        a = SVC(kernel=kernel, gamma=0.05, tol=1e-6).fit(X[:60], y[:60])
        b = SVC(kernel=GaussianKernel(1.0)).fit(X[:60], y[:60])
        assert a.duality_gap_ < 1e-3
        assert b.score(X[:60], y[:60]) > 0.8
    laplacian = SVC(kernel=pellucid.kernel.LaplacianKernel(2.0), tol=1e-6).fit(X, y)
    assert laplacian.duality_gap_ < 1e-2


def test_sparse_as_scikit_learn():
    S = csr_array(np.where(np.abs(X2) > 0.5, X2, 0.0))
    ours = SVC(kernel="linear").fit(S, Y2)
    dense = SVC(kernel="linear").fit(S.toarray(), Y2)
    assert_allclose(ours.coef_.toarray(), dense.coef_)
    assert_allclose(ours.support_vectors_.toarray(), dense.support_vectors_)
    assert_allclose(ours.decision_function(S.toarray()), dense.decision_function(S), atol=1e-12)
    ours, dense = NuSVC(nu=0.3).fit(S, Y2), NuSVC(nu=0.3).fit(S.toarray(), Y2)
    assert_allclose(ours.decision_function(S), dense.decision_function(S.toarray()), atol=1e-9)


def test_precomputed_gram_is_sliced_by_cross_validation():
    K = rbf_kernel(X2, gamma=0.3)
    given = cross_val_score(SVC(kernel="precomputed", tol=1e-6), K, Y2, cv=4)
    made = cross_val_score(SVC(gamma=0.3, tol=1e-6), X2, Y2, cv=4)
    assert_allclose(given, made)
    with pytest.raises(ValueError, match="square"):
        SVC(kernel="precomputed").fit(K[:, :9], Y2)
    for cls in (SVR, NuSVR):
        a = cls(kernel="precomputed", tol=1e-8).fit(K, TARGET)
        b = cls(gamma=0.3, tol=1e-8).fit(X2, TARGET)
        assert_allclose(a.predict(K), b.predict(X2), atol=1e-5)
    a = OneClassSVM(kernel="precomputed", tol=1e-8).fit(K)
    b = OneClassSVM(gamma=0.3, tol=1e-8).fit(X2)
    assert_allclose(a.decision_function(K), b.decision_function(X2), atol=1e-5)


@pytest.mark.parametrize("name", ["SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM"])
def test_order_repetition_and_threads_change_nothing(name):
    y = TARGET if name.endswith("R") else Y2
    w = rng.integers(0, 3, size=300)
    order = rng.permutation(int(w.sum()))
    make = getattr(pellucid, name)
    X_again, y_again = np.repeat(X2, w, axis=0)[order], np.repeat(y, w)[order]
    weighted = make().fit(X2, y, sample_weight=w)
    with limit_threads(1):
        repeated = make().fit(X_again, y_again)
    assert_allclose(weighted.predict(X2), repeated.predict(X2), atol=1e-10)
    assert_allclose(weighted.intercept_, repeated.intercept_, atol=1e-10)


def test_one_thread_or_three_give_the_same_bits():
    X, y = many(2500)
    models = []
    for n in (1, 3):
        with limit_threads(n):
            models.append(SVC().fit(X, y))
    assert (models[0].dual_coef_ == models[1].dual_coef_).all()
    assert models[0].intercept_ == models[1].intercept_


def test_zero_weights_are_scored_all_the_same():
    w = np.where(np.arange(300) % 5 == 0, 0.0, 1.0)
    model = SVC().fit(X2, Y2, sample_weight=w)
    s = 2 * Y2 - 1
    assert_allclose(model.slack_, np.maximum(0, 1 - s * model.decision_function(X2)), atol=1e-9)
    assert (model.multipliers_[w == 0] == 0).all()
    model = SVR().fit(X2, TARGET, sample_weight=w)
    assert_allclose(
        model.slack_, np.maximum(0, np.abs(TARGET - model.predict(X2)) - 0.1), atol=1e-9
    )


def test_limits_and_refusals():
    with pytest.warns(ConvergenceWarning, match="max_iter=5"):
        model = SVC(max_iter=5).fit(X2, Y2)
    assert model.n_iter_.tolist() == [5]
    assert model.fit_status_ == 1
    with pytest.raises(ValueError, match="MaximumMarginClassifier"):
        SVC(C=np.inf).fit(X2, Y2)
    with pytest.raises(ValueError, match="weight 0"):
        SVC().fit(X2, Y2, sample_weight=(Y2 == 0).astype(float))
    with pytest.raises(AttributeError, match="linear"):
        _ = SVC().fit(X2, Y2).coef_
    constant = SVC().fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert np.isfinite(constant.decision_function(np.ones((1, 2)))).all()


def test_recovers_a_circle():
    X = np.random.default_rng(3).uniform(-2, 2, size=(800, 2))
    y = (np.hypot(*X.T) < 1.2).astype(int)
    model = SVC(C=100.0).fit(X[:400], y[:400])
    assert model.score(X[400:], y[400:]) > 0.97
    odd = OneClassSVM(nu=0.05, gamma=0.5).fit(X[y == 1])
    assert (odd.predict([[0.0, 0.0], [2.0, 2.0]]) == [1, -1]).all()
