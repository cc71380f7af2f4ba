"""MLPClassifier, MLPRegressor and Autoencoder: scikit-learn's paths, exact laws, recovery."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.neural_network import MLPClassifier as TheirClassifier
from sklearn.neural_network import MLPRegressor as TheirRegressor

from pellucid import PCA, Autoencoder, MLPClassifier, MLPRegressor
from pellucid.core.loops.iterate import ConvergenceWarning, DivergenceWarning
from pellucid.neural import BatchNorm, CollapsedWarning, Dense, EarlyStopping, Network
from pellucid.neural.training.label_kernels import weight_right
from pellucid.plots.panels.replay import Recorder
from pellucid.solvers import L1, Adam, GradientDescent

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3))
CODES = ((X[:, 0] + X[:, 1] ** 2 > 0.7) * 1) + (X[:, 2] > 1)
LABELS = np.array(["a", "b", "c"])[CODES]
NUMBERS = np.sin(X[:, 0]) + X[:, 1]
quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PATHS = [
    {"solver": "adam", "epsilon": 1e-12},
    {"solver": "sgd", "learning_rate_init": 0.05},
    {"solver": "sgd", "learning_rate_init": 0.3, "learning_rate": "invscaling",
     "nesterovs_momentum": False},
    {"solver": "sgd", "learning_rate_init": 0.05, "learning_rate": "adaptive", "tol": 0.01,
     "n_iter_no_change": 2},
]  # fmt: skip
TARGETS = {
    "classes": (MLPClassifier, TheirClassifier, LABELS),
    "two": (MLPClassifier, TheirClassifier, CODES > 0),
    "labels": (MLPClassifier, TheirClassifier, np.column_stack([CODES > 0, X[:, 0] > 0]) * 1),
    "numbers": (MLPRegressor, TheirRegressor, NUMBERS),
    "counts": (MLPRegressor, TheirRegressor, np.round(np.exp(X[:, 0]))),
}


@quiet
@pytest.mark.parametrize("kind", list(TARGETS))
@pytest.mark.parametrize("path", PATHS, ids=str)
def test_same_path_as_scikit_learn(path, kind):
    """From the same weights, rows in file order: the same weights after 25 epochs."""
    ours, theirs, y = TARGETS[kind]
    extra = {"loss": "poisson"} if kind == "counts" else {}
    common = {"batch_size": 25, "max_iter": 25, "shuffle": False, "alpha": 0.1, **path, **extra}
    net = {"hidden_layer_sizes": (5, 4), "activation": "tanh"}
    their = theirs(random_state=0, warm_start=True, **{**common, **net, "max_iter": 1}).fit(X, y)
    start = Network.from_weights(
        their.coefs_, their.intercepts_, activations=["tanh", "tanh", their.out_activation_]
    )
    their._no_improvement_count, their.t_, their.best_loss_ = 0, 0, np.inf
    their.loss_curve_ = []
    their.set_params(max_iter=25).fit(X, y)
    model = ours(hidden_layer_sizes=start, **common).fit(X, y)
    assert model.n_iter_ == their.n_iter_
    for a, b in zip(model.coefs_ + model.intercepts_, their.coefs_ + their.intercepts_,
                    strict=True):  # fmt: skip
        assert_allclose(a, b, rtol=0, atol=1e-8)
    assert_allclose(model.loss_curve_, their.loss_curve_, rtol=1e-7)
    assert_allclose(model.predict(X) * 1 if kind != "classes" else 0,
                    their.predict(X) * 1 if kind != "classes" else 0, atol=1e-7)  # fmt: skip


def test_lbfgs_reaches_a_stationary_point():
    model = MLPClassifier((), solver="lbfgs", alpha=1.0, max_iter=500, tol=1e-6).fit(X, LABELS)
    T = np.eye(3)[CODES]
    g = model.network_.gradients(X, T)
    assert_allclose(g.weights[0] + model.coefs_[0] / 90, 0, atol=1e-5)
    assert_allclose(g.biases[0], 0, atol=1e-5)
    with pytest.raises(AttributeError, match="partial_fit"):
        model.partial_fit(X, LABELS)
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        MLPClassifier(solver="lbfgs", max_iter=2, random_state=0).fit(X, LABELS)


def test_linear_regression_is_the_network_without_hidden_layers():
    model = MLPRegressor(hidden_layer_sizes=(), solver="lbfgs", alpha=0.0, tol=1e-8).fit(X, NUMBERS)
    D = np.column_stack([X, np.ones(90)])
    exact = np.linalg.lstsq(D, NUMBERS, rcond=None)[0]
    assert_allclose(np.append(model.coefs_[0], model.intercepts_[0]), exact, atol=1e-6)


def test_learns_planted_functions():
    t = np.linspace(-3, 3, 200)[:, None]
    model = MLPRegressor(hidden_layer_sizes=(20,), activation="tanh", solver="lbfgs", tol=1e-3,
                         max_iter=3000, random_state=0).fit(t, np.sin(2 * t).ravel())  # fmt: skip
    assert model.score(t, np.sin(2 * t).ravel()) > 0.99
    ring = rng.normal(size=(300, 2))
    inside = (ring**2).sum(axis=1) < 1.4
    net = MLPClassifier((16,), learning_rate_init=0.03, tol=1e-3, random_state=0, max_iter=500)
    assert net.fit(ring, inside).score(ring, inside) > 0.96
    assert net.hidden_features(ring).shape == (300, 16)
    assert_allclose(net.trace(ring).output.ravel(), net.predict_proba(ring)[:, 1])


@quiet
def test_early_stopping_restores_the_best_and_takes_own_rows():
    val = slice(60, 90)
    noise = np.where(rng.random(60) < 0.3, (CODES[:60] + 1) % 3, CODES[:60])
    model = MLPClassifier((50,), learning_rate_init=0.05, early_stopping=True, random_state=0,
                          max_iter=300, n_iter_no_change=15)  # fmt: skip
    model.fit(X[:60], noise, X_val=X[val], y_val=CODES[val])
    assert model.best_validation_score_ == max(model.validation_scores_)
    assert model.score(X[val], CODES[val]) == model.best_validation_score_
    assert len(model.validation_scores_) == model.n_iter_ < 300
    assert model.best_loss_ is None
    watched = MLPRegressor(max_iter=5, random_state=0)
    watched.fit(X, NUMBERS, X_val=X[val], y_val=NUMBERS[val])
    assert_allclose(watched.validation_scores_[-1], watched.score(X[val], NUMBERS[val]))
    own = MLPRegressor(early_stopping=EarlyStopping(0.3, n_iter_no_change=3), random_state=0)
    assert own.fit(X, NUMBERS).best_validation_score_ is not None
    with pytest.raises(ValueError, match="too small"):
        MLPRegressor(early_stopping=True, validation_fraction=0.01).fit(X, NUMBERS)


@quiet
def test_weights_and_class_weights():
    w = rng.integers(0, 3, size=90)
    kw = {"hidden_layer_sizes": (4,), "max_iter": 8, "batch_size": 16, "random_state": 0}
    for extra in ({}, {"early_stopping": True, "validation_fraction": 0.3}):
        a = MLPClassifier(**kw, **extra).fit(X, LABELS, sample_weight=w)
        b = MLPClassifier(**kw, **extra).fit(np.repeat(X, w, axis=0), np.repeat(LABELS, w))
        assert_allclose(a.vector_, b.vector_, atol=1e-12)
    weights = {"a": 2.0, "c": 3.0}
    c = MLPClassifier(**kw, class_weight=weights).fit(X, LABELS)
    d = MLPClassifier(**kw).fit(X, LABELS, [weights.get(label, 1.0) for label in LABELS])
    assert_allclose(c.vector_, d.vector_, atol=1e-12)
    order = rng.permutation(90)
    e = MLPClassifier(**kw).fit(X[order], LABELS[order])
    assert_allclose(MLPClassifier(**kw).fit(X, LABELS).vector_, e.vector_, atol=1e-12)
    MLPClassifier(**kw, class_weight="balanced").fit(X, LABELS)
    with pytest.raises(ValueError, match="'z', which is not in y"):
        MLPClassifier(class_weight={"z": 1}).fit(X, LABELS)


@quiet
def test_partial_fit_is_fit_epoch_by_epoch():
    kw = {"hidden_layer_sizes": (4,), "batch_size": 30, "shuffle": False, "random_state": 0}
    for solver in ("adam", "sgd", GradientDescent(0.1, batch_size=30, shuffle=False)):
        whole = MLPClassifier(solver=solver, max_iter=3, **kw)
        if isinstance(solver, GradientDescent):
            whole.set_params(solver=GradientDescent(0.1, batch_size=30, shuffle=False, max_iter=3))
        whole.fit(X, LABELS)
        steps = MLPClassifier(solver=solver, **kw)
        for _ in range(3):
            steps.partial_fit(X, LABELS, classes=["a", "b", "c"])
        assert_allclose(steps.vector_, whole.vector_, atol=1e-12)
        assert_allclose(steps.loss_curve_, whole.loss_curve_, rtol=1e-12)
    with pytest.raises(ValueError, match="'z', which is not one of"):
        steps.partial_fit(X[:2], ["a", "z"])
    with pytest.raises(ValueError, match="classes must be passed"):
        MLPClassifier().partial_fit(X, LABELS)
    more = MLPRegressor(warm_start=True, max_iter=2, random_state=0).fit(X, NUMBERS)
    first = more.loss_
    assert more.fit(X, NUMBERS).loss_ < first
    assert len(more.loss_curve_) == 4
    with pytest.raises(ValueError, match="same classes"):
        MLPClassifier(warm_start=True, max_iter=1).fit(X, LABELS).fit(X, CODES)


@quiet
def test_sparse_input_is_the_same():
    Z = np.where(np.abs(X) > 0.5, X, 0.0)
    a = MLPClassifier(max_iter=3, random_state=0).fit(Z, LABELS)
    b = MLPClassifier(max_iter=3, random_state=0).fit(csr_array(Z), LABELS)
    assert_allclose(a.vector_, b.vector_, atol=1e-12)
    assert_allclose(a.predict_proba(Z), b.predict_proba(csr_array(Z)), atol=1e-12)


@quiet
def test_layers_objects_and_penalties():
    layers = [BatchNorm(), Dense(6, "tanh"), Dense(4, ["relu", "tanh", "relu", "logistic"])]
    solver = GradientDescent(0.05, rule=Adam(), batch_size=30, max_iter=60, tol=None)
    model = MLPClassifier(layers, solver=solver, random_state=0).fit(10 + 5 * X, LABELS)
    assert model.score(10 + 5 * X, LABELS) > 0.85
    assert [w.shape for w in model.coefs_] == [(3, 6), (6, 4), (4, 3)]
    assert len(model.history_) == 61
    sparse = MLPRegressor(hidden_layer_sizes=(10,), alpha=L1(0.05), max_iter=400, random_state=0,
                          learning_rate_init=0.02).fit(X, NUMBERS)  # fmt: skip
    assert (sparse.coefs_[0] == 0).any()
    each = MLPRegressor(hidden_layer_sizes=(3, 2), activation=["tanh", "relu"], max_iter=2)
    assert [g.activation for g in each.fit(X, NUMBERS).layers_] == ["tanh", "relu", "identity"]
    with pytest.raises(ValueError, match=r"must end with Dense\(3, 'softmax'\)"):
        MLPClassifier(Network([Dense(2, "tanh")])).fit(X, LABELS)
    with pytest.raises(ValueError, match="each of 1 hidden layers, got 2"):
        MLPRegressor(hidden_layer_sizes=(3,), activation=["tanh", "relu"]).fit(X, NUMBERS)


def test_degenerate_targets_and_named_failures():
    only = MLPClassifier(max_iter=9, tol=10.0, n_iter_no_change=1).fit(X, ["x"] * 90)
    assert only.predict_proba(X).tolist() == [[1.0]] * 90
    assert set(only.predict(X)) == {"x"}
    wild = MLPRegressor(solver="sgd", learning_rate_init=1e6, random_state=0, max_iter=20)
    with pytest.warns(DivergenceWarning, match="learning rate"):
        wild.fit(100 * X, NUMBERS)
    assert np.isfinite(wild.predict(X)).all()
    dead = Network.from_weights(
        [np.ones((3, 2)), np.ones((2, 1))], [[-1e3, -1e3], [0.0]], activations=["relu", "identity"]
    )
    with pytest.warns(CollapsedWarning, match="collapsed: every row gets the same answer"):
        MLPRegressor(hidden_layer_sizes=dead, tol=1.0, n_iter_no_change=1).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="y >= 0"):
        MLPRegressor(loss="poisson").fit(X, NUMBERS)
    with pytest.raises(ValueError, match="0/1 columns"):
        MLPClassifier().fit(X, np.column_stack([CODES, CODES]))


def test_card_says_when_to_scale_and_what_went_wrong():
    with pytest.warns(ConvergenceWarning, match="still falls"):
        model = MLPRegressor(random_state=0, max_iter=20).fit(X * [1, 1000, 1], NUMBERS * 10)
    text = " ".join(str(model.card()).split())
    assert "standardise" in text
    assert "too slow" in text
    assert "approximates any continuous function" in text


@quiet
def test_single_precision_gradients_of_large_problems_change_little():
    """ "adam" against the same rule as an object, which stays in float64."""
    Z = rng.normal(size=(6000, 40))
    y = (np.tanh(Z[:, 0] * Z[:, 1]) + Z[:, 2] > 0) * 1
    common = {"hidden_layer_sizes": (256, 64), "alpha": 0.0, "random_state": 0}
    fast = MLPClassifier(max_iter=2, **common).fit(Z, y)
    own = GradientDescent(0.001, rule=Adam(), batch_size=200, max_iter=2, tol=None)
    exact = MLPClassifier(solver=own, **common).fit(Z, y)
    assert fast.vector_.dtype == np.float64
    difference = np.abs(fast.vector_ - exact.vector_).max()
    assert 0 < difference < 2e-3
    assert_allclose(fast.loss_curve_, exact.loss_curve_, rtol=1e-5)


# --- the autoencoder ---


@pytest.mark.parametrize("seed", [0, 4])
def test_linear_autoencoder_spans_the_principal_subspace(seed):
    own = np.random.default_rng(seed)
    Z = own.normal(size=(80, 2)) @ own.normal(size=(2, 5)) + 0.1 * own.normal(size=(80, 5)) + 3
    model = Autoencoder(2, activation="identity", solver="lbfgs", max_iter=3000, random_state=0)
    model.fit(Z)
    pca = PCA(2).fit(Z)
    assert_allclose(model.explained_variance_ratio_, pca.explained_variance_ratio_.sum(), atol=1e-5)
    rebuilt = model.inverse_transform(model.transform(Z))
    assert_allclose(rebuilt, pca.inverse_transform(pca.transform(Z)), atol=0.02)
    assert_allclose(model.reconstruction_error(Z), ((Z - rebuilt) ** 2).sum(axis=1))
    assert_allclose(model.network_.predict(Z), rebuilt)


def test_a_bent_code_keeps_what_a_straight_one_loses():
    t = rng.uniform(-2, 2, size=200)
    curve = np.column_stack([t, t**2 - 1])
    solver = GradientDescent(0.02, rule=Adam(), batch_size=50, max_iter=150, tol=None)
    bent = Autoencoder(1, hidden_layer_sizes=(16,), activation="tanh", solver=solver,
                       random_state=0).fit(curve)  # fmt: skip
    straight = PCA(1).fit(curve).explained_variance_ratio_[0]
    assert bent.explained_variance_ratio_ > straight + 0.15
    with pytest.raises(ValueError, match="codes have 1 columns"):
        bent.inverse_transform(curve)


def test_every_epoch_of_a_solver_of_its_own_can_be_watched():
    """The solver's epochs count, not ``max_iter`` of the estimator."""
    solver = GradientDescent(0.01, max_iter=250, tol=None)
    recorder = Recorder()
    model = Autoencoder(1, solver=solver, random_state=0).set_callbacks(recorder)
    model.fit(rng.normal(size=(20, 2)))
    assert len(next(iter(recorder.runs.values()))) == 250


