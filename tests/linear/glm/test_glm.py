"""Generalised linear models: published fits, other programs, laws, recovery, hard data."""

import numpy as np
import pandas as pd
import polars
import pytest
import sklearn.linear_model
import statsmodels.api as sm
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import LinAlgWarning
from scipy.sparse import csr_matrix

import pellucid
from pellucid import GammaRegressor, PoissonRegressor, TweedieRegressor
from pellucid.core.loops.iterate import ConvergenceWarning, iterate
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.threads import map_threads
from pellucid.linear import SeparationWarning
from pellucid.linear.glm.families import tweedie
from pellucid.linear.glm.newton import newton_step, start_newton
from pellucid.linear.glm.sums import Problem, evaluate

FAMILIES = [
    (PoissonRegressor, {}),
    (GammaRegressor, {}),
    (TweedieRegressor, {"power": 1.5}),
    (TweedieRegressor, {"power": 1.9}),
    (TweedieRegressor, {"power": 3}),
    (TweedieRegressor, {"power": 0}),
    (TweedieRegressor, {"power": 0, "link": "log"}),
    (TweedieRegressor, {"power": 1, "link": "identity"}),
    (TweedieRegressor, {"power": 2, "link": "identity"}),
]
families = pytest.mark.parametrize(("cls", "params"), FAMILIES)
LOG = [pair for pair in FAMILIES if pair[1].get("link") != "identity" and pair[1] != {"power": 0}]
log_families = pytest.mark.parametrize(("cls", "params"), LOG)


def power_of(cls, params):
    return {PoissonRegressor: 1, GammaRegressor: 2}.get(cls, params.get("power"))


def table(cls, params, n=400, seed=0):
    """Rows that the family makes, with weights that are whole numbers, some 0."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    eta = 1 + X @ [0.5, -0.3, 0.2]
    mu = 2 + X @ [0.5, -0.3, 0.2] if params.get("link") == "identity" else np.exp(eta)
    power = power_of(cls, params)
    if power == 0:
        y = mu + 0.3 * rng.normal(size=n)
    elif power == 1:
        y = rng.poisson(mu).astype(float)
    elif power < 2:
        jumps = rng.poisson(mu ** (2 - power) / (2 - power))  # Jorgensen's construction, phi = 1
        shape, scale = (2 - power) / (power - 1), (power - 1) * mu ** (power - 1)
        y = np.where(jumps > 0, rng.gamma(np.maximum(jumps, 1) * shape, scale), 0.0)
    else:
        y = rng.gamma(5.0, mu / 5)
    return X, y, rng.integers(0, 4, n).astype(float)


def statsmodels_glm(cls, params, X, y, w=None, **how):
    power, link = power_of(cls, params), params.get("link")
    link = sm.families.links.Identity() if link == "identity" else sm.families.links.Log()
    if params == {"power": 0}:
        link = sm.families.links.Identity()
    family = {0: sm.families.Gaussian, 1: sm.families.Poisson, 2: sm.families.Gamma}
    family |= {3: sm.families.InverseGaussian}
    made = sm.families.Tweedie(link, power) if power not in family else family[power](link)
    model = sm.GLM(y, sm.add_constant(X), made, freq_weights=w, **how)
    # Pearson's X^2 over the residual degrees of freedom, as the weights count
    return model.fit(tol=1e-14, maxiter=200, scale="X2" if cls is TweedieRegressor else None)


# --- oracles ---------------------------------------------------------------------------------


def test_dobson():
    """The randomised trial of R's ?glm (Dobson 1990, p. 93): glm.D93, its summary and AIC."""
    counts = [18, 17, 15, 20, 10, 20, 25, 13, 12]
    X = np.array([[o == 1, o == 2, t == 1, t == 2] for t in range(3) for o in range(3)], float)
    model = PoissonRegressor(alpha=0).fit(X, counts)
    found = model.summary()
    assert_allclose(found.estimate, [3.045, -0.4543, -0.2930, 0, 0], atol=6e-4)
    assert_allclose(found.standard_error, [0.1709, 0.2022, 0.1927, 0.2, 0.2], atol=6e-5)
    assert_allclose(found.statistic[:3], [17.815, -2.247, -1.520], atol=6e-4)
    assert_allclose(found.p_value[1:3], [0.0246, 0.1285], atol=6e-5)
    assert_allclose([model.null_deviance_, model.deviance_], [10.5814, 5.1291], atol=6e-5)
    assert_allclose(model.aic_, 56.76, atol=6e-3)
    low, high = found.low, found.high  # confint.default(glm.D93)
    assert_allclose(low[:3], [2.7095672, -0.8505027, -0.6707552], rtol=1e-6)
    assert_allclose(high[:3], [3.37947764, -0.05800787, 0.08478093], rtol=1e-6)


