"""Refusals and certificates of the kernel machines, each at its edge."""

import numpy as np
import pytest
from small_blocks import CLASS, NUMBER, X

from pellucid import GaussianProcessClassifier, GaussianProcessRegressor
from pellucid.kernel import hinge_risk
from pellucid.kernel.maximum_margin.interior_point import Point, distance_to_go
from pellucid.kernel.svm.margins import read_margins
from pellucid.kernel.svm.pairs import class_pairs

BAD = [
    {"n_restarts_optimizer": -1},
    {"max_iter_predict": 0},
    {"warm_start": "yes"},
    {"copy_X_train": 2},
    {"multi_class": "all"},
    {"optimizer": "newton"},
    {"kernel": "rbf"},
]


@pytest.mark.parametrize("bad", BAD, ids=str)
def test_a_gaussian_process_names_what_it_refuses(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=name):
        GaussianProcessClassifier(**bad).fit(X, CLASS > 0)
    if name in ("n_restarts_optimizer", "optimizer", "kernel"):
        with pytest.raises(ValueError, match=name):
            GaussianProcessRegressor(**bad).fit(X, NUMBER)


@pytest.mark.parametrize(
    ("w", "rows", "y"),
    [
        ([1.0, 2.0], [[1.0, 2.0]], [1, -1]),
        ([1.0], [[1.0, 2.0]], [1]),
        ([1.0, 2.0], np.zeros((0, 2)), []),
    ],
)
def test_hinge_risk_refuses_what_does_not_fit(w, rows, y):
    with pytest.raises(ValueError, match="does not fit"):
        hinge_risk(w, 0.0, rows, y, 0.1)


@pytest.mark.parametrize(
    ("gap", "pres", "dres", "done"),
    [
        (1e-9, 1e-9, 1e-9, True),
        (1e-7, 1e-9, 1e-9, False),
        (1e-9, 1e-7, 1e-9, False),
        (1e-9, 1e-9, 1e-7, False),
        (0.0, 1e-7, 0.0, False),
        (1e-7, 0.0, 0.0, False),
    ],
)
def test_an_interior_point_is_done_when_gap_and_residuals_are_small(gap, pres, dres, done):
    none = np.zeros(0)
    point = Point(none, none, none, none, 1.0, 1.0, gap, pres, dres)
    assert (distance_to_go(point, 1e-8) <= 1e-8) == done


@pytest.mark.parametrize(
    ("a", "f", "violation"),
    [
        ([1.0, 1.0], [1.0, -1.0], 0.0),
        ([1.0, 0.5], [1.0, -1.0], 0.5),  # a'y is not 0
        ([1.0, 1.0], [1.5, -1.0], 0.5),  # a row off the margin has a free multiplier
        ([1.0, 0.5], [3.0, -1.0], 2.0),
    ],
)
def test_the_violation_is_the_larger_of_the_two(a, f, violation):
    y, C = np.array([1.0, -1.0]), np.full(2, 10.0)
    found = read_margins(np.array(a), y, np.array(f), 1.0, C, at_bound=1e-9, slop=1e-9)
    assert found.kkt_violation == pytest.approx(violation)


@pytest.mark.parametrize("apart", [False, True])
def test_two_classes_are_one_pair_of_all_rows(apart):
    codes = np.array([1, 0, 1, 1, 0])
    (pair,) = class_pairs(codes, 2, apart=apart)
    assert sorted(pair.rows) == [0, 1, 2, 3, 4]
    assert np.array_equal(pair.sign, np.where(codes[pair.rows] == 1, 1.0, -1.0))
    assert np.array_equal(pair.rows, np.arange(5)) != apart  # as they lie, if they may
