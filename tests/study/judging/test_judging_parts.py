"""The small parts of a judgement: thresholds, scales, spreads, limits and labels."""

import json
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from pellucid.study.judging import (
    calibration,
    conformal,
    decision_rule,
    final_score,
    gain,
    jackknife,
    measure,
    threshold_choice,
    yardstick,
)
from pellucid.study.judging.jackknife import Spread

rng = np.random.default_rng(6)


@pytest.mark.parametrize("place", [0, 1])
def test_the_threshold_is_where_both_answers_cost_the_same(place):
    """Also with costs on the diagonal, and with a wrong answer of either kind dearer."""
    for L in ([[0.0, 1.0], [4.0, 0.0]], [[0.5, 5.0], [2.0, 0.1]], [[0.0, 3.0], [1.0, 0.0]]):
        p = threshold_choice.cost_threshold(L, place)
        P = np.array([[p, 1 - p]]) if place == 0 else np.array([[1 - p, p]])
        cost = (P @ np.array(L)).ravel()
        assert cost[0] == pytest.approx(cost[1])
    assert threshold_choice.cost_threshold(np.zeros((2, 2)), place) == 0.5
    L = decision_rule.threshold_costs(0.3, place)
    assert threshold_choice.cost_threshold(L, place) == pytest.approx(0.3)


def test_least_cost_asks_for_the_smallest_expected_cost():
    P, labels = np.array([[0.8, 0.2], [0.95, 0.05]]), np.array(["no", "yes"])
    assert decision_rule.least_cost(P, labels, [[0, 1], [9, 0]]).tolist() == ["yes", "no"]


def test_labels_are_what_json_can_hold():
    for value in (np.int64(3), np.float64(0.5), np.str_("a"), np.bool_(True), None, "a", 2, 1.5):
        told = final_score._label(value)
        assert type(told) in (int, float, str, bool, type(None))
        assert told == value
    assert final_score._label(np.array([1, 2])) == [1, 2]
    json.dumps(final_score._label(np.array([1.5])))
    assert final_score._label(complex(1, 2)) == "(1+2j)"


def test_scales_lead_there_and_back_and_stay_inside():
    for bounds, inside in (((0, 1), 0.3), ((-1, 1), 0.3), ((0, np.inf), 4.0), ((-np.inf, 1), -3.0)):
        there, back = jackknife.scale_of(bounds)
        assert back(there(inside)) == pytest.approx(inside)
        assert there(inside + 0.1) > there(inside)
        assert bounds[0] <= back(-30.0) < back(30.0) <= bounds[1]
    there, back = jackknife.scale_of((-np.inf, np.inf))
    assert back(there(-7.5)) == -7.5


def test_a_spread_is_students():
    found = Spread(1.0, 0.5, 7.0)
    half = stats.t.ppf(0.95, 7) * 0.5
    assert_allclose(found.limits(0.9), (1 - half, 1 + half))
    assert found.p_value() == pytest.approx(2 * stats.t.sf(2.0, 7))
    assert Spread(0.0, 0.0, 3.0).p_value() == 1.0
    assert Spread(0.1, 0.0, 3.0).p_value() == 0.0


def test_one_block_says_nothing():
    for of in (jackknife.jackknife, jackknife.bootstrap):
        found = of(lambda rows: 2.0, np.zeros(5, int))
        assert (found.estimate, found.error, found.freedom) == (2.0, math.inf, 1.0)
    assert jackknife.scaled_interval(lambda rows: 2.0, np.zeros(5, int), (0.0, np.inf)) is None
    assert jackknife.scaled_interval(lambda rows: 2.0, np.arange(5), (0.0, np.inf)) is None
    assert jackknife.scaled_interval(lambda rows: 0.0, np.arange(5), (0.0, np.inf)) is None