def warpbreaks():
    breaks = """26 30 54 25 70 52 51 26 67 18 21 29 17 12 18 35 30 36 36 21 24 18 10 43 28 15 26
    27 14 29 19 29 31 41 20 44 42 26 19 16 39 28 21 39 29 20 21 24 17 13 15 15 16 28"""
    wool, tension = np.repeat([0, 1], 27), np.tile(np.repeat([0, 1, 2], 9), 2)
    X = np.column_stack([wool, tension == 1, tension == 2]).astype(float)
    return X, np.array(breaks.split(), float)


def test_warpbreaks():
    """R's dataset warpbreaks (Tippett 1950), glm(breaks ~ wool + tension, poisson)."""
    model = PoissonRegressor(alpha=0).fit(*warpbreaks())
    found = model.summary()
    assert_allclose(found.estimate, [3.69196, -0.20599, -0.32132, -0.51849], atol=6e-6)
    assert_allclose(found.standard_error, [0.04541, 0.05157, 0.06027, 0.06396], atol=6e-6)
    assert_allclose([model.null_deviance_, model.deviance_], [297.37, 210.39], atol=6e-3)
    assert_allclose(model.aic_, 493.06, atol=6e-3)
    assert any("varies more" in note for note in found.notes)  # Pearson's dispersion is 4.3
    even = PoissonRegressor(alpha=0).fit(np.zeros((4, 1)) + np.eye(4, 1), [2, 3, 4, 3]).summary()
    assert not any("varies more" in note for note in even.notes)


@families
@pytest.mark.parametrize("alpha", [0.0, 0.1])
def test_scikit_learn_finds_the_same_minimum(cls, params, alpha):
    X, y, w = table(cls, params)
    ours = cls(alpha=alpha, **params).fit(X, y, sample_weight=w)
    theirs = getattr(sklearn.linear_model, cls.__name__)(
        alpha=alpha, tol=1e-10, max_iter=10_000, **params
    ).fit(X, y, sample_weight=w)
    assert_allclose(ours.coef_, theirs.coef_, atol=2e-6)
    assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-6)
    assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5)
    assert_allclose(ours.score(X, y, w), theirs.score(X, y, w), atol=1e-9)


@pytest.mark.filterwarnings("ignore:The Identity link function")
@families
def test_errors_as_statsmodels(cls, params):
    X, y, w = table(cls, params)
    X, y, w = X[w > 0], y[w > 0], w[w > 0]
    ours = cls(alpha=0, **params).fit(X, y, sample_weight=w)
    theirs = statsmodels_glm(cls, params, X, y, w)
    assert_allclose(np.append(ours.intercept_, ours.coef_), theirs.params, rtol=1e-8)
    assert_allclose(ours.standard_errors_, theirs.bse, rtol=1e-8)
    assert_allclose(ours.deviance_, theirs.deviance, rtol=1e-9)
    assert_allclose(ours.null_deviance_, theirs.null_deviance, rtol=1e-9)
    assert_allclose(ours.dispersion_, theirs.scale, rtol=1e-8)
    z = ours.summary(distribution="normal")
    assert_allclose(z.statistic, theirs.tvalues, rtol=1e-7)
    assert_allclose(z.p_value, theirs.pvalues, rtol=1e-6, atol=1e-12)
    assert_allclose(np.column_stack([z.low, z.high]), theirs.conf_int(), rtol=1e-6, atol=1e-9)
    if cls is PoissonRegressor:
        assert_allclose(ours.log_likelihood_, theirs.llf, rtol=1e-10)


