"""Proportional odds: statsmodels, numerical derivatives, links, ridge, separation."""

import warnings

import numpy as np
import pytest
from scipy.linalg import LinAlgWarning
from scipy.special import expit, ndtr
from statsmodels.miscmodels.ordinal_model import OrderedModel

from pellucid import LogisticRegressionCV
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import limit_threads
from pellucid.linear import OrdinalLogisticRegression
from pellucid.linear.logistic.ordinal import (
    LINKS,
    Problem,
    density_slope,
    evaluate,
    log_between,
    log_density,
    quantile,
)
from pellucid.solvers import SeparationWarning

CDF = {"logit": expit, "probit": ndtr, "cloglog": lambda z: -np.expm1(-np.exp(z))}


def data(n=300, K=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * [1, 2, 0.5] + [3, -2, 10]
    z = X @ [1.0, -0.5, 0.7]
    cuts = np.quantile(z, np.linspace(0, 1, K + 1)[1:-1])
    return X, np.digitize(z + rng.logistic(size=n), cuts)


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("K", [3, 5])
def test_as_statsmodels(link, K):
    X, y = data(K=K)
    model = OrdinalLogisticRegression(link=link, tol=1e-8).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = OrderedModel(y, X, distr=link).fit(method="bfgs", disp=False, gtol=1e-8, maxiter=999)
    cuts = peer.model.transform_threshold_params(peer.params)[1:-1]
    np.testing.assert_allclose(model.coef_, peer.params[:3], atol=1e-5)
    np.testing.assert_allclose(model.thresholds_, cuts, atol=1e-4)
    np.testing.assert_allclose(model.standard_errors_[K - 1 :], peer.bse[:3], rtol=1e-4)
    np.testing.assert_allclose(model.log_likelihood_, peer.llf, rtol=1e-9)
    np.testing.assert_allclose(model.aic_, peer.aic, rtol=1e-9)
    np.testing.assert_allclose(model.bic_, peer.bic, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict(X), atol=1e-6)
    np.testing.assert_allclose(model.null_log_likelihood_, peer.llnull, rtol=1e-8)
    # the first threshold is a parameter of statsmodels too
    np.testing.assert_allclose(model.standard_errors_[0], peer.bse[3], rtol=1e-4)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_derivatives(link, ridge):
    X, y = data(80, 4)
    w = np.random.default_rng(1).uniform(size=80)
    problem = Problem(Rows(X, y, w), 4, link, ridge, X.mean(axis=0))
    theta = np.array([-1.2, 0.1, 0.9, 0.4, -0.3, 0.2])
    state, h = evaluate(problem, theta), 1e-5
    for j, e in enumerate(np.eye(6)):
        up, down = evaluate(problem, theta + h * e), evaluate(problem, theta - h * e)
        np.testing.assert_allclose(state.slope[j], (up.value - down.value) / (2 * h), rtol=1e-6,
                                   atol=1e-6)  # fmt: skip
        np.testing.assert_allclose(state.curvature[j], (up.slope - down.slope) / (2 * h),
                                   rtol=1e-5, atol=1e-5)  # fmt: skip


@pytest.mark.parametrize("link", LINKS)
def test_links(link):
    low, high = np.array([-np.inf, -1.0, 0.3, 2.0]), np.array([-1.0, 0.3, 2.0, np.inf])
    F = CDF[link]
    np.testing.assert_allclose(np.exp(log_between(link, low, high)), F(high) - F(low), rtol=1e-12)
    assert log_between(link, np.array([1.0]), np.array([1.0]))[0] == -np.inf
    z, h = np.linspace(-2, 2, 9), 1e-6
    f = np.exp(log_density(link, z))
    np.testing.assert_allclose(f, (F(z + h) - F(z - h)) / (2 * h), rtol=1e-7)
    change = np.exp(log_density(link, z + h)) - np.exp(log_density(link, z - h))
    np.testing.assert_allclose(density_slope(link, z) * f, change / (2 * h), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(quantile(link, F(z)), z, rtol=1e-10, atol=1e-12)
    far = log_between(link, np.array([-60.0]), np.array([-59.0]))
    assert np.isfinite(far).all()


@pytest.mark.parametrize("link", LINKS)
def test_recovers_its_own_model(link):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20000, 2))
    u = quantile(link, rng.uniform(size=20000))
    y = np.digitize(X @ [1.0, -0.5] + u, [-1.0, 0.5])  # F is the law of u
    model = OrdinalLogisticRegression(link=link).fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, -0.5], atol=0.08)
    np.testing.assert_allclose(model.thresholds_, [-1.0, 0.5], atol=0.08)
    assert model.summary().lr_p_value < 1e-10


