"""BayesianLogisticRegression: quadrature of the exact posterior, example 11, laws, corners."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import expit, log_softmax, logsumexp, ndtr

import pellucid
from pellucid.core.runtime.threads import limit_threads
from pellucid.inference import Normal, laplace_approximation
from pellucid.linear import BayesianLogisticRegression, Hyperplane
from pellucid.linear.bayes import walk_kernels as walks
from pellucid.linear.bayes.averaged_sigmoid import log_averages, normal_points

X5, y5 = np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
QUERY = [[2.5], [10.0], [30.0]]


def table(n=200, p=3, seed=0, K=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    W = rng.normal(size=(p, K))
    return X, (X @ W + rng.gumbel(size=(n, K))).argmax(axis=1)


def log_joint(model, X, y, theta, prior=1.0, mean=0.0):
    """Log likelihood plus log prior, written out."""
    D = np.column_stack([np.ones(len(X)), X])
    a = D @ theta
    gap = theta - mean
    inside = (y * a - np.logaddexp(0, a)).sum()
    return inside - 0.5 * (gap @ gap / prior + len(theta) * np.log(2 * np.pi * prior))


# --- example 11 and the exact posterior ------------------------------------------------------


def test_example_11_mode_and_covariance():
    model = BayesianLogisticRegression(prior=1.0).fit(X5, y5)
    assert_allclose(model.map_, [-0.5869746091, 0.4123753392], atol=1e-10)
    assert_allclose(
        model.posterior_covariance_,
        [[0.6602776628, -0.1747123171], [-0.1747123171, 0.1362854648]],
        atol=1e-10,
    )


@pytest.mark.parametrize(
    ("method", "expected", "tolerance"),
    [
        ("map", [0.548682, 0.998709, 1.000000], 1e-6),
        ("laplace", [0.540554, 0.897777, 0.916726], 1e-6),
        ("metropolis", [0.579234, 0.955951, 0.969553], 0.02),
    ],
)
def test_example_11_predictions(method, expected, tolerance):
    model = BayesianLogisticRegression(prior=10.0, method=method, n_draws=5000, random_state=0)
    proba = model.fit(X5, y5).predict_proba(QUERY)
    assert_allclose(proba[:, 1], expected, atol=tolerance)
    assert_allclose(proba.sum(axis=1), 1)


def grid_posterior(prior):
    """Trapezoid on a wide fine grid of (intercept, slope)."""
    a, b = np.meshgrid(np.linspace(-22, 16, 761), np.linspace(-6, 12, 721), indexing="ij")
    T = np.stack([a.ravel(), b.ravel()], axis=1)
    A = T @ np.column_stack([np.ones(6), X5]).T
    logs = A @ y5 - np.logaddexp(0, A).sum(axis=1) - (T**2).sum(axis=1) / (2 * prior)
    w = np.exp(logs - logsumexp(logs))
    return T, w


def test_draws_agree_with_quadrature():
    """Moments and predictive of the exact posterior."""
    T, w = grid_posterior(10.0)
    mean = w @ T
    S = (T - mean).T @ ((T - mean) * w[:, None])
    model = BayesianLogisticRegression(
        prior=10.0, method="metropolis", n_draws=20_000, random_state=1
    ).fit(X5, y5)
    error = np.sqrt(np.diag(S) / model.ess_)
    assert (np.abs(model.posterior_mean_ - mean) < 4 * error).all()
    assert_allclose(model.posterior_covariance_, S, rtol=0.1)
    exact = w @ expit(T[:, :1] + T[:, 1:] * np.ravel(QUERY))
    assert_allclose(exact, [0.579234, 0.955951, 0.969553], atol=2e-6)
    assert_allclose(model.predict_proba(QUERY)[:, 1], exact, atol=0.01)
    edges = model.predict_interval(QUERY, confidence=0.9)
    for i, q in enumerate(np.ravel(QUERY)):
        values = expit(T @ [1, q])
        order = np.argsort(values)
        heap = np.cumsum(w[order])
        exact_edges = values[order][np.searchsorted(heap, [0.05, 0.95])]
        assert_allclose(edges[i], exact_edges, atol=0.02)


# --- the average of a sigmoid ---------------------------------------------------------------


def exact_average(m, s):
    if s == 0:
        return expit(m)
    f = lambda z: np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * expit(m + s * z)  # noqa: E731
    turns = {float(np.clip((t - m) / s, -12, 12)) for t in (-30, -10, -3, 0, 3, 10, 30)}
    cuts = sorted(turns | {-12.0, 0.0, 12.0})
    options = {"epsabs": 1e-13, "epsrel": 1e-12, "limit": 400}
    return sum(quad(f, a, b, **options)[0] for a, b in pairwise(cuts))


@pytest.mark.parametrize("s", [0.0, 0.1, 1.0, 1.5, 1.51, 2.0, 4.0, 20.0, 1e3, 1e6])
def test_average_is_exact_for_every_variance(s):
    m = np.array([-40.0, -6.0, -1.0, 0.0, 0.3, 2.0, 9.0, 60.0, 2000.0])
    low, high = log_averages(m, np.full(len(m), s))
    assert_allclose(np.exp(high), [exact_average(value, s) for value in m], atol=2e-9)
    assert_allclose(np.exp(low) + np.exp(high), 1, atol=1e-15)
    mirrored = log_averages(-m, np.full(len(m), s))
    assert_allclose(mirrored[0], high, rtol=1e-14)


def test_averages_are_finite_in_logs():
    m = np.array([-1e3, -1e5, 1e300, -50.0])
    s = np.array([1.0, 3.0, 1e300, 10.0])
    low, high = log_averages(m, s)
    assert np.isfinite([low, high]).all()
    assert_allclose(high[:2], [-1e3 + 0.5, -1e5 + 4.5])  # E e^a


def test_far_away_with_a_wide_prior():
    model = BayesianLogisticRegression(prior=100.0).fit(X5, y5)
    far = np.array([[1e3], [1e8], [1e150], [-1e150]])
    proba = model.predict_proba(far)
    assert np.isfinite(proba).all()
    sd = np.sqrt(model.posterior_covariance_[1, 1])
    limit = ndtr(model.map_[1] / sd)
    assert_allclose(proba[1:, 1], [limit, limit, 1 - limit], atol=1e-6)


def test_points_stand_for_the_normal():
    Z = normal_points(2000, 3)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    assert_allclose(Z.T @ Z / len(Z), np.eye(3), atol=1e-12)
    assert_allclose((Z**4).mean(axis=0), 3, rtol=0.05)


# --- mode, evidence, laws -------------------------------------------------------------------


def test_gradient_is_zero_at_the_mode_and_the_objective_falls():
    X, y = table()
    model = BayesianLogisticRegression(prior=3.0).fit(X, y)
    D = np.column_stack([np.ones(len(X)), X])
    gradient = D.T @ (y - expit(D @ model.map_)) - model.map_ / 3.0
    assert_allclose(gradient, 0, atol=1e-9)
    p = expit(D @ model.map_)
    H = (D.T * (p * (1 - p))) @ D + np.eye(4) / 3.0
    assert_allclose(model.posterior_covariance_, np.linalg.inv(H), rtol=1e-9)
    assert (np.diff(model.history_["objective"]) <= 1e-9).all()


def test_agrees_with_the_general_laplace_approximation():
    X, y = table(60, 2)
    model = BayesianLogisticRegression(prior=2.0).fit(X, y)
    found = laplace_approximation(lambda t: log_joint(model, X, y, t, prior=2.0), np.zeros(3))
    assert_allclose(model.map_, found.mode, atol=1e-6)
    assert_allclose(model.posterior_covariance_, found.cov, rtol=1e-5)
    assert_allclose(model.log_evidence_, found.log_evidence, atol=1e-6)


def test_mode_is_that_of_penalised_logistic_regression():
    from sklearn.linear_model import LogisticRegression

    X, y = table()
    D = np.column_stack([np.ones(len(X)), X])
    peer = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-12, max_iter=1000).fit(D, y)
    model = BayesianLogisticRegression(prior=2.0).fit(X, y)
    assert_allclose(model.map_, peer.coef_[0], atol=1e-6)


def test_softmax_mode_is_that_of_scikit_learn():
    from sklearn.linear_model import LogisticRegression

    X, y = table(300, 3, K=4)
    D = np.column_stack([np.ones(len(X)), X])
    peer = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=5000).fit(D, y)
    model = BayesianLogisticRegression(prior=2.0, method="map").fit(X, y)
    assert_allclose(model.map_.reshape(4, 4), peer.coef_, atol=1e-4)
    assert_allclose(model.predict_proba(X), peer.predict_proba(D), atol=1e-4)


def test_prior_as_mean_and_covariance():
    X, y = table()
    plain = BayesianLogisticRegression(prior=4.0).fit(X, y)
    for prior in [(0.0, 4.0), (np.zeros(4), np.full(4, 4.0)), (np.zeros(4), 4.0 * np.eye(4))]:
        model = BayesianLogisticRegression(prior=prior).fit(X, y)
        assert_allclose(model.map_, plain.map_, atol=1e-10)
        assert_allclose(model.log_evidence_, plain.log_evidence_)
    rng = np.random.default_rng(0)
    R = rng.normal(size=(4, 4)) + 3 * np.eye(4)
    m, V = rng.normal(size=4), R @ R.T
    model = BayesianLogisticRegression(prior=(m, V)).fit(X, y)
    D = np.column_stack([np.ones(len(X)), X])
    gradient = D.T @ (y - expit(D @ model.map_)) - np.linalg.solve(V, model.map_ - m)
    assert_allclose(gradient, 0, atol=1e-9)
    # without data the posterior is the prior
    tight = BayesianLogisticRegression(prior=(m, 1e-10 * np.eye(4))).fit(X, y)
    assert_allclose(tight.map_, m, atol=1e-6)


def test_prior_of_all_classes_at_once():
    X, y = table(90, 2, K=3)
    each = BayesianLogisticRegression(prior=(0.0, np.diag([1.0, 2.0, 3.0]))).fit(X, y)
    together = BayesianLogisticRegression(
        prior=(np.zeros(9), np.kron(np.eye(3), np.diag([1.0, 2.0, 3.0])))
    ).fit(X, y)
    assert_allclose(each.map_, together.map_, atol=1e-9)


def test_separable_data_are_fine():
    X = np.arange(8.0)[:, None]
    y = (X[:, 0] > 3.5).astype(int)
    for prior in (1.0, 100.0, 1e8):
        for method in ("map", "laplace"):
            model = BayesianLogisticRegression(prior=prior, method=method).fit(X, y)
            assert np.isfinite(model.map_).all()
            assert prior == 1 or model.score(X, y) == 1
    model = BayesianLogisticRegression(
        prior=10.0, method="metropolis", n_draws=4000, random_state=0
    )
    assert model.fit(X, y).score(X, y) >= 7 / 8


def test_softmax_of_two_is_consistent_with_three_empty_handed():
    """Laplace and draws agree on K = 3, and rows sum to 1."""
    X, y = table(300, 2, K=3)
    laplace = BayesianLogisticRegression().fit(X, y)
    draws = BayesianLogisticRegression(
        method="metropolis", n_draws=20_000, n_burn=2000, random_state=0
    ).fit(X, y)
    P, Q = laplace.predict_proba(X[:50]), draws.predict_proba(X[:50])
    assert_allclose(P.sum(axis=1), 1)
    assert_allclose(P, Q, atol=0.02)
    assert_allclose(draws.posterior_mean_, laplace.map_, atol=0.2)
    assert laplace.predict_interval(X[:5]).shape == (5, 3, 2)
    assert_allclose(laplace.predict_interval(X[:5]), draws.predict_interval(X[:5]), atol=0.05)


def test_many_points_converge():
    """The average over points for K = 3 against a long random sample."""
    X, y = table(40, 2, K=3)
    model = BayesianLogisticRegression(prior=5.0, n_draws=4000).fit(X, y)
    theta = model.sample_coef(200_000, random_state=0).reshape(-1, 3, 3)
    D = np.column_stack([np.ones(3), X[:3] * 3])
    logs = log_softmax(np.einsum("nd,skd->nsk", D, theta), axis=2)
    assert_allclose(model.predict_proba(X[:3] * 3), np.exp(logs).mean(axis=1), atol=2e-3)


# --- chains ---------------------------------------------------------------------------------


def test_kernel_equals_numpy():
    rng = np.random.default_rng(0)
    for n, d, K in [(5, 1, 2), (700, 3, 2), (1300, 6, 2), (700, 3, 4)]:
        D = rng.normal(size=(n, d)) * 3
        q = d if K == 2 else K * d
        y, w = rng.integers(K, size=n), rng.random(n) + 0.5
        theta, mean = rng.normal(size=(3, q)), rng.normal(size=q)
        R = np.tril(rng.normal(size=(q, q))) + 2 * np.eye(q)
        for weights in (w, np.ones(n)):
            if K == 2:
                pull = (weights * y) @ D
                value = [-(weights @ np.logaddexp(0, D @ t)) for t in theta]
            else:
                pull = ((np.eye(K)[y] * weights[:, None]).T @ D).ravel()
                value = [-(weights @ logsumexp(D @ t.reshape(K, d).T, axis=1)) for t in theta]
            gaps = (theta - mean) @ R.T
            expected = np.array(value) + theta @ pull - 0.5 * (gaps**2).sum(axis=1)
            out = np.empty(3)
            kernel = walks.logistic_values if K == 2 else walks.softmax_values
            given = np.empty(0) if weights is not w else w
            kernel(np.ascontiguousarray(D.T), given, pull, mean, R, theta, out)
            assert_allclose(out, expected, rtol=1e-12, atol=1e-10)


def test_exponential_block():
    x = np.concatenate([-np.random.default_rng(0).uniform(0, 708, 5000), [0.0, -1e-300]])
    out = x.copy()
    walks.exp_block(out, len(out), np.empty(len(out)))
    assert_allclose(out, np.exp(x), rtol=1e-15)


def test_draws_do_not_depend_on_threads_or_on_other_chains():
    X, y = table(700, 3)
    options = {"method": "metropolis", "n_draws": 400, "n_burn": 100, "random_state": 0}
    models = []
    for n in (1, 2, 3):
        with limit_threads(n):
            models.append(fit_quietly(X, y, **options))
    assert_array_equal(models[0].draws_, models[1].draws_)
    assert_array_equal(models[0].draws_, models[2].draws_)
    fewer = fit_quietly(X, y, n_chains=2, **options)
    assert_array_equal(models[0].draws_[:2], fewer.draws_)
    assert models[0].draws_.shape == (4, 400, 4)


def fit_quietly(X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return BayesianLogisticRegression(**options).fit(X, y)


def test_weights_are_repetitions_for_the_chains_too():
    X, y = table(60, 2)
    w = np.random.default_rng(1).integers(0, 4, size=60)
    options = {"method": "metropolis", "n_draws": 8000, "random_state": 0}
    a = fit_quietly(X, y, **options)
    weighted = BayesianLogisticRegression(**options).fit(X, y, sample_weight=w)
    again = BayesianLogisticRegression(**options).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    assert_allclose(weighted.posterior_mean_, again.posterior_mean_, atol=0.03)
    assert np.abs(weighted.posterior_mean_ - a.posterior_mean_).max() > 0.03


def test_acceptance_is_counted_over_the_kept_draws():
    model = BayesianLogisticRegression(
        prior=10.0, method="metropolis", n_draws=6000, random_state=0
    )
    model.fit(X5, y5)
    moved = (np.diff(model.draws_, axis=1) != 0).any(axis=2)
    assert_allclose(model.acceptance_rate_, moved.mean(axis=1), atol=1e-3)
    assert (model.acceptance_rate_ > 0.2).all()


def test_disagreeing_chains_warn():
    with pytest.warns(UserWarning, match="R-hat of .*several modes, or run longer"):
        BayesianLogisticRegression(
            method="metropolis", n_draws=50, n_burn=0, step=0.01, random_state=0
        ).fit(X5, y5)


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_low_acceptance_warns():
    with pytest.warns(UserWarning, match="smaller or shaped step"):
        BayesianLogisticRegression(method="metropolis", n_draws=200, step=50.0, random_state=0).fit(
            X5, y5
        )


@pytest.mark.parametrize("step", [0.8, [0.9, 0.4], [[0.8, -0.2], [-0.2, 0.1]]])
def test_steps_of_every_form_have_the_same_target(step):
    model = BayesianLogisticRegression(
        prior=1.0, method="metropolis", step=step, n_draws=30_000, random_state=0
    ).fit(X5, y5)
    reference = BayesianLogisticRegression(
        prior=1.0, method="metropolis", n_draws=30_000, random_state=7
    ).fit(X5, y5)
    assert_allclose(model.posterior_mean_, reference.posterior_mean_, atol=0.06)


# --- the rest of the interface --------------------------------------------------------------


def test_posterior_interface():
    X, y = table(100, 2)
    model = BayesianLogisticRegression().fit(X, np.array(["no", "yes"])[y])
    assert model.coef_.shape == (1, 2)
    assert isinstance(model.marginal(0), Normal)
    sample = model.sample_coef(50_000, random_state=0)
    assert_allclose(sample.mean(axis=0), model.posterior_mean_, atol=0.02)
    assert_allclose(np.cov(sample.T), model.posterior_covariance_, atol=0.01)
    planes = model.sample_boundaries(7, random_state=0)
    assert len(planes) == 7
    assert isinstance(planes[0], Hyperplane)
    assert_array_equal(planes[0].coef, model.sample_coef(7, random_state=0)[0, 1:])
    plane = model.boundary()
    assert_array_equal(model.predict(X) == "yes", plane.score(X) >= 0)
    assert model.boundary("no", "yes") == Hyperplane(-plane.coef, -plane.intercept)
    low, high = model.predict_interval(X, confidence=0.9).T
    assert (low < model.predict_proba(X)[:, 1]).all()
    assert (model.predict_proba(X)[:, 1] < high).all()
    summary = model.summary()
    assert summary.names == ("intercept", "x0", "x1")
    assert_allclose([summary.low[1], summary.high[1]], model.marginal(1).interval())


@pytest.mark.filterwarnings("ignore:the chains disagree")
def test_draws_interface(tmp_path):
    model = BayesianLogisticRegression(method="metropolis", n_draws=3000, random_state=0)
    model.fit(X5, y5)
    assert model.marginal(1).shape == (12_000,)
    assert {"rhat", "ess"} <= set(model.summary().columns)
    assert model.card().numbers["acceptance"] > 0.1
    drawn = model.sample_coef(10, random_state=0)
    assert all((model.draws_ == row).all(axis=2).any() for row in drawn)
    pellucid.save(model, tmp_path / "m.pellucid")
    assert_array_equal(
        pellucid.load(tmp_path / "m.pellucid").predict_proba(QUERY), model.predict_proba(QUERY)
    )


def test_without_intercept():
    X, y = table(100, 2)
    model = BayesianLogisticRegression(fit_intercept=False).fit(X, y)
    assert model.map_.shape == (2,)
    assert model.intercept_ == 0
    assert model.summary().names == ("x0", "x1")
    assert model.sample_boundaries(1, 0)[0].intercept == 0


def test_one_half_goes_to_the_second_class():
    model = BayesianLogisticRegression().fit([[-1.0], [1.0]], ["a", "b"])
    assert_allclose(model.predict_proba([[0.0]]), 0.5)
    assert model.predict([[0.0]]) == "b"


def test_more_columns_than_rows():
    X, y = table(20, 50)
    model = BayesianLogisticRegression().fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prior": 0.0}, "prior"),
        ({"prior": (0.0,)}, "pair"),
        ({"prior": (np.zeros(7), 1.0)}, "shape"),
        ({"prior": (0.0, -1.0)}, "> 0"),
        ({"prior": (0.0, np.array([[1.0, 2.0], [2.0, 1.0]]))}, "positive definite"),
        ({"prior": np.inf}, "finite"),
        ({"n_draws": 3}, "n_draws"),
        ({"step": "big"}, "step"),
        ({"step": -1.0, "method": "metropolis"}, "scale must be"),
        ({"method": "gibbs"}, "method"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        BayesianLogisticRegression(**options).fit(X5, y5)


def test_bad_calls_are_refused():
    with pytest.raises(ValueError, match="class"):
        BayesianLogisticRegression().fit(X5, np.zeros(6))
    X, y = table(60, 2, K=3)
    three = BayesianLogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="two classes"):
        three.sample_boundaries()
    with pytest.raises(ValueError, match="two of the labels"):
        three.boundary()
    with pytest.raises(ValueError, match=r"0\.\.8"):
        three.marginal(9)
    assert three.boundary(0, 2).coef.shape == (2,)


@pytest.mark.slow
def test_intervals_cover():
    """Over data sets drawn from the prior, 90 % intervals hold the true probability."""
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(300):
        theta = rng.normal(size=3)
        X = rng.normal(size=(30, 2))
        y = rng.random(30) < expit(theta[0] + X @ theta[1:])
        if y.all() or not y.any():
            continue
        low, high = BayesianLogisticRegression().fit(X, y).predict_interval(X[:1], 0.9)[0]
        hits.append(low <= expit(theta[0] + X[0] @ theta[1:]) <= high)
    assert 0.85 < np.mean(hits) < 0.95