def test_log_likelihoods_are_those_of_the_densities():
    """At phi = deviance/n, from scipy's densities."""
    from scipy import stats

    X, y, _ = table(GammaRegressor, {})
    gamma = GammaRegressor(alpha=0).fit(X, y)
    phi, mu = gamma.deviance_ / len(y), gamma.predict(X)
    expected = stats.gamma(1 / phi, scale=mu * phi).logpdf(y).sum()
    assert_allclose(gamma.log_likelihood_, expected, rtol=1e-10)
    inverse = TweedieRegressor(power=3, alpha=0).fit(X, y)
    phi, mu = inverse.deviance_ / len(y), inverse.predict(X)
    expected = stats.invgauss(mu * phi, scale=1 / phi).logpdf(y).sum()
    assert_allclose(inverse.log_likelihood_, expected, rtol=1e-10)
    normal = TweedieRegressor(alpha=0).fit(X, y)
    sd = np.sqrt(normal.deviance_ / len(y))
    expected = stats.norm(normal.predict(X), sd).logpdf(y).sum()
    assert_allclose(normal.log_likelihood_, expected, rtol=1e-10)
    assert np.isnan(TweedieRegressor(power=1.5, alpha=0).fit(X, y).log_likelihood_)


@log_families
def test_offset_and_exposure_as_statsmodels(cls, params):
    X, y, _ = table(cls, params)
    e = np.random.default_rng(1).uniform(0.5, 4.0, len(y))
    ours = cls(alpha=0, **params).fit(X, y, exposure=e)
    theirs = statsmodels_glm(cls, params, X, y, offset=np.log(e))
    assert_allclose(np.append(ours.intercept_, ours.coef_), theirs.params, rtol=1e-7)
    assert_allclose(ours.standard_errors_, theirs.bse, rtol=1e-7)
    assert_allclose(ours.null_deviance_, theirs.null_deviance, rtol=1e-8)
    again = cls(alpha=0, **params).fit(X, y, offset=np.log(e))
    assert_array_equal(again.coef_, ours.coef_)
    assert_allclose(ours.predict(X, exposure=e), theirs.fittedvalues, rtol=1e-8)
    assert_allclose(ours.predict(X) * e, ours.predict(X, offset=np.log(e)), rtol=1e-12)
    explained = 1 - theirs.deviance / theirs.null_deviance
    assert_allclose(ours.score(X, y, exposure=e), explained, rtol=1e-7)


def test_exposure_is_a_rate_with_weights():
    """Counts in e hours are rates y/e with weight e: the same fit."""
    X, y, _ = table(PoissonRegressor, {})
    e = np.random.default_rng(1).uniform(0.5, 4.0, len(y))
    counts = PoissonRegressor(alpha=0).fit(X, y, exposure=e)
    rates = PoissonRegressor(alpha=0).fit(X, y / e, sample_weight=e)
    assert_allclose(counts.coef_, rates.coef_, rtol=1e-9)


# --- laws ------------------------------------------------------------------------------------


