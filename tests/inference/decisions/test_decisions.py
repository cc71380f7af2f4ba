"""Decisions from probabilities and losses: the examples of the course, brute force, refusals."""

import numpy as np
import pytest
import scipy.stats as st
from sklearn.datasets import load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.model_selection import GridSearchCV

import pellucid
from pellucid import GaussianNB, LossMatrixClassifier
from pellucid.inference import (
    Normal,
    bayes_decision,
    best_linear_predictor,
    cost_threshold,
    expected_prediction_error,
    get_loss,
    optimal_prediction,
)
from pellucid.inference.decisions.losses import LINKS

LOSSES = np.array([[0.0, 1.0, 5.0], [1.0, 0.0, 1.0], [10.0, 1.0, 0.0]])


def test_example_20_foundations():
    found = bayes_decision([0.5, 0.3, 0.2], LOSSES)
    assert (found.index, found.action) == (1, 1)
    assert found.expected_loss == pytest.approx(0.7)
    assert bayes_decision([0.5, 0.3, 0.2]).index == 0
    np.testing.assert_allclose(np.array([0.5, 0.3, 0.2]) @ LOSSES, [2.3, 0.7, 2.8])


class Stated(GaussianNB):
    """Says the same probabilities whatever x is."""

    def predict_proba(self, X):
        return np.tile([0.5, 0.3, 0.2], (len(X), 1))


def test_example_18_classification():
    X, y = np.arange(6.0)[:, None], list("aabbcc")
    model = LossMatrixClassifier(Stated(), LOSSES).fit(X, y)
    np.testing.assert_allclose(model.expected_loss(X[:1]), [[2.3, 0.7, 2.8]])
    assert model.predict(X[:1]).tolist() == ["b"]
    assert LossMatrixClassifier(Stated(), None).fit(X, y).predict(X[:1]).tolist() == ["a"]


@pytest.mark.parametrize("tie", ["first", "last", "random"])
def test_least_expected_loss_by_brute_force(tie):
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(4), size=50_000)
    L = rng.normal(size=(4, 6))
    found = bayes_decision(P, L, tie=tie, random_state=0)
    E = P @ L
    np.testing.assert_array_equal(found.index, E.argmin(axis=1))
    np.testing.assert_allclose(found.expected_loss, E.min(axis=1))


def test_ties():
    even = [0.5, 0.5]
    assert bayes_decision(even).index == 0
    assert bayes_decision(even, tie="last").index == 1  # p >= 1/2 -> class 1
    many = bayes_decision([even] * 2000, tie="random", random_state=0).index
    assert 0.4 < many.mean() < 0.6
    costs = [[0, 3], [7, 0]]  # 0.3 * 7 and 0.7 * 3 differ in the last bit only
    assert bayes_decision([0.7, 0.3], costs).index == 0
    assert bayes_decision([0.7, 0.3], costs, tie="last").index == 1


def test_threshold_is_where_the_decision_changes():
    for fp, fn in [(1, 4), (3, 7), (0, 1), (2.5, 0.5)]:
        t = cost_threshold(fp, fn)
        L = [[0, fp], [fn, 0]]
        for p in np.linspace(0.001, 0.999, 101):
            assert bayes_decision([1 - p, p], L, tie="last").index == (p >= t - 1e-12)


def test_reject_column():
    L = [[0, 1, 0.2], [1, 0, 0.2]]
    found = bayes_decision([[0.9, 0.1], [0.6, 0.4], [0.1, 0.9]], L, actions=["no", "yes", None])
    assert found.action.tolist() == ["no", None, "yes"]
    X, y = load_iris(return_X_y=True)
    rejecting = np.hstack([1.0 - np.eye(3), np.full((3, 1), 0.05)])
    with pytest.raises(ValueError, match=r"name them with decisions"):
        LossMatrixClassifier(GaussianNB(), rejecting).fit(X, y)
    model = LossMatrixClassifier(GaussianNB(), rejecting, decisions=[0, 1, 2, -1]).fit(X, y)
    chosen = model.predict(X)
    P = model.predict_proba(X)
    np.testing.assert_array_equal(chosen == -1, P.max(axis=1) < 0.95)
    kept = chosen >= 0
    assert (chosen[kept] == y[kept]).mean() > (GaussianNB().fit(X, y).predict(X) == y).mean()
    mixed = LossMatrixClassifier(GaussianNB(), rejecting, decisions=[0, 1, 2, "ask"]).fit(X, y)
    assert set(mixed.predict(X).tolist()) == {0, 1, 2, "ask"}


@pytest.mark.parametrize(
    ("proba", "losses", "match"),
    [
        ([0.5, 0.6], None, "add up to 1"),
        ([1.5, -0.5], None, "add up to 1"),
        ([np.nan, 1.0], None, "add up to 1"),
        ([0.5, 0.5], [[0, 1]], "one row for each of 2 classes"),
        ([0.5, 0.5], [[0, np.inf], [1, 0]], "finite"),
        ([0.5, 0.5], "costs", "table of numbers"),
        ([[[0.5, 0.5]]], None, "shape"),
    ],
)
def test_refusals(proba, losses, match):
    with pytest.raises(ValueError, match=match):
        bayes_decision(proba, losses)