def test_two_classes_are_logistic_regression():
    X, y = data(200, 2)
    model = OrdinalLogisticRegression(C=0.7, tol=1e-9).fit(X, y)
    other = LogisticRegressionCV(Cs=[0.7], cv=2, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(model.coef_, other.coef_[0], atol=1e-7)
    np.testing.assert_allclose(-model.thresholds_, other.intercept_, atol=1e-6)


def test_history_thresholds_and_gradient():
    X, y = data(K=5)
    model = OrdinalLogisticRegression(tol=1e-9).fit(X, y)
    assert (np.diff(model.history_["objective"]) <= 1e-9).all()
    assert (np.diff(model.thresholds_) > 0).all()
    problem = Problem(Rows(X, y, np.ones(len(y))), 5, "logit", 0.0, np.zeros(3))
    state = evaluate(problem, np.append(model.thresholds_, model.coef_))
    assert np.abs(state.slope).max() < 1e-5


def test_weights_permutation_and_threads():
    X, y = data(9000, 3)
    w = np.random.default_rng(0).integers(0, 3, size=9000)
    a = OrdinalLogisticRegression().fit(X, y, sample_weight=w)
    b = OrdinalLogisticRegression().fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-8)
    np.testing.assert_allclose(a.standard_errors_, b.standard_errors_, rtol=1e-8)
    with limit_threads(1):
        alone = OrdinalLogisticRegression().fit(X, y, sample_weight=w)
    np.testing.assert_array_equal(alone.coef_, a.coef_)
    turned = OrdinalLogisticRegression().fit(X, 2 - y, sample_weight=w)  # logit is symmetric
    np.testing.assert_allclose(turned.coef_, -a.coef_, rtol=1e-6)


def test_ridge_shrinks_and_has_no_errors():
    X, y = data()
    free = OrdinalLogisticRegression().fit(X, y)
    small = OrdinalLogisticRegression(C=0.01).fit(X, y)
    assert (np.abs(small.coef_) < np.abs(free.coef_)).all()
    with pytest.warns(UserWarning, match="penalised"):
        summary = small.summary()
    assert not summary.valid
    assert np.isnan(summary.standard_error).all()
    assert free.summary().valid
    assert free.summary().names == ("0|1", "1|2", "2|3", "x0", "x1", "x2")


@pytest.mark.parametrize("link", LINKS)
def test_separated_classes_warn(link):
    x = np.arange(12.0)[:, None]
    y = np.repeat([0, 1, 2], 4)
    with pytest.warns(SeparationWarning, match="finite C"):
        model = OrdinalLogisticRegression(link=link, max_iter=500).fit(x, y)
    assert model.separation_
    assert np.isfinite(model.coef_).all()
    assert (model.predict(x) == y).all()
    finite = OrdinalLogisticRegression(C=1.0, link=link).fit(x, y)
    assert not finite.separation_


def test_dependent_columns_warn():
    X, y = data()
    with pytest.warns(LinAlgWarning, match="dependent"):
        model = OrdinalLogisticRegression().fit(np.column_stack([X, X[:, 0]]), y)
    np.testing.assert_allclose(model.coef_[0], model.coef_[3], rtol=1e-6)
    assert np.isnan(model.standard_errors_).all()
    one = OrdinalLogisticRegression().fit(X, y)
    np.testing.assert_allclose(model.predict_proba(np.column_stack([X, X[:, 0]])),
                               one.predict_proba(X), atol=1e-6)  # fmt: skip


def test_labels_keep_their_order_and_extreme_rows_have_probabilities():
    X, y = data(K=3)
    model = OrdinalLogisticRegression().fit(X, np.array(["a low", "b middle", "c high"])[y])
    far = model.predict_proba([[1e6, 0, 0], [-1e6, 0, 0], [3, -2, 10]])
    assert np.isfinite(far).all()
    np.testing.assert_allclose(far.sum(axis=1), 1.0)
    assert list(model.predict([[1e6, 0, 0], [-1e6, 0, 0]])) == ["c high", "a low"]


def test_refusals():
    X, y = data()
    with pytest.raises(ValueError, match="class"):
        OrdinalLogisticRegression().fit(X, np.zeros(300))
    with pytest.raises(ValueError, match="link must be"):
        OrdinalLogisticRegression(link="loglog").fit(X, y)
    with pytest.raises(ValueError, match="C must be"):
        OrdinalLogisticRegression(C=0).fit(X, y)
    with pytest.raises(ValueError, match="positive weight"):
        OrdinalLogisticRegression().fit(X, y, sample_weight=(y > 0).astype(float))