def test_blocks_are_whole_units_and_stretches():
    units = np.repeat(np.arange(300), 2)
    blocks = jackknife.make_blocks(600, units)
    assert len(np.unique(blocks)) == jackknife.MOST_BLOCKS
    assert_array_equal(blocks[::2], blocks[1::2])
    ordered = jackknife.make_blocks(1000, ordered=True)
    assert (np.diff(ordered) >= 0).all()
    assert len(np.unique(ordered)) == int(0.41 * 1000 ** (2 / 3))
    assert len(np.unique(jackknife.make_blocks(3, ordered=True))) == 2


@pytest.mark.parametrize("m", [1, 5, 60])
def test_an_unseen_kind_may_have_this_share(m):
    """With that share, m rows without one have the chance 0.025."""
    assert (1 - jackknife.unseen_share(m)) ** m == pytest.approx(0.025)
    assert jackknife.unseen_share(0) == jackknife.unseen_share(1)


def test_conformal_sets_keep_the_likeliest_label_and_the_limit():
    P = np.array([[0.5, 0.3, 0.2], [0.4, 0.35, 0.25]])
    assert conformal.label_sets(P, 0.7).tolist() == [[True, True, False], [True, True, False]]
    assert conformal.label_sets(P, 0.0).tolist() == [[True, False, False], [True, False, False]]
    assert conformal.label_sets(P, 0.75)[1].all()
    conformal.enough(9, 0.9)
    with pytest.raises(ValueError, match="at least 9"):
        conformal.enough(8, 0.9)


def test_pairs_and_rows_needed():
    a, b = np.array([1.0] * 12 + [0.0] * 8), np.array([1.0] * 5 + [0.0] * 15)
    found = gain.paired_shares(a, b)
    assert found.estimate == pytest.approx((8 - 1) / 22)
    assert gain.paired_shares(b, a).estimate == pytest.approx(-found.estimate)
    assert gain.times_needed(Spread(0.0, 1.0, 9.0), 0.0) == math.inf
    more = gain.times_needed(found, 0.1)
    half = found.error / math.sqrt(more) * stats.norm.ppf(0.975)
    assert half == pytest.approx(found.estimate, rel=1e-4)


def test_perfect_folds_still_leave_room():
    """No row went wrong in n: the interval of an accuracy ends at 1 and begins below it."""
    found = measure.fold_interval(np.ones(5), 0.25, "accuracy", 40)
    assert found.high == 1.0
    assert found.low == pytest.approx(1 - jackknife.unseen_share(40))


def test_parts_of_like_composition():
    y = rng.normal(size=20)
    parts = measure.chunks(y, None, 4)
    assert sorted(np.concatenate(parts).tolist()) == list(range(20))
    assert [len(part) for part in parts] == [5] * 4
    groups = np.arange(20) // 3
    parts = measure.chunks(y, groups, 3)
    sides = [set(groups[part]) for part in parts]
    assert sum(map(len, sides)) == len(set().union(*sides)) == 7


def test_trust_one_is_the_model_and_none_is_the_shares():
    P, share = rng.dirichlet(np.ones(3), 50), np.array([0.5, 0.3, 0.2])
    assert_allclose(calibration.tempered(P, share, 1.0, 1e-9), P)
    assert_allclose(calibration.tempered(P, share, 0.0, 1e-9), np.tile(share, (50, 1)))
    codes = np.array([rng.choice(3, p=p) for p in np.repeat(P, 40, axis=0)])
    beta = calibration.find_beta(np.repeat(P, 40, axis=0), codes, share, 1e-9)
    assert 0.9 < beta < 1.1


def test_commonest_class_of_a_group():
    y, groups = np.array(["a", "b", "b", "c"]), np.array([0, 1, 1, 2])
    found = yardstick._group_values(y, groups, np.array([0, 1, 2, 3]), classes=True)
    assert found.tolist() == ["a", "b", "c", "b"]
    assert yardstick._before(np.array([5.0, 6.0, 7.0, 8.0]), np.arange(4), 2).tolist() == [
        5,
        5,
        5,
        6,
    ]