def test_refused_parameters():
    with pytest.raises(ValueError, match="tie must be one of"):
        bayes_decision([1.0], tie="middle")
    with pytest.raises(ValueError, match="2 decisions need 2 names"):
        bayes_decision([0.5, 0.5], actions=["a"])
    for costs in [(0, 0), (-1, 1), (np.inf, 1)]:
        with pytest.raises(ValueError, match=r"cost|false_positive"):
            cost_threshold(*costs)


def test_no_rows_no_decisions():
    assert len(bayes_decision(np.empty((0, 3))).index) == 0


@pytest.mark.parametrize(
    "inner",
    [
        pellucid.GaussianNB(),
        pellucid.LinearDiscriminantAnalysis(),
        pellucid.QuadraticDiscriminantAnalysis(),
        pellucid.RegularizedDiscriminantAnalysis(),
        pellucid.LogisticRegression(),
        pellucid.BayesClassifier(),
        pellucid.BernoulliNB(binarize=3.0),
        pellucid.MultinomialNB(),
        pellucid.CategoricalNB(),
        pellucid.CalibratedClassifierCV(pellucid.GaussianNB()),
        pellucid.OneVsRestClassifier(pellucid.GaussianNB()),
        pellucid.OneVsReferenceClassifier(pellucid.GaussianNB()),
        TheirLogistic(max_iter=1000),
    ],
)
def test_works_on_every_probabilistic_classifier(inner):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = LossMatrixClassifier(inner, LOSSES).fit(X, names)
    E = model.predict_proba(X) @ LOSSES
    np.testing.assert_allclose(model.expected_loss(X), E)
    chosen = np.searchsorted(model.classes_, model.predict(X))
    np.testing.assert_allclose(E[np.arange(150), chosen], E.min(axis=1), atol=1e-12)
    plain = LossMatrixClassifier(inner, None).fit(X, names)
    np.testing.assert_array_equal(plain.predict_proba(X), model.predict_proba(X))


def test_fitted_models_are_taken_as_they_are():
    X, y = load_iris(return_X_y=True)
    fitted = GaussianNB().fit(X[:, :2], y)
    model = LossMatrixClassifier(FrozenEstimator(fitted), LOSSES).fit(X[:, :2], y)
    np.testing.assert_array_equal(model.predict_proba(X[:, :2]), fitted.predict_proba(X[:, :2]))


def test_costs_lower_the_mean_cost():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=3000)
    X = y[:, None] + rng.normal(size=(3000, 1))
    plain = GaussianNB().fit(X, y)
    careful = LossMatrixClassifier(GaussianNB(), LOSSES).fit(X, y)
    assert LOSSES[y, careful.predict(X)].mean() < 0.9 * LOSSES[y, plain.predict(X)].mean()
    search = GridSearchCV(careful, {"estimator__var_smoothing": [1e-9, 1e-3]}, cv=3)
    assert search.fit(X, y).best_score_ > 0.3


