"""Profile-likelihood intervals: R's, the definition, units, coverage."""

from functools import partial

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose

from pellucid import GammaRegressor, NegativeBinomialRegressor, PoissonRegressor
from pellucid.linear.glm.profile import bracketed_end, hill, joint_end
from pellucid.linear.least_squares.inference import cut


def trial():
    counts = np.array([18, 17, 15, 20, 10, 20, 25, 13, 12], float)
    X = np.array([[o == 1, o == 2, t == 1, t == 2] for t in range(3) for o in range(3)], float)
    return X, counts


def test_dobson():
    """confint(glm.D93) of R's ?confint; R interpolates the profile by a spline."""
    X, y = trial()
    found = PoissonRegressor(alpha=0).fit(X, y).summary(intervals="profile", X=X, y=y)
    low = [2.6958215, -0.8577018, -0.6753696, -0.3932548, -0.3932548]
    high = [3.36655581, -0.06255840, 0.08244089, 0.39325483, 0.39325483]
    assert_allclose(found.low, low, atol=2e-5)
    assert_allclose(found.high, high, atol=2e-5)
    assert any("profile of the likelihood" in note for note in found.notes)


def table(seed=0, n=60):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, rng.poisson(np.exp(0.3 + X @ [0.8, -0.5])).astype(float)


FAMILIES = {
    PoissonRegressor: sm.families.Poisson(),
    GammaRegressor: sm.families.Gamma(sm.families.links.Log()),
}


@pytest.mark.parametrize("cls", list(FAMILIES))
def test_the_deviance_at_an_end_is_the_cut(cls):
    """statsmodels holds one coefficient at the end of its interval and fits the others."""
    X, y = table()
    y = y + 0.5 * (cls is GammaRegressor)
    model = cls(alpha=0).fit(X, y)
    found = model.summary(intervals="profile", X=X, y=y)
    kind = "t" if cls is GammaRegressor else "normal"
    width = cut(0.95, len(y) - 3, kind)
    D = sm.add_constant(X)
    for j in range(3):
        for end in (found.low[j], found.high[j]):
            others = np.delete(D, j, axis=1)
            held = sm.GLM(y, others, FAMILIES[cls], offset=end * D[:, j]).fit(tol=1e-14)
            rise = (held.deviance - model.deviance_) / model.dispersion_
            assert_allclose(rise, width**2, rtol=1e-6)
    assert (found.low < found.estimate).all()
    assert (found.high > found.estimate).all()


def test_both_ways_to_an_end_meet():
    X, y = table()
    model = PoissonRegressor(alpha=0).fit(X, y)
    ends = model.summary(intervals="profile", X=X, y=y)
    problem, theta = fixed(model, X, y)
    best = hill(problem, 1.0, theta)
    for j in (1, 2):
        c = np.eye(3)[j]
        for sign, end in ((-1.0, ends.low[j]), (1.0, ends.high[j])):
            drop = 0.5 * cut(0.95, np.inf, "normal") ** 2
            assert_allclose(
                bracketed_end(partial(hill, problem, 1.0), best, c, sign, drop), end, rtol=1e-7
            )
            assert joint_end(partial(hill, problem, 1.0), best, c, sign, drop) is not None


def fixed(model, X, y):
    from pellucid.core.loops.statistics import Rows
    from pellucid.core.runtime.threads import map_threads
    from pellucid.linear.glm.sums import Problem

    q = X.shape[1] + 1
    problem = Problem(
        Rows(X, y, np.ones(len(y))),
        map_threads,
        model._family(),
        np.zeros(q),
        np.zeros(q - 1),
        True,
        float(len(y)),
    )
    return problem, np.append(model.intercept_, model.coef_)


def test_units_and_centres_do_not_matter():
    X, y = table()
    scale, shift = np.array([1e-6, 1e6]), np.array([5.0, -1e3])
    plain = PoissonRegressor(alpha=0).fit(X, y).summary(intervals="profile", X=X, y=y)
    Z = X * scale + shift * scale
    moved = PoissonRegressor(alpha=0).fit(Z, y).summary(intervals="profile", X=Z, y=y)
    assert_allclose(moved.low[1:] * scale, plain.low[1:], rtol=1e-5)
    assert_allclose(moved.high[1:] * scale, plain.high[1:], rtol=1e-5)


def test_exposure_weights_and_no_intercept():
    X, y = table()
    e, w = np.linspace(0.5, 3, len(y)), np.arange(len(y)) % 3
    model = PoissonRegressor(alpha=0, fit_intercept=False).fit(X, y, w, exposure=e)
    found = model.summary(intervals="profile", X=X, y=y, sample_weight=w, exposure=e)
    assert found.names == ("x0", "x1")
    again = [np.repeat(part, w, axis=0) for part in (X, y, e)]
    often = PoissonRegressor(alpha=0, fit_intercept=False).fit(*again[:2], exposure=again[2])
    other = often.summary(intervals="profile", X=again[0], y=again[1], exposure=again[2])
    assert_allclose(found.low, other.low, rtol=1e-7)
    with pytest.raises(ValueError, match="must be those of the fit"):
        model.summary(intervals="profile", X=X, y=y)


def test_the_negative_binomial_holds_its_dispersion():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(200, 1))
    y = rng.poisson(np.exp(1 + 0.5 * X[:, 0]) * rng.gamma(2, 0.5, 200)).astype(float)
    model = NegativeBinomialRegressor().fit(X, y)
    found = model.summary(intervals="profile", X=X, y=y)
    family = sm.families.NegativeBinomial(alpha=model.dispersion_)
    held = sm.GLM(y, np.ones((200, 1)), family, offset=found.low[1] * X[:, 0]).fit(tol=1e-14)
    rise = held.deviance - model.deviance_
    assert_allclose(rise, cut(0.95, np.inf, "normal") ** 2, rtol=1e-6)


def test_few_counts_are_covered_where_wald_is_not_symmetric():
    """The truth lies within 95 % intervals of small tables about 95 times in 100."""
    hits = []
    for seed in range(60):
        X, y = table(seed, n=30)
        found = PoissonRegressor(alpha=0).fit(X, y).summary(intervals="profile", X=X, y=y)
        hits.append((found.low <= [0.3, 0.8, -0.5]) & (found.high >= [0.3, 0.8, -0.5]))
    assert 0.90 <= np.mean(hits) <= 0.99


def test_refusals():
    X, y = table()
    model = PoissonRegressor(alpha=0).fit(X, y)
    with pytest.raises(ValueError, match="needs the training data"):
        model.summary(intervals="profile")
    with pytest.raises(ValueError, match="are for intervals='profile'"):
        model.summary(X=X, y=y)
    with pytest.raises(ValueError, match="intervals"):
        model.summary(intervals="score")
    with pytest.warns(UserWarning, match="shrunk"):
        found = PoissonRegressor().fit(X, y).summary(intervals="profile", X=X, y=y)
    assert np.isnan(found.low).all()
