"""Guarantees: catalogue numbers, enumeration, and the same answers both ways round."""

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid.maths
from pellucid.core.runtime.threads import limit_threads
from pellucid.evaluation import (
    finite_class_bound,
    finite_class_size,
    growth_function,
    hoeffding,
    margin_bound,
    rademacher_bound,
    rademacher_complexity,
    select_by_bound,
    validation_bound,
    validation_size,
    vc_bound,
)
from pellucid.evaluation.guarantees.risk_bounds import log_growth

rng = np.random.default_rng(0)
THRESHOLDS = [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]


def test_example_12():
    assert_allclose(validation_bound(0.1, 100).gap, 0.1223873415, atol=5e-11)
    assert_allclose(validation_bound(0.1, 100, n_models=10).gap, 0.1627623631, atol=5e-11)
    assert_allclose(validation_bound(0.1, 1000, n_models=1000).gap, 0.0703686278, atol=5e-11)
    assert validation_size(0.05, n_models=10) == 1060
    consistent = finite_class_bound(0.0, 100, 1000, consistent=True)
    assert_allclose(consistent.value, 0.0990348755, atol=5e-11)
    assert_allclose(finite_class_bound(0.2, 100, 1000).gap, 0.2225251396, atol=5e-11)
    assert finite_class_size(0.1, 1000, consistent=True) == 100
    assert finite_class_size(0.1, 1000) == 496
    assert_allclose(rademacher_bound(0.0, 0.0, 1000).gap, 0.3744660897, atol=5e-11)
    assert rademacher_bound(0.0, 0.0, 100).vacuous
    complexity = rademacher_complexity(THRESHOLDS)
    assert complexity.exact
    assert_allclose(complexity.value, 1 / 3)
    assert growth_function(5, 2) == 16
    assert_allclose(vc_bound(0.0, 10_000, 3).gap, 0.1607500665, atol=5e-11)
    assert_allclose(margin_bound(0.1, 1000, margin=1.0).value, 0.3251950605, atol=5e-11)


def test_hoeffding_is_the_engine():
    assert hoeffding is pellucid.maths.hoeffding
    expected = hoeffding(n=70, delta=0.1 / 7, two_sided=False).eps
    assert_allclose(validation_bound(0.2, 70, n_models=7, delta=0.1).gap, expected)


@pytest.mark.parametrize("n_models", [1, 3, 1000])
@pytest.mark.parametrize("epsilon", [0.3, 0.05, 0.01])
def test_sizes_invert_the_bounds(epsilon, n_models):
    n = validation_size(epsilon, n_models=n_models)
    assert validation_bound(0.0, n, n_models=n_models).gap <= epsilon * (1 + 1e-9)
    assert validation_bound(0.0, n - 1, n_models=n_models).gap > epsilon
    n = finite_class_size(epsilon, 50, consistent=True)
    assert finite_class_bound(0.0, n, 50, consistent=True).gap <= epsilon * (1 + 1e-9)
    assert finite_class_bound(0.0, n - 1, 50, consistent=True).gap > epsilon


def test_huge_classes():
    """|F| = 2^(10^5) is a fair class: no overflow."""
    bound = finite_class_bound(0.1, 10**6, 2**100_000)
    assert_allclose(bound.gap, math.sqrt((100_000 * math.log(2) + math.log(20)) / 2e6))


def test_growth_function():
    for n, d in itertools.product(range(8), range(9)):
        assert growth_function(n, d) == sum(math.comb(n, i) for i in range(d + 1))
        assert_allclose(log_growth(n, d), math.log(growth_function(n, d)), atol=1e-12)
    assert_allclose(log_growth(2000, 40), math.log(growth_function(2000, 40)))
    assert growth_function(30, 30) == 2**30