# --- losses and predictions ------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(set(LINKS) - {"zero_one"}))
def test_derivatives(name):
    loss = get_loss(name)
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=40).astype(float)
    f = rng.normal(size=40)
    if name in ("hinge", "perceptron", "exponential"):
        y = 2 * y - 1
    elif name == "cross_entropy":
        f = rng.uniform(0.05, 0.95, size=40)
    h = 1e-6
    slope = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.gradient(y, f), slope, rtol=1e-6, atol=1e-6)
    curve = (loss.gradient(y, f + h) - loss.gradient(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.hessian(y, f), curve, rtol=1e-4, atol=1e-4)
    assert loss.value(y[:, None], f[None, :]).shape == (40, 40)


def test_formulas_and_links():
    assert get_loss("half_squared").value(3.0, 1.0) == 2.0
    assert get_loss("squared").value(3.0, 1.0) == 4.0
    assert get_loss("huber", delta=1.0).value(5.0, 0.0) == 4.5
    assert get_loss("zero_one").value([1, 2], [1, 3]).tolist() == [0, 1]
    assert get_loss("logistic").value(1.0, 0.0) == pytest.approx(np.log(2))
    links = {name: (get_loss(name).noise, get_loss(name).optimal) for name in LINKS}
    assert links["squared"] == ("Gaussian", "mean")
    assert links["absolute"] == ("Laplace", "median")
    assert links["logistic"] == ("Bernoulli", "log odds")
    assert links["zero_one"][1] == "mode"
    own = get_loss(lambda y, f: (y - f) ** 4)
    np.testing.assert_allclose(own.gradient([2.0], [1.0]), [-4.0], rtol=1e-6)
    np.testing.assert_allclose(own.hessian([2.0], [1.0]), [12.0], rtol=1e-5)
    with pytest.raises(ValueError, match="did you mean 'squared'"):
        get_loss("square")
    with pytest.raises(ValueError, match="has no parameter q"):
        get_loss("huber", q=0.5)
    with pytest.raises(ValueError, match="q must be between"):
        get_loss("quantile", q=2.0)


@pytest.mark.parametrize(
    ("loss", "params"),
    [("squared", {}), ("absolute", {}), ("quantile", {"q": 0.8}), ("huber", {"delta": 0.5})],
)
def test_no_constant_predicts_better(loss, params):
    rng = np.random.default_rng(0)
    x, w = rng.gamma(2.0, size=101), rng.integers(0, 4, size=101)
    best = optimal_prediction(x, loss, sample_weight=w, **params)
    value = get_loss(loss, **params).value
    risk = [w @ value(x, np.full(101, c)) for c in (best, *np.linspace(0, 8, 2001))]
    assert risk[0] <= min(risk[1:]) + 1e-9 * risk[0]
    again = optimal_prediction(np.repeat(x, w), loss, **params)
    assert again == pytest.approx(best, abs=1e-7)


def test_predictions_of_samples_and_distributions():
    assert optimal_prediction([2, 4, 5, 10], "absolute") == 4.5
    assert optimal_prediction([1, 1, 0, 1], "logistic") == pytest.approx(np.log(3))
    assert optimal_prediction([1, 1, -1, 1], "exponential") == pytest.approx(np.log(3) / 2)
    assert optimal_prediction([1, 4], "poisson") == pytest.approx(np.log(2.5))
    assert optimal_prediction([1, -1, 1], "hinge") == pytest.approx(1.0)
    law = Normal(3.0, 2.0)
    for loss in ("squared", "absolute", "huber", "zero_one"):
        assert optimal_prediction(law, loss) == pytest.approx(3.0, abs=2e-3)
    assert optimal_prediction(law, "quantile", q=0.9) == pytest.approx(law.quantile(0.9))
    gamma = st.gamma(3.0)
    assert optimal_prediction(gamma) == pytest.approx(3.0)
    assert optimal_prediction(gamma, "zero_one") == pytest.approx(2.0, abs=1e-4)
    assert optimal_prediction(st.poisson(3.5), "zero_one") == 3
    with pytest.raises(ValueError, match="at least one number"):
        optimal_prediction([])
    with pytest.raises(ValueError, match="sample_weight"):
        optimal_prediction([1.0, 2.0], sample_weight=[0, 0])


# --- expected prediction error ---------------------------------------------------------------


def process(n, rng):
    x = rng.normal(size=n)
    return x, np.sin(x) + 0.5 * rng.normal(size=n)


def test_the_conditional_mean_is_best_and_its_error_is_the_noise():
    best = expected_prediction_error(np.sin, process, random_state=1)
    assert abs(best.value - 0.25) < 4 * best.standard_error
    line = expected_prediction_error(lambda x: 0.6 * x, process, random_state=1)
    again = expected_prediction_error(np.sin, process, random_state=1)
    assert again == best  # the same draws: a paired comparison
    assert line.value > best.value
    assert best.n == 100_000
    labels = expected_prediction_error(
        lambda x: np.where(x > 0, "up", "down"),
        lambda n, rng: (
            x := rng.normal(size=n),
            np.where(x + rng.normal(size=n) > 0, "up", "down"),
        ),
        loss="zero_one",
        random_state=0,
    )
    assert abs(labels.value - 0.25) < 4 * labels.standard_error
    with pytest.raises(ValueError, match="predict gave shape"):
        expected_prediction_error(lambda x: x[:, None], process)


def test_best_linear_predictor_is_the_limit_of_least_squares():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 4))
    S, m = A @ A.T, rng.normal(size=4)
    Z = m + rng.normal(size=(200_000, 4)) @ A.T
    found = best_linear_predictor(m, S, target=1)
    X = np.column_stack([np.ones(len(Z)), np.delete(Z, 1, axis=1)])
    fit, residual, *_ = np.linalg.lstsq(X, Z[:, 1], rcond=None)
    np.testing.assert_allclose(np.r_[found.intercept, found.coef], fit, atol=0.02)
    assert found.mse == pytest.approx(residual[0] / len(Z), rel=0.02)
    last = best_linear_predictor([0, 0], [[1.0, 0.5], [0.5, 1.0]])
    assert (last.coef[0], last.mse) == (0.5, 0.75)
    twice = best_linear_predictor([0, 0, 0], [[1, 1, 1], [1, 1, 1], [1, 1, 2]])
    np.testing.assert_allclose(twice.coef, [0.5, 0.5])
    for bad in ([[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.0], [0.5, 1.0]], [[1.0]]):
        with pytest.raises(ValueError, match="cov"):
            best_linear_predictor([0.0, 0.0], bad)
    with pytest.raises(ValueError, match="target"):
        best_linear_predictor([0.0, 0.0], np.eye(2), target=5)


def test_expected_losses_of_wrong_answers_are_what_is_left_of_one():
    from pellucid.inference.decisions.decisions import expected_losses

    P = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(expected_losses(P, None), P @ (1 - np.eye(3)), atol=1e-15)