@families
def test_derivatives_are_differences_of_the_loss(cls, params):
    family = cls(**params)._family()
    y, eta, h = np.array([0.5, 2.0, 7.0]), np.array([0.3, 1.1, 2.0]), 1e-5
    loss = lambda t: family.loss(y, family.mean(t))  # noqa: E731
    slope = lambda t: family.slope(y, family.mean(t))  # noqa: E731
    assert_allclose((loss(eta + h) - loss(eta - h)) / (2 * h), slope(eta), rtol=1e-6, atol=1e-9)
    curvature = (slope(eta + h) - slope(eta - h)) / (2 * h)
    assert_allclose(curvature, family.curvature(y, family.mean(eta)), rtol=1e-6, atol=1e-9)
    V = family.variance(family.mean(eta))
    pearson = (y - family.mean(eta)) ** 2 / V
    assert_allclose(family.pearson(y, family.mean(eta)), pearson, rtol=1e-12)
    at_mean = family.curvature(family.mean(eta), family.mean(eta))
    assert_allclose(at_mean, family.information(family.mean(eta)), rtol=1e-12)


@families
def test_stationary(cls, params):
    """At the minimum the gradient of the objective is zero, and the history never rises."""
    X, y, w = table(cls, params)
    model = cls(alpha=0.05, **params).fit(X, y, sample_weight=w)
    family = model._family()
    r = w * family.slope(y, family.mean(X @ model.coef_ + model.intercept_)) / w.sum()
    assert_allclose(X.T @ r + 0.05 * model.coef_, 0, atol=1e-9)
    assert_allclose(r.sum(), 0, atol=1e-9)
    assert (np.diff(model.history_["objective"]) <= 1e-12).all()


@families
def test_weights_are_repetitions(cls, params):
    X, y, w = table(cls, params)
    once = cls(alpha=0, **params).fit(X, y, sample_weight=w)
    each = w.astype(int)
    often = cls(alpha=0, **params).fit(np.repeat(X, each, axis=0), np.repeat(y, each))
    assert_allclose(once.coef_, often.coef_, rtol=1e-8)
    assert_allclose(once.standard_errors_, often.standard_errors_, rtol=1e-8)
    for name in ("deviance_", "null_deviance_", "dispersion_", "n_observations_", "df_"):
        assert_allclose(getattr(once, name), getattr(often, name), rtol=1e-9)
    assert_allclose(once.log_likelihood_, often.log_likelihood_, rtol=1e-9)


@families
def test_sparse_blocks_and_frames_give_the_same_fit(cls, params):
    X, y, _ = table(cls, params)
    model = cls(alpha=0, **params).fit(X, y)
    thin = cls(alpha=0, **params).fit(csr_matrix(X), y)
    assert_allclose(thin.coef_, model.coef_, rtol=1e-7)
    assert_allclose(thin.standard_errors_, model.standard_errors_, rtol=1e-7)
    frame = polars.DataFrame(X, schema=["a", "b", "c"]).with_columns(y=polars.Series(y))
    blocks = pellucid.data.blocks(frame, target="y", block_rows=100)
    parts = cls(alpha=0, **params).fit_blocks(blocks)
    assert_array_equal(parts.coef_, model.coef_)  # bit for bit
    named = cls(alpha=0, **params).fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    assert_array_equal(named.coef_, model.coef_)
    assert named.summary().names == ("intercept", "a", "b", "c")


@pytest.mark.parametrize("scale", [1e-9, 1e9, 1e-150, 1e150])
@pytest.mark.parametrize(("cls", "params"), [*FAMILIES[1:6], FAMILIES[8]])
def test_units_of_y_do_not_matter(cls, params, scale):
    X, y, _ = table(cls, params)
    plain, large = (cls(alpha=0, **params).fit(X, s * y) for s in (1.0, scale))
    unit = scale if plain._link == "identity" else 1.0
    assert large.n_iter_ == plain.n_iter_
    assert_allclose(large.coef_, plain.coef_ * unit, rtol=1e-9)
    assert_allclose(large.standard_errors_, plain.standard_errors_ * unit, rtol=1e-9)
    assert_allclose(large.predict(X), plain.predict(X) * scale, rtol=1e-9)