def test_growth_function_counts_labelings():
    """Intervals on a line have VC dimension 2 and reach the bound at every n."""
    for n in range(1, 8):
        labelings = {
            tuple(1 if a <= i < b else 0 for i in range(n))
            for a in range(n + 1)
            for b in range(a, n + 1)
        }
        assert len(labelings) == growth_function(n, 2)


def brute_force(F):
    n = F.shape[1]
    return np.mean([(F @ np.array(s)).max() / n for s in itertools.product([-1, 1], repeat=n)])


@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 5), (4, 3), (30, 8), (5, 11)])
def test_rademacher_by_enumeration(m, n):
    F = rng.normal(size=(m, n))
    assert_allclose(rademacher_complexity(F).value, brute_force(F), atol=1e-12)


def test_rademacher_laws():
    F = rng.normal(size=(6, 10))
    value = rademacher_complexity(F).value
    assert_allclose(rademacher_complexity(F + rng.normal(size=10)).value, value)  # shifts
    assert_allclose(rademacher_complexity(-3 * F).value, 3 * value)
    hull = np.vstack([F, 0.3 * F[0] + 0.7 * F[1]])
    assert_allclose(rademacher_complexity(hull).value, value)  # convex hulls
    signs = np.array(list(itertools.product([-1.0, 1.0], repeat=6)))
    assert_allclose(rademacher_complexity(signs).value, 1.0)  # shatters all
    zero_one = (1 - signs * np.array([1, -1, 1, 1, -1, 1])) / 2
    assert_allclose(rademacher_complexity(zero_one).value, 0.5)  # the loss class: half
    massart = math.sqrt(2 * math.log(6) / 10) * np.sqrt((F**2).mean(axis=1)).max()
    assert value <= massart


def test_rademacher_monte_carlo():
    F = rng.normal(size=(20, 12))
    exact = rademacher_complexity(F).value
    drawn = rademacher_complexity(F, n_draws=4000)
    assert not drawn.exact
    assert abs(drawn.value - exact) < 4.5 * drawn.standard_error
    assert drawn.standard_error < 0.01
    wide = rng.normal(size=(20, 40))
    first = rademacher_complexity(wide)
    assert not first.exact
    with limit_threads(1):
        assert rademacher_complexity(wide) == first
    assert rademacher_complexity(wide, random_state=1) != first


def test_select_by_bound():
    bounds = {"a": vc_bound(0.2, 5000, 2), "b": vc_bound(0.1, 5000, 2), "c": 0.9}
    choice = select_by_bound(bounds)
    assert choice.name == "b"
    assert choice.value == bounds["b"].value
    assert "loose; cross-validation usually selects better" in choice.sentence
    with pytest.raises(ValueError, match="at least one"):
        select_by_bound({})


def test_vacuous_and_words():
    bound = validation_bound(0.9, 10)
    assert bound.vacuous
    assert "vacuous" in str(bound)
    tight = validation_bound(0.1, 1000)
    assert not tight.vacuous
    assert "at most 0.139" in str(tight)
    assert tight.to_dict()["vacuous"] is False
    assert_allclose(float(tight), tight.value)


def test_refusals():
    for call, word in [
        (lambda: validation_bound(1.5, 10), "loss must lie in"),
        (lambda: validation_bound(-0.1, 10), "loss must"),
        (lambda: validation_bound(0.1, 0), "n_validation must"),
        (lambda: validation_bound(0.1, 10, delta=0), "delta must"),
        (lambda: validation_size(0.0), "epsilon must"),
        (lambda: finite_class_bound(0.1, 10, 5, consistent=True), "train_loss 0"),
        (lambda: rademacher_complexity([1.0, 2.0]), "functions, points"),
        (lambda: rademacher_complexity([[np.nan]]), "finite"),
        (lambda: rademacher_bound(0.1, -1.0, 10), "complexity must"),
        (lambda: growth_function(3, -1), "vc_dimension must"),
        (lambda: margin_bound(0.1, 10, margin=0.0), "margin must"),
    ]:
        with pytest.raises(ValueError, match=word):
            call()
