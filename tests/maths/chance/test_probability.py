"""Bayes' rule, unions, limit theorems, Bernstein bounds: catalogue example 10 and the laws."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from pellucid.inference import Normal
from pellucid.maths import (
    bayes_rule,
    bernstein,
    empirical_bernstein,
    hoeffding,
    inclusion_exclusion,
    limit_theorems,
)
from pellucid.maths.chance.limits import kolmogorov

g = np.random.default_rng(0)


def test_example_10_bayes():
    for prior in (0.01, [0.01, 0.99]):
        found = bayes_rule(prior, [0.99, 0.05], labels=["ill", "well"])
        assert_allclose(found.posterior[0], 1 / 6, rtol=1e-14)
        assert_allclose(found.evidence, 0.01 * 0.99 + 0.99 * 0.05)
        assert_allclose(found.support, np.array([0.99, 0.05]) / found.evidence)
        assert_allclose(found.odds, [0.2, 5.0])
        assert found.best == 1
    assert "well 0.833333" in str(found)
    assert "\n" not in repr(found)
    assert_allclose(float(hoeffding(n=100, eps=0.1)), 0.2706705665, atol=1e-10)
    assert_allclose(float(hoeffding(n=100, eps=0.1, two_sided=False)), 0.1353352832, atol=1e-10)


def test_columns_are_successive_updates():
    prior, L = g.dirichlet(np.ones(4)), g.random((4, 5))
    once, step = bayes_rule(prior, L), prior
    for column in L.T:
        step = bayes_rule(step, column).posterior
    assert_allclose(once.posterior, step)
    assert_allclose(once.evidence, prior @ L.prod(axis=1))
    many = bayes_rule([0.5, 0.5], np.repeat([[1e-3], [2e-3]], 500, axis=1))  # 1e-1500 underflows
    assert many.evidence == 0.0
    assert_allclose(many.log_evidence, 500 * np.log(2e-3) + np.log(0.5))
    assert many.best == 1
    certain = bayes_rule([1.0, 0.0], [0.3, 0.9])
    assert certain.odds.tolist() == [np.inf, 0.0]


def test_bayes_refusals():
    with pytest.raises(ValueError, match="probability 0 under every"):
        bayes_rule([1.0, 0.0], [0.0, 1.0])
    with pytest.raises(ValueError, match="sum to 1"):
        bayes_rule([0.5, 0.6], [1, 1])
    with pytest.raises(ValueError, match="one row per hypothesis"):
        bayes_rule([0.5, 0.5], [1, 1, 1])
    with pytest.raises(ValueError, match=">= 0"):
        bayes_rule([0.5, 0.5], [1, -1])


def intersections(E, w, up_to):
    m = E.shape[1]
    return {
        s: float(w @ E[:, s].all(axis=1))
        for r in range(1, up_to + 1)
        for s in combinations(range(m), r)
    }


def test_union_by_brute_force():
    """The matrix, all intersections and enumeration agree; fewer orders give valid bounds."""
    for m in (1, 2, 3, 5):
        E, w = g.random((40, m)) < 0.3, g.dirichlet(np.ones(40))
        truth = float(w @ E.any(axis=1))
        matrix = inclusion_exclusion(E, weights=7 * w)
        assert_allclose(matrix.exact, truth)
        p = intersections(E, w, m)
        full = inclusion_exclusion(p)
        assert_allclose([full.exact, full.lower, full.upper], truth, atol=1e-12)
        assert_allclose(full.sums, matrix.sums, atol=1e-12)
        for order in range(1, m):
            some = inclusion_exclusion(intersections(E, w, order))
            assert some.exact is None
            assert some.lower - 1e-12 <= truth <= some.upper + 1e-12
            assert len(some.sums) == order
    one = inclusion_exclusion({(0,): 0.5, (1,): 0.4, (2,): 0.3})
    assert (one.lower, one.upper) == (0.0, 1.0)  # the union bound, clipped
    many = inclusion_exclusion(np.ones((2, 40), dtype=bool))  # no cancellation, no 2^40
    assert many.exact == 1.0
    assert_allclose(many.sums[19], comb(40, 20))


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ({(0,): 0.2, (1,): 0.3, (0, 1): 0.25}, "only 0.2"),
        ({(0,): 0.9, (1,): 0.9, (0, 1): 0.5}, "no distribution"),
        ({(0,): 0.5, (1,): 0.5, (2,): 0.5, (0, 1): 0.0, (0, 2): 0.0, (1, 2): 0.0}, "no distrib"),
        ({(0, 1): 0.2}, "single event"),
        ({(0,): 1.2}, "between 0 and 1"),
        ({}, "keys"),
    ],
)
def test_incoherent_unions(p, message):
    with pytest.raises(ValueError, match=message):
        inclusion_exclusion(p)


def test_union_doors():
    with pytest.raises(ValueError, match="True and False"):
        inclusion_exclusion([[0.5]])
    with pytest.raises(ValueError, match="weights"):
        inclusion_exclusion({(0,): 0.5}, weights=[1.0])
    with pytest.raises(ValueError, match="positive sum"):
        inclusion_exclusion([[True]], weights=[0.0])


def test_kolmogorov_oracle():
    z = g.normal(size=500)
    assert_allclose(kolmogorov(z), stats.kstest(z, "norm").statistic)
    ties = np.repeat([-1.0, 1.0], 50)
    assert_allclose(kolmogorov(ties), 0.5 - stats.norm.cdf(-1))


@pytest.mark.parametrize("law", [stats.uniform(), stats.bernoulli(0.3), stats.expon()])
def test_limit_theorems(law):
    found = limit_theorems(law, n=(1, 20, 300), repeats=4000, random_state=0)
    noise = 4 / np.sqrt(4000)
    assert (found.frequency <= found.chebyshev + noise).all()
    if law.support()[1] < np.inf:
        assert (found.frequency <= found.hoeffding + noise).all()
    else:
        assert found.hoeffding is None
    assert found.frequency[2] < 0.1
    assert found.distance[2] < found.distance[0]
    assert found.distance[2] < 0.05
    again = limit_theorems(law, n=(1, 20, 300), repeats=4000, random_state=0)
    assert_allclose(again.distance, found.distance, rtol=0)


def test_limits_that_do_not_apply():
    heavy = limit_theorems(stats.pareto(1.5), n=(1, 10), repeats=500, random_state=0)
    assert heavy.chebyshev is None
    assert heavy.distance is None
    assert "do not apply" in str(heavy)
    nothing = limit_theorems(stats.cauchy(), n=(1,), repeats=10)
    assert nothing.frequency is None
    assert "does not apply" in str(nothing)
    exact = limit_theorems(Normal(2.0, 3.0), n=50, repeats=20_000, eps=0.5, random_state=1)
    expected = 2 * stats.norm.sf(0.5 / (3 / np.sqrt(50)))
    assert_allclose(exact.frequency, expected, atol=4 * np.sqrt(expected / 20_000))
    assert exact.distance[0] < 2 / np.sqrt(20_000)
    with pytest.raises(ValueError, match="sample"):
        limit_theorems(type("Law", (), {"mean": 0.0, "variance": 1.0})())


def test_bernstein_solves_itself():
    for two_sided in (True, False):
        at = bernstein(variance=0.02, n=300, delta=0.05, two_sided=two_sided)
        back = bernstein(variance=0.02, n=300, eps=at.eps, two_sided=two_sided)
        assert_allclose(back.delta, 0.05)
        count = bernstein(variance=0.02, eps=at.eps, delta=0.05, two_sided=two_sided)
        assert count.n == 300
    assert bernstein(variance=0.02, n=300, delta=0.05).eps < hoeffding(n=300, delta=0.05).eps


@pytest.mark.parametrize("p", [0.02, 0.5])
def test_bernstein_covers(p):
    n, delta = 200, 0.1
    means = g.binomial(n, p, 20_000) / n
    known = bernstein(variance=p * (1 - p), n=n, delta=delta).eps
    assert (np.abs(means - p) >= known).mean() <= delta
    sample = means * (1 - means) * n / (n - 1)
    seen = [empirical_bernstein(variance=float(v), n=n, delta=delta).eps for v in sample[:2000]]
    assert (np.abs(means[:2000] - p) > seen).mean() <= delta


def test_bernstein_refusals():
    with pytest.raises(ValueError, match="two of"):
        bernstein(variance=0.1, n=10)
    with pytest.raises(ValueError, match="at most"):
        bernstein(variance=2.0, n=10, delta=0.1)
    with pytest.raises(ValueError, match="n must be"):
        empirical_bernstein(variance=0.1, n=1, delta=0.1)
