"""Bias and variance: identities, closed forms, mlxtend; diagnosis rules one by one."""

import numpy as np
import pytest
from mlxtend.evaluate import bias_variance_decomp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.callback import ProgressBar

from pellucid import GaussianNB, KMeans, LinearRegression, Ridge
from pellucid.evaluation import (
    BootstrapDraw,
    SimulatedDraw,
    bias_variance,
    decompose_squared,
    decompose_zero_one,
    diagnose_fit,
)

rng = np.random.default_rng(0)


def test_example_14():
    parts = decompose_squared([[1, 2], [3, 2], [2, 5]], truth=[2, 2])
    assert_allclose([parts.bias2, parts.variance, parts.total], [0.5, 4 / 3, 11 / 6])
    assert parts.noise is None


def test_parts_sum_to_the_error():
    P, y = rng.normal(size=(20, 7)), rng.normal(size=7)
    parts = decompose_squared(P, y=y)
    assert_allclose(parts.total, ((P - y) ** 2).mean())
    assert "contains the noise" in str(parts)
    f = rng.normal(size=7)
    both = decompose_squared(P, truth=f, y=y)
    assert_allclose(both.noise, ((y - f) ** 2).mean())
    assert_allclose(both.total, both.bias2 + both.variance + both.noise)
    assert_allclose(both.pointwise.total.mean(), both.total)
    assert both.to_frame().shape == (7, 4)


def test_zero_one_by_hand():
    P = np.array([["b", "a"], ["a", "a"], ["b", "c"], ["a", "c"]])
    parts = decompose_zero_one(P, ["a", "c"])
    # first point: a and b tie, the main one is a (right); second: a and c tie, main a (wrong)
    assert_array_equal(parts.pointwise.bias2, [0.0, 1.0])
    assert_array_equal(parts.pointwise.variance, [0.5, 0.5])
    assert_array_equal(parts.pointwise.total, [0.5, 0.5])
    assert parts.noise is None


@pytest.mark.parametrize("loss", ["mse", "0-1_loss"])
def test_mlxtend_agrees_on_the_same_models(loss):
    """mlxtend draws the samples; a recorder keeps the predictions for our decomposition."""
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, -1.0] + rng.normal(size=60)
    if loss != "mse":
        y = (y > 0).astype(int)
    model = Ridge() if loss == "mse" else GaussianNB()
    said = []
    predict = type(model).predict

    class Recorded(type(model)):
        def predict(self, X):
            said.append(predict(self, X))
            return said[-1]

    total, bias, variance = bias_variance_decomp(
        Recorded(), X[:40], y[:40], X[40:], y[40:], loss=loss, num_rounds=30, random_seed=1
    )
    if loss == "mse":
        parts = decompose_squared(said, y=y[40:])
        assert_allclose([parts.total, parts.bias2, parts.variance], [total, bias, variance])
    else:
        parts = decompose_zero_one(said, y[40:])
        assert_allclose([parts.total, parts.bias2, parts.variance], [total, bias, variance])


def test_least_squares_variance_is_known():
    """Fixed design: the variance at x is s^2 h(x), the bias of the true model is zero."""
    X = rng.normal(size=(30, 3))
    beta, s = np.array([1.0, -2.0, 0.5]), 0.7
    draw = SimulatedDraw(lambda Z: Z @ beta, X, s)
    new = rng.normal(size=(5, 3))
    parts = bias_variance(LinearRegression(), draw, new, n_models=600)
    Z, z = np.column_stack([np.ones(30), X]), np.column_stack([np.ones(5), new])
    expected = s**2 * np.einsum("ij,jk,ik->i", z, np.linalg.inv(Z.T @ Z), z)
    assert_allclose(parts.pointwise.variance, expected, rtol=0.25)
    assert (parts.pointwise.bias2 < 10 * expected / 600).all()


def test_penalty_trades_variance_for_bias():
    x = np.linspace(-1, 1, 25)[:, None]
    draw = SimulatedDraw(lambda X: 3 * X[:, 0], x, 0.5)
    parts = [bias_variance(Ridge(a), draw, x, n_models=100) for a in (1e-6, 3.0, 100.0)]
    assert parts[0].bias2 < parts[1].bias2 < parts[2].bias2
    assert parts[0].variance > parts[1].variance > parts[2].variance