def test_partial_fit_refuses_other_classes_than_those_of_the_first_call():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    model = MLPClassifier((4,), random_state=0).partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="classes must be those of the first call"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="which is not one of"):
        model.partial_fit(X, y + 5)
    assert model.partial_fit(X, y, classes=[1, 0]).classes_.tolist() == [0, 1]


SOLVERS = {
    "lbfgs": "lbfgs",
    "all rows": GradientDescent(rule=Adam(), learning_rate=0.02, max_iter=12),
}
LEARNT = [kind for kind, (ours, _, _) in TARGETS.items() if ours is MLPClassifier]


@quiet
@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
@pytest.mark.parametrize("kind", LEARNT)
def test_accuracy_in_the_history_is_that_of_the_weights(solver, kind):
    """Where a step ends with a pass over all rows, the last accuracy is the model's score."""
    y, w = TARGETS[kind][2], np.random.default_rng(3).integers(1, 4, len(X)).astype(float)
    model = MLPClassifier((6,), "tanh", solver=solver, max_iter=12, random_state=0)
    found = model.fit(X, y, sample_weight=w).history_["accuracy"]
    assert found.shape == (model.n_iter_ + 1,)
    assert_allclose(found[-1], model.score(X, y, sample_weight=w), rtol=1e-12)
    assert found[-1] > found[0]