@families
def test_units_of_x_do_not_matter(cls, params):
    X, y, _ = table(cls, params)
    scale, shift = np.array([1e-9, 1e9, 1.0]), np.array([0.0, 0.0, 1e6])
    plain, moved = (cls(alpha=0, **params).fit(A, y) for A in (X, X * scale + shift))
    assert_allclose(moved.coef_ * scale, plain.coef_, rtol=1e-5)
    errors = moved.standard_errors_[1:] * scale
    assert_allclose(errors, plain.standard_errors_[1:], rtol=1e-5)


# --- recovery --------------------------------------------------------------------------------


@pytest.mark.parametrize(("cls", "params"), FAMILIES[:3])
def test_recovers_the_coefficients_and_covers_them(cls, params):
    """The truth lies within the 95 % interval about 95 times in 100."""
    truth, hits = np.array([1.0, 0.5, -0.3, 0.2]), []
    for seed in range(100):
        X, y, _ = table(cls, params, n=150, seed=seed)
        found = cls(alpha=0, **params).fit(X, y).summary()
        hits.append((found.low <= truth) & (truth <= found.high))
    assert 0.92 <= np.mean(hits) <= 0.98
    X, y, _ = table(cls, params, n=20_000)
    model = cls(alpha=0, **params).fit(X, y)
    assert_allclose(np.append(model.intercept_, model.coef_), truth, atol=0.06)


# --- hard data -------------------------------------------------------------------------------


def levels(seed=0, n=300):
    rng = np.random.default_rng(seed)
    level = rng.integers(0, 4, n)
    y = rng.poisson(2.0, n).astype(float)
    y[level == 2] = 0
    return level, y


@pytest.mark.parametrize("cls", [PoissonRegressor, lambda **k: TweedieRegressor(power=1.5, **k)])
@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("n", [40, 300, 6000])
def test_a_level_without_counts_warns(cls, mixed, n):
    level, y = levels(n=n)
    D = np.eye(4)[level][:, 1:]
    D = D @ np.random.default_rng(1).normal(size=(3, 3)) if mixed else D
    with pytest.warns(SeparationWarning, match="runs to 0"):
        model = cls(alpha=0).fit(D, y)
    assert np.isfinite(model.coef_).all()
    assert (model.predict(D[level == 2]) < 1e-9).all()
    others = [y[level == k].mean() for k in (0, 1, 3)]
    assert_allclose([model.predict(D[level == k])[0] for k in (0, 1, 3)], others, rtol=1e-6)
    with pytest.warns(UserWarning, match="no finite maximum"):
        found = model.summary()
    assert not found.valid
    assert np.isnan(found.standard_error).all()
    assert "no finite" in str(model.card())


def test_a_level_with_one_count_does_not_warn(recwarn):
    level, y = levels()
    y[np.flatnonzero(level == 2)[0]] = 1
    model = PoissonRegressor(alpha=0).fit(np.eye(4)[level][:, 1:], y)
    assert not recwarn.list
    assert model.summary().valid
    assert PoissonRegressor(alpha=1e-6).fit(np.eye(4)[level][:, 1:], levels()[1]).n_iter_ < 40
    assert not recwarn.list  # with a penalty there is a minimum


def test_dependent_columns_warn_and_take_the_shortest():
    X, y, _ = table(PoissonRegressor, {})
    with pytest.warns(LinAlgWarning, match="x0, x3 are linearly dependent"):
        model = PoissonRegressor(alpha=0).fit(np.column_stack([X, X[:, 0]]), y)
    plain = PoissonRegressor(alpha=0).fit(X, y)
    assert_allclose(model.coef_[[0, 3]], plain.coef_[0] / 2, rtol=1e-7)
    with pytest.warns(UserWarning, match="dependent"):
        assert not model.summary().valid


@log_families
@pytest.mark.parametrize("far", [30.0, -30.0, 300.0, -300.0, 1e5])
def test_every_warm_start_arrives(cls, params, far):
    X, y, _ = table(cls, params)
    model = cls(alpha=0, warm_start=True, **params).fit(X, y)
    right = model.coef_
    model.coef_, model.intercept_ = np.array([far, -0.3 * far, 1.0]), 0.1 * far
    assert_allclose(model.fit(X, y).coef_, right, rtol=1e-8)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("start", [-20.0, -5.0, 5.0, 20.0])
