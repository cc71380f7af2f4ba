"""SGDClassifier: scikit-learn's path visit by visit, exact minima, sparse rows, solvers."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression as ExactLogistic
from sklearn.linear_model import SGDClassifier as Peer

from pellucid import SGDClassifier
from pellucid.solvers import L2, LBFGS, Constant, GradientDescent, InverseScaling, LinearObjective

LOSSES = [
    "hinge", "squared_hinge", "log_loss", "perceptron", "modified_huber", "squared_error", "huber",
    "epsilon_insensitive", "squared_epsilon_insensitive",
]  # fmt: skip
RATES = ["constant", "optimal", "invscaling", "adaptive"]


def clouds(n=90, p=4, K=2, gap=1.5, seed=0):
    rng = np.random.default_rng(seed)
    code = rng.integers(K, size=n)
    return rng.normal(size=(n, p)) + gap * np.eye(K, p)[code], np.array(list("abcd"))[code]


def assert_same_fit(ours, theirs, rtol=1e-6):
    assert ours.n_iter_ == theirs.n_iter_
    assert ours.t_ == theirs.t_
    assert_allclose(ours.coef_, theirs.coef_, rtol=rtol, atol=1e-5 * np.abs(theirs.coef_).max())
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-5, atol=1e-5)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
def test_follows_scikit_learn_visit_by_visit(loss, penalty):
    """Same order of the rows: the same coefficients, epochs and stopping."""
    for K, rate, average in itertools.product([2, 3], RATES, [False, 100]):
        if average and penalty in ("l1", "elasticnet"):
            continue  # scikit-learn's average ignores the truncations of L1
        X, y = clouds(K=K)
        wild = rate == "optimal" and "squared" in loss  # with a small alpha it explodes
        params = {
            "loss": loss, "penalty": penalty, "learning_rate": rate, "average": average,
            "shuffle": False, "alpha": 20.0 if wild else 0.01, "max_iter": 25,
            "class_weight": "balanced" if K == 2 else {"a": 2.0},
        }  # fmt: skip
        if loss == "modified_huber":  # its steps must shrink errors of rounding, not blow them up
            params |= {"eta0": 0.01, "alpha": 5.0 if rate == "optimal" else 0.01}
        if penalty in ("l1", "elasticnet"):  # scikit-learn's norms do not see its truncations
            params |= {"max_iter": 8, "tol": None}
        assert_same_fit(SGDClassifier(**params).fit(X, y), Peer(**params).fit(X, y))


@pytest.mark.parametrize("rate", ["pa1", "pa2"])
def test_passive_aggressive_steps(rate):
    X, y = clouds(K=3)
    params = {"learning_rate": rate, "shuffle": False, "eta0": 0.1, "max_iter": 20, "tol": None}
    for penalty in ("l2", None):
        ours = SGDClassifier(penalty=penalty, **params).fit(X, y)
        assert_same_fit(ours, Peer(penalty=penalty, **params).fit(X, y))
    with pytest.raises(ValueError, match="hinge"):
        SGDClassifier("log_loss", learning_rate=rate).fit(X, y)


def test_partial_fit_starts_and_warm_starts_follow_scikit_learn():
    X, y = clouds(K=3)
    ours, theirs = SGDClassifier(shuffle=False), Peer(shuffle=False)
    for part in (slice(0, 30), slice(30, 90), slice(0, 90)):
        ours.partial_fit(X[part], y[part], classes=["a", "b", "c"])
        theirs.partial_fit(X[part], y[part], classes=["a", "b", "c"])
    assert_allclose(ours.coef_, theirs.coef_)
    assert ours.t_ == theirs.t_ == 181
    given = {"coef_init": np.ones((3, 4)), "intercept_init": [0.5, 0.0, -0.5]}
    a = SGDClassifier(shuffle=False).fit(X, y, **given)
    assert_same_fit(a, Peer(shuffle=False).fit(X, y, **given))
    warm = {"shuffle": False, "warm_start": True, "max_iter": 3, "tol": None}
    ours, theirs = SGDClassifier(**warm), Peer(**warm)
    for _ in range(3):
        ours.fit(X, y)
        theirs.fit(X, y)
    assert_same_fit(ours, theirs)
    for bad in ({"coef_init": np.ones(4)}, {"intercept_init": [1.0]}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            SGDClassifier().fit(X, y, **bad)


@pytest.mark.parametrize("loss", ["log_loss", "squared_hinge", "modified_huber"])
def test_reaches_the_minimum(loss):
    X, y = clouds(400, gap=1.0)
    alpha = 0.05
    model = SGDClassifier(
        loss, alpha=alpha, learning_rate="adaptive", eta0=0.1, tol=1e-7, max_iter=5000,
        random_state=0,
    ).fit(X, y)  # fmt: skip
    name = "logistic" if loss == "log_loss" else loss
    target = np.where(y == "b", 1.0, 0.0 if loss == "log_loss" else -1.0)
    f = LinearObjective(X, target, name, L2(alpha / 2), unpenalised=(0,), intercept=True)
    best = LBFGS(tol=1e-9).minimise(f, "zeros")
    found = f.value(np.append(model.intercept_, model.coef_))
    assert best.value - 1e-10 <= found < best.value * 1.0005
    gradient = f.gradient(np.append(model.intercept_, model.coef_))
    assert np.abs(gradient).max() < 5e-3


def test_recovers_logistic_regression():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 3))
    y = rng.random(20_000) < 1 / (1 + np.exp(-(X @ [1.0, -2.0, 0.5] + 0.3)))
    model = SGDClassifier(
        "log_loss", alpha=1e-4, average=True, random_state=0, learning_rate="invscaling", eta0=0.5,
        max_iter=20, tol=None,
    ).fit(X, y)  # fmt: skip
    assert_allclose(model.coef_, [[1.0, -2.0, 0.5]], atol=0.15)
    exact = ExactLogistic(C=1 / (1e-4 * 20_000)).fit(X, y)
    assert_allclose(model.coef_, exact.coef_, atol=0.1)


def test_averages_are_kept_and_come_late():
    X, y = clouds()
    model = SGDClassifier(average=True, random_state=0, max_iter=20, tol=None).fit(X, y)
    assert_array_equal(model.coef_, model.average_coef_)
    late = SGDClassifier(average=10**6, random_state=0, max_iter=20, tol=None).fit(X, y)
    plain = SGDClassifier(random_state=0, max_iter=20, tol=None).fit(X, y)
    assert_allclose(late.coef_, plain.coef_, rtol=1e-9)
    assert_array_equal(late.average_coef_, np.zeros((1, 4)))
    assert not hasattr(plain, "average_coef_")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize(
    "params",
    [
        {}, {"penalty": None}, {"penalty": "l1", "alpha": 0.01}, {"average": True},
        {"penalty": "elasticnet", "alpha": 0.05, "l1_ratio": 0.5}, {"average": 100},
        {"penalty": "elasticnet", "alpha": 0.02, "average": True},
        {"penalty": "l1", "alpha": 0.02, "average": 50}, {"learning_rate": "pa1", "eta0": 0.1},
        {"alpha": 5.0, "learning_rate": "constant", "eta0": 0.19},
        {"alpha": 5.0, "penalty": "elasticnet", "learning_rate": "constant", "eta0": 0.2},
        {"loss": "log_loss", "class_weight": "balanced", "early_stopping": True},
    ],
    ids=str,
)  # fmt: skip
def test_sparse_equals_dense(K, params):
    """Truncation, decay and averages of the columns that a row leaves alone come late, but come."""
    X, y = clouds(200, p=12, K=K)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.25, X, 0.0)
    w = np.random.default_rng(2).integers(0, 3, 200)
    tame = {"learning_rate": "invscaling", "eta0": 0.1}  # does not blow up errors of rounding
    settings = {"random_state": 0, "max_iter": 15, "tol": None, **tame, **params}
    for weight in (None, w):
        a = SGDClassifier(**settings).fit(X, y, sample_weight=weight)
        b = SGDClassifier(**settings).fit(csr_array(X), y, sample_weight=weight)
        assert_allclose(b.coef_, a.coef_, rtol=1e-8, atol=1e-10)
        assert_allclose(b.intercept_, a.intercept_, rtol=1e-8, atol=1e-10)
        assert_allclose(b.history_["objective"], a.history_["objective"], rtol=1e-2)
        assert_array_equal(b.coef_ == 0, a.coef_ == 0)
    assert_allclose(b.decision_function(csr_array(X)), a.decision_function(X), atol=1e-8)


def test_sparse_matrices_in_any_form():
    X, y = clouds(60, p=6)
    X = np.where(np.abs(X) > 1, X, 0.0)
    dense = SGDClassifier(random_state=0).fit(X, y)
    twice = csr_array(X)
    last = [*twice.indptr[:-1], twice.nnz + 1]  # the last row stores its first column twice
    again = np.append(twice.data, 0.0), np.append(twice.indices, 0), last
    twice = csr_array(again, shape=X.shape)
    long = csr_array(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for form in (twice, long, csr_array(X).tocsc(), csr_array(X).tocoo()):
        assert_allclose(SGDClassifier(random_state=0).fit(form, y).coef_, dense.coef_)


@pytest.mark.parametrize("shuffle", [True, False])
def test_weights_are_repetitions(shuffle):
    X, y = clouds(K=3)
    w = np.random.default_rng(1).integers(0, 4, 90)
    for params in ({}, {"class_weight": "balanced"}, {"early_stopping": shuffle}):
        settings = {"random_state": 3, "shuffle": shuffle, **params}
        model = SGDClassifier(**settings).fit(X, y, sample_weight=w)
        repeated = SGDClassifier(**settings).fit(X.repeat(w, axis=0), y.repeat(w))
        assert_allclose(model.coef_, repeated.coef_, rtol=1e-12)
    if shuffle:
        order = np.random.default_rng(2).permutation(90)
        shuffled = SGDClassifier(random_state=3).fit(X[order], y[order], sample_weight=w[order])
        model = SGDClassifier(random_state=3).fit(X, y, sample_weight=w)
        assert_array_equal(model.coef_, shuffled.coef_)


def test_probabilities():
    for K, loss in itertools.product([2, 3], ["log_loss", "modified_huber"]):
        X, y = clouds(K=K)
        params = {"loss": loss, "shuffle": False, "max_iter": 30, "tol": None, "alpha": 1.0}
        ours, theirs = SGDClassifier(**params).fit(X, y), Peer(**params).fit(X, y)
        P = ours.predict_proba(X)
        assert_allclose(P, theirs.predict_proba(X), atol=1e-6)
        assert_allclose(P.sum(axis=1), 1.0)
        far = ours.predict_proba(1e6 * X)  # every class may say 0: still finite
        assert np.isfinite(far).all()
        assert_allclose(far.sum(axis=1), 1.0)
    logs = SGDClassifier("log_loss", random_state=0).fit(X, y).predict_log_proba(1e5 * X)
    assert np.isfinite(logs).all()
    model = SGDClassifier().fit(X, y)
    assert not hasattr(model, "predict_proba")
    calibrated = CalibratedClassifierCV(SGDClassifier(random_state=0)).fit(X, y)
    assert calibrated.score(X, y) > 0.5


def test_early_stopping_holds_out_the_same_share_of_every_class():
    X, y = clouds(400, K=3, gap=3.0)
    model = SGDClassifier(early_stopping=True, random_state=0).fit(X, y)
    assert model.history_["validation_score"][-1] > 0.7
    assert model.t_ - 1 == model.n_iter_ * 360
    with pytest.raises(ValueError, match="early_stopping"):
        SGDClassifier(early_stopping=True).partial_fit(X, y, classes=["a", "b", "c"])


def test_pegasos_by_hand():
    """Rate 1/(alpha t) without an intercept: w <- (1 - 1/t) w + [y w.x < 1] y x/(alpha t)."""
    X, y = clouds(50, gap=2.0)
    signs = np.where(y == "b", 1.0, -1.0)
    alpha = 0.1
    solver = GradientDescent(
        learning_rate=InverseScaling(1 / alpha, 1.0), batch_size=1, max_iter=3, tol=None,
        shuffle=False,
    )  # fmt: skip
    w, t = np.zeros(4), 0
    for _ in range(3):
        for x, sign in zip(X, signs, strict=True):
            t += 1
            w = (1 - 1 / t) * w + (sign * (w @ x) < 1) * sign * x / (alpha * t)
    model = SGDClassifier(alpha=alpha, fit_intercept=False, solver=solver).fit(X, y)
    assert_allclose(model.coef_[0], w)


def test_solver_objects_for_several_classes():
    X, y = clouds(K=3)
    alpha = 0.02
    model = SGDClassifier("log_loss", alpha=alpha, solver=LBFGS(tol=1e-10)).fit(X, y)
    for k, label in enumerate("abc"):
        exact = ExactLogistic(C=1 / (alpha * len(X)), tol=1e-10, max_iter=1000).fit(X, y == label)
        assert_allclose(model.coef_[k], exact.coef_[0], atol=1e-5)
    assert "target" in model.history_.columns
    whole = SGDClassifier("hinge", solver=GradientDescent(Constant(0.1), max_iter=4, tol=None))
    parts = SGDClassifier("hinge", solver=GradientDescent(Constant(0.1), max_iter=4, tol=None))
    whole.fit(X, y)
    for _ in range(4):
        parts.partial_fit(X, y, classes=["a", "b", "c"])
    assert_allclose(parts.coef_, whole.coef_)
    with pytest.raises(ValueError, match="solver"):
        SGDClassifier(solver="adam").fit(X, y)


def test_boundary_explain_card_and_history():
    X, y = clouds(K=3)
    model = SGDClassifier(random_state=0).fit(X, y)
    f = model.decision_function(X)
    assert_allclose(model.boundary("a", "c").score(X), f[:, 0] - f[:, 2], atol=1e-8)
    split = model.explain(csr_array(X))
    assert_allclose(split.scores, f, atol=1e-8)
    assert split.contributions.shape == (90, 3, 4)
    assert "hinge" in str(model.card())
    assert model.history_["parameters"].shape == (model.n_iter_, 3, 5)


def test_refusals_and_limit():
    X, y = clouds()
    with pytest.raises(ValueError, match="1 class"):
        SGDClassifier().fit(X, np.ones(90))
    with pytest.raises(ValueError, match="alpha"):
        SGDClassifier(alpha=0.0).fit(X, y)
    with pytest.raises(ValueError, match="classes must be passed"):
        SGDClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="do not exist"):
        SGDClassifier().partial_fit(X, y, classes=["a", "c"])
    with pytest.raises(ValueError, match="balanced"):
        SGDClassifier(class_weight="balanced").partial_fit(X, y, classes=["a", "b"])
    started = SGDClassifier().partial_fit(X, y, classes=["a", "b"])
    with pytest.raises(ValueError, match="not the same"):
        started.partial_fit(X, y, classes=["a", "b", "c"])
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        SGDClassifier(max_iter=2, random_state=0).fit(X, y)


def averaged_by_hand(X, y, rates, l2, l1, average, epochs):
    """Hinge steps one by one, every iterate added up."""
    w, b, cut, due, t = np.zeros(X.shape[1]), 0.0, np.zeros(X.shape[1]), 0.0, 1
    total, total_b, count = np.zeros(X.shape[1]), 0.0, 0
    for epoch in range(epochs):
        for i in range(len(y)):
            eta = rates[epoch * len(y) + i]
            step = eta * y[i] if y[i] * (X[i] @ w + b) <= 1 else 0.0
            w = max(0.0, 1 - eta * l2) * w + step * X[i]
            b += step
            due += l1 * eta
            z = w.copy()
            w = np.where(z > 0, np.maximum(0, z - (due + cut)), np.minimum(0, z + (due - cut)))
            w = np.where(z == 0, 0.0, w) if l1 > 0 else z
            cut += w - z
            if t >= average:
                total, total_b, count = total + w, total_b + b, count + 1
            t += 1
    return np.append(total / count, total_b / count)


@pytest.mark.parametrize("average", [1, 37, 130])
@pytest.mark.parametrize(("alpha", "l1_ratio"), [(0.01, 0.0), (40.0, 0.0), (0.02, 0.5)])
def test_average_is_that_of_every_iterate(average, alpha, l1_ratio):
    """Sums kept up only where a step is; alpha = 40 forgets the weights again and again."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=60) > 0, 1.0, -1.0)
    model = SGDClassifier(
        penalty="elasticnet", alpha=alpha, l1_ratio=l1_ratio, average=average, shuffle=False,
        learning_rate="invscaling", eta0=0.05, power_t=0.25, max_iter=4, tol=None,
    ).fit(X, y)  # fmt: skip
    rates = 0.05 / np.arange(1, 241) ** 0.25
    expected = averaged_by_hand(X, y, rates, alpha * (1 - l1_ratio), alpha * l1_ratio, average, 4)
    assert_allclose(np.append(model.coef_[0], model.intercept_), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_jobs", [2.5, "all"])
def test_a_number_of_jobs_is_whole(n_jobs):
    X = np.arange(20.0)[:, None] - 9.5
    with pytest.raises(ValueError, match="n_jobs must be"):
        SGDClassifier(n_jobs=n_jobs).fit(X, X[:, 0] > 0)