@quiet
@pytest.mark.parametrize("kind", LEARNT)
def test_accuracy_of_an_epoch_is_counted_on_the_way(kind):
    """Single batches by partial_fit meet the same answers before their updates."""
    y, size = TARGETS[kind][2], 30
    known = {} if y.ndim == 2 else {"classes": np.unique(y)}
    given = {"shuffle": False, "batch_size": size, "solver": "sgd", "momentum": 0.0}
    model = MLPClassifier((5,), max_iter=1, random_state=0, **given).fit(X, y)
    parts, met = MLPClassifier((5,), random_state=0, **given), []
    for at in range(0, len(X), size):
        parts.partial_fit(X[at : at + size], y[at : at + size], **known)
        met.append(parts.history_["accuracy"][0])
    assert_allclose(model.history_["accuracy"][1], np.mean(met), rtol=1e-12)


@quiet
def test_accuracy_of_large_problems_is_counted_by_threads():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(12_000, 60))
    y = (rows @ rng.normal(size=(60, 3))).argmax(axis=1)
    model = MLPClassifier((150,), max_iter=2, random_state=0).fit(rows, y)
    start, first, second = model.history_["accuracy"]
    assert start < 0.6 < first < second <= 1.0
    assert abs(second - model.score(rows, y)) < 0.05