def test_newton_goes_down_from_far_away(power, start):
    """No step raises the objective, and the minimum is reached."""
    X, y, _ = table(GammaRegressor, {})
    rows = Rows(X, y + 0.1, np.ones(len(y)))
    p = X.shape[1]
    problem = Problem(
        rows, map_threads, tweedie(power, "log"), np.zeros(p + 1), np.zeros(p), True, len(y)
    )
    state = start_newton(problem, np.array([start, 2.0, -2.0, 0.0]))
    run = iterate(
        lambda s: newton_step(problem, s),
        state,
        tol=1e-8,
        record=lambda s: {"objective": s.point.objective},
    )
    assert run.converged
    assert (np.diff(run.history["objective"]) <= 1e-9).all()
    assert_allclose(evaluate(problem, run.state.point.theta, "").slope, 0, atol=1e-6)


def test_too_few_steps_warn():
    X, y, _ = table(PoissonRegressor, {})
    with pytest.warns(ConvergenceWarning, match="max_iter=1"):
        model = PoissonRegressor(alpha=0, max_iter=1).fit(X, y)
    with pytest.warns(UserWarning, match="did not converge"):
        assert not model.summary().valid
    assert "did not converge" in str(model.card())


def test_means_beyond_numbers():
    model = PoissonRegressor(alpha=0).fit([[0.0], [1.0], [2.0], [3.0]], [1, 3, 7, 20])
    with pytest.warns(UserWarning, match="largest number"):
        assert model.predict([[1e6]])[0] == np.finfo(float).max or model.predict([[1e6]])[0] > 1e308
    assert model.predict([[-1e6]])[0] == 0.0


def test_the_card_says_what_kind_of_minimum_it_is():
    X, y, _ = table(GammaRegressor, {})
    assert "the only minimum" in str(GammaRegressor().fit(X, y).card())
    assert "a local minimum" in " ".join(str(TweedieRegressor(power=3).fit(X, y).card()).split())
    assert "+ 0.5 |w|^2" in str(GammaRegressor().fit(X, y).card())


def test_with_a_penalty_there_is_no_inference():
    X, y, _ = table(GammaRegressor, {})
    with pytest.warns(UserWarning, match="shrunk by the penalty"):
        assert not GammaRegressor().fit(X, y).summary().valid


def test_t_where_the_dispersion_is_estimated():
    X, y, _ = table(GammaRegressor, {}, n=20)
    gamma = GammaRegressor(alpha=0).fit(X, y)
    auto, t, z = (gamma.summary(distribution=d) for d in ("auto", "t", "normal"))
    assert_array_equal(auto.low, t.low)
    assert (t.low < z.low).all()
    X, y, _ = table(PoissonRegressor, {}, n=20)
    counts = PoissonRegressor(alpha=0).fit(X, y)
    assert_array_equal(counts.summary().low, counts.summary(distribution="normal").low)