def test_same_numbers_for_any_n_jobs_and_a_progress_bar(capsys):
    x = rng.normal(size=(30, 2))
    draw = BootstrapDraw(x, x.sum(axis=1))
    options = {"y_test": x.sum(axis=1), "n_models": 12}
    one = bias_variance(KMeans(2), draw, x, loss="zero_one", **options)
    two = bias_variance(KMeans(2), draw, x, loss="zero_one", n_jobs=2, **options)
    assert one.total == two.total
    assert_array_equal(one.pointwise.variance, two.pointwise.variance)
    assert "larger" in str(one)  # bootstrap samples are optimistic, and it says so
    bias_variance(Ridge(), draw, x, callbacks=[ProgressBar()], **options)
    assert "BiasVariance" in "".join(capsys.readouterr())
    assert (
        bias_variance(Ridge(), draw, x, random_state=1, **options).total
        != bias_variance(Ridge(), draw, x, random_state=2, **options).total
    )


def test_draws():
    X, y = np.arange(8.0)[:, None], np.arange(8.0)
    bx, by = BootstrapDraw(X, y)(np.random.default_rng(0))
    assert_array_equal(bx[:, 0], by)
    assert set(by) <= set(y)
    moving = SimulatedDraw(
        lambda Z: Z[:, 0], lambda g: g.normal(size=(4, 1)), lambda g, n: g.exponential(size=n)
    )
    Z, t = moving(np.random.default_rng(0))
    assert (t >= Z[:, 0]).all()


def test_bias_variance_refusals():
    X = np.zeros((3, 1))
    for call, word in [
        (lambda: decompose_squared([[1.0]]), "truth, y, or both"),
        (lambda: decompose_squared([1.0, 2.0], truth=[1.0]), "models, points"),
        (lambda: decompose_squared([[1.0, 2.0]], truth=[1.0]), "one number per point"),
        (lambda: decompose_squared([[np.nan]], truth=[1.0]), "finite"),
        (lambda: decompose_zero_one([[1, 2]], [1]), "one label per point"),
        (lambda: bias_variance(Ridge(), BootstrapDraw(X, X[:, 0]), X), "truth or y_test"),
        (lambda: bias_variance(Ridge(), None, X, loss="abs"), "loss must"),
        (lambda: bias_variance(Ridge(), None, X, n_models=1), "n_models must"),
    ]:
        with pytest.raises(ValueError, match=word):
            call()


# --- diagnosis --------------------------------------------------------------------------------

LOW, HIGH = np.array([0.70, 0.72, 0.71]), np.array([0.99, 0.98, 0.99])


@pytest.mark.parametrize(
    ("train", "test", "options", "kind"),
    [
        (LOW, LOW - 0.01, {"baseline": LOW + 0.001}, "uninformative"),
        (LOW, LOW - 0.01, {"baseline": 0.9}, "uninformative"),
        (LOW, [0.66, 0.87, 0.57], {"baseline": [0.56, 0.78, 0.47]}, "good"),  # guessing varies
        (HIGH, LOW, {}, "overfit"),
        (HIGH, LOW, {"baseline": LOW - 0.2, "richer": HIGH}, "overfit"),
        (LOW, LOW - [0.001, 0.002, 0.001], {}, "good"),  # significant, but small
        (LOW, LOW - [0.001, 0.002, 0.001], {"richer": HIGH}, "underfit"),
        (LOW, LOW - [0.2, -0.2, 0.15], {}, "good"),  # large, but chance
        (LOW, LOW - [0.03, 0.031, 0.03], {"baseline": LOW - 0.5}, "good"),  # 6 % of the gain
        (LOW, LOW - [0.03, 0.031, 0.03], {"baseline": LOW - 0.2}, "overfit"),  # 15 %
    ],
)
def test_diagnosis(train, test, options, kind):
    found = diagnose_fit(train, test, **options)
    assert found.kind == kind
    assert_allclose(found.gap, np.mean(train) - np.mean(test))
    assert (found.remedies == ()) == (kind == "good")
    turned = {name: -np.asarray(values) for name, values in options.items()}
    loss = diagnose_fit(-train, -np.asarray(test), greater_is_better=False, **turned)
    assert loss.kind == kind
    assert loss.gap == found.gap
    assert found.kind in str(found)


def test_diagnosis_refusals():
    with pytest.raises(ValueError, match="3 and 2"):
        diagnose_fit(LOW, LOW[:2])
    with pytest.raises(ValueError, match="at least 2"):
        diagnose_fit([0.5], [0.5])
    with pytest.raises(ValueError, match="finite"):
        diagnose_fit([0.5, np.nan], [0.5, 0.4])