@quiet
def test_a_regressor_has_no_accuracy():
    model = MLPRegressor(hidden_layer_sizes=(3,), solver="lbfgs", max_iter=5, random_state=0).fit(
        X, NUMBERS
    )
    assert "accuracy" not in model.history_[0]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_right_labels_are_those_of_numpy(kind, k):
    rng = np.random.default_rng(k)
    out = (rng.integers(0, 5, size=(50, k)) / 4).astype(kind)  # with ties, and halves
    t, w = np.eye(k)[rng.integers(0, k, 50)], rng.integers(1, 9, 50).astype(float)
    largest = out.argmax(axis=1) == t.argmax(axis=1)
    halves = ((out > 0.5) == (t > 0.5)).all(axis=1)
    assert weight_right(out, t, w, False) == w[largest].sum()
    assert weight_right(out, t, w, True) == w[halves].sum()


def test_evaluations_that_are_used_up_are_said():
    """max_fun ends L-BFGS before it settles, and nothing else says so."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = MLPClassifier(8, solver="lbfgs", max_fun=5, random_state=0)
    with pytest.warns(ConvergenceWarning, match="no convergence in max_fun=5 evaluations"):
        model.fit(X, X[:, 0] * X[:, 1] > 0)
    assert "max_fun" in model.card().optimisation