@pytest.mark.parametrize(
    ("model", "y", "message"),
    [
        (PoissonRegressor(), [1.0, -1.0], "needs y >= 0, got -1"),
        (GammaRegressor(), [1.0, 0.0], "needs y > 0, got 0"),
        (TweedieRegressor(power=1.5), [1.0, -2.0], "needs y >= 0, got -2"),
        (PoissonRegressor(), [0.0, 0.0], "every y is 0"),
        (TweedieRegressor(link="log"), [-1.0, -2.0], "positive mean"),
        (PoissonRegressor(alpha=-1), [1.0, 2.0], "alpha must be >= 0"),
        (PoissonRegressor(alpha=np.inf), [1.0, 2.0], "alpha must be a finite number"),
        (PoissonRegressor(solver="sag"), [1.0, 2.0], "solver"),
        (TweedieRegressor(link="logit"), [1.0, 2.0], "link"),
    ],
)
def test_refusals(model, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit([[0.0], [1.0]], y)


def test_refusals_of_offset_and_exposure():
    X, y = [[0.0], [1.0], [2.0]], [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="exposure must be > 0, got 0 in row 1"):
        PoissonRegressor().fit(X, y, exposure=[1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="one number per row"):
        PoissonRegressor().fit(X, y, offset=[1.0, 0.0])
    with pytest.raises(ValueError, match="offset must be finite"):
        PoissonRegressor().fit(X, y, offset=[1.0, 0.0, np.nan])
    with pytest.raises(ValueError, match="needs a log link"):
        TweedieRegressor().fit(X, y, exposure=[1.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="overflow"):
        PoissonRegressor(fit_intercept=False).fit(X, y, offset=[1e4, 0.0, 0.0])


def test_a_sample_of_many_rows_leads_to_the_same_minimum():
    X, y, _ = table(PoissonRegressor, {}, n=25_000)
    model = PoissonRegressor(alpha=0).fit(X, y)
    assert "sample of the rows" in " ".join(str(model.card()).split())
    theirs = statsmodels_glm(PoissonRegressor, {}, X, y)
    assert_allclose(np.append(model.intercept_, model.coef_), theirs.params, rtol=1e-9)
    assert_allclose(model.standard_errors_, theirs.bse, rtol=1e-9)


@pytest.mark.parametrize(
    ("cls", "params"), [(PoissonRegressor, {}), (TweedieRegressor, {"power": 3})]
)
def test_products_lead_where_the_curvature_leads(cls, params, monkeypatch):
    """Conjugate gradients, used for many columns, against the solved curvature."""
    X, y, w = table(cls, params)
    plain = cls(alpha=0.05, tol=1e-7, **params).fit(X, y, sample_weight=w)
    free = cls(alpha=0, **params).fit(X, y)
    monkeypatch.setattr("pellucid.linear.glm.glm.LARGEST", 2)
    wide = cls(alpha=0.05, tol=1e-7, **params).fit(X, y, sample_weight=w)  # 3: no squaring
    assert_allclose(wide.coef_, plain.coef_, rtol=1e-7)
    assert_allclose(wide.deviance_, plain.deviance_, rtol=1e-9)
    assert "conjugate gradients" in " ".join(str(wide.card()).split())
    wide = cls(alpha=0, **params).fit(csr_matrix(X), y)
    assert_allclose(wide.coef_, free.coef_, rtol=1e-6)
    with pytest.warns(UserWarning, match="too many columns"):
        assert not wide.summary().valid


def test_sparse_counts_of_many_columns():
    """4,000 columns: the same minimum as scikit-learn's."""
    rng = np.random.default_rng(0)
    X = csr_matrix((rng.random((300, 4000)) < 0.01).astype(float))
    y = rng.poisson(np.exp(0.3 * X[:, :200].sum(axis=1).A1))
    ours = PoissonRegressor(alpha=0.01).fit(X, y)
    theirs = sklearn.linear_model.PoissonRegressor(alpha=0.01, tol=1e-8, max_iter=10_000).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
    slope = X.T @ (ours.predict(X) - y) / 300 + 0.01 * ours.coef_
    assert_allclose(slope, 0, atol=1e-7)


@pytest.mark.parametrize(
    ("cls", "bad"), [(PoissonRegressor, -1.0), (GammaRegressor, 0.0), (GammaRegressor, -2.0)]
)
def test_targets_out_of_range_are_refused_when_scored(cls, bad):
    """D^2 of an impossible target is no number."""
    X = np.linspace(-1, 1, 20)[:, None]
    y = np.exp(X[:, 0]).round(3)
    model = cls(alpha=0).fit(X, y)
    y[3] = bad
    with pytest.raises(ValueError, match="y"):
        model.score(X, y)
