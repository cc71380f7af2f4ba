"""No interval of a score has width 0 where the score is not known exactly."""

import numpy as np
import pytest

from pellucid.evaluation import (
    classification_metrics,
    compare,
    cv_summary,
    metric_interval,
    multilabel_metrics,
    proportion_interval,
    ranking_metrics,
    regression_metrics,
)
from pellucid.evaluation.intervals.intervals import SYMMETRIC, Interval, with_room
from pellucid.linear import LinearRegression, Ridge

Y = np.r_[np.ones(4), np.zeros(96)].astype(int)
PERFECT = Y + np.linspace(0, 0.5, 100)  # ranks the four positives first
WILSON = proportion_interval(4, 4).low


@pytest.mark.parametrize("metric", ["average_precision", "pr_area", "roc_auc"])
def test_a_perfect_ranking_of_four_positives(metric):
    found = metric_interval(metric, Y, PERFECT)
    assert found.estimate == 1
    assert found.low == pytest.approx(WILSON)
    assert found.high == 1


@pytest.mark.parametrize("metric", ["f1", "mcc", "kappa", "balanced_accuracy"])
def test_perfect_labels(metric):
    found = metric_interval(metric, Y, Y)
    assert found.low == pytest.approx(2 * WILSON - 1 if metric in SYMMETRIC else WILSON)
    worst = metric_interval("balanced_accuracy", Y, 1 - Y)
    assert worst.low == 0
    assert worst.high == pytest.approx(1 - WILSON)


def test_every_score_of_a_table_has_a_width():
    labels = np.repeat([0, 1, 2], 5)
    two = np.repeat([0, 1], 30)
    tables = [
        classification_metrics(labels, labels),
        classification_metrics(two, two, 0.1 + 0.8 * two),
    ]
    tables.append(multilabel_metrics(np.eye(3)[labels], np.eye(3)[labels]))
    relevance, groups = np.tile([2.0, 1.0, 0.0], 6), np.repeat(np.arange(6), 3)
    tables.append(ranking_metrics(relevance, relevance, groups))
    for table in tables:
        for name, found in table.items():
            assert found.high > found.low or name == "dcg", name


def test_a_score_inside_keeps_its_interval():
    found = Interval(0.5, 0.5, 0.5, 0.0, "bca", 100)
    assert with_room("f1", found, 4) == found
    wide = Interval(1.0, 0.9, 1.0, 0.1, "bca", 100)
    assert with_room("f1", wide, 4) == wide
    loss = Interval(0.0, 0.0, 0.0, 0.0, "bca", 100)
    assert with_room("rmse", loss, 4) == loss
    assert with_room("f1_macro", Interval(1.0, 1.0, 1.0, 0.0, "bca", 9), 4).method == "wilson"


@pytest.mark.parametrize("metric", ["rmse", "mae", "r2"])
def test_a_perfect_fit_says_what_it_leaves_open(metric):
    """Twenty rows without error bound how many others may have one, not how large it is."""
    y = np.linspace(0, 1, 20)
    found = metric_interval(metric, y, y)
    assert found.low == found.high
    share = 1 - 0.025 ** (1 / 20)
    assert f"up to {100 * share:.2g} % of others may" in str(found)
    (note,) = regression_metrics(y, y).notes
    assert "no certainty: up to 17 % of others may" in note
    assert "certainty" not in str(metric_interval(metric, y, y + np.sin(40 * y)))
    few = regression_metrics(y, y, confidence=0.5).notes[0]
    assert f"up to {100 * (1 - 0.25 ** (1 / 20)):.2g} %" in few


def test_equal_folds_are_no_proof():
    assert "not 0" in str(cv_summary([1.0, 1.0, 1.0]))
    assert "not 0" not in str(cv_summary([1.0, 0.9, 1.0]))


def test_the_level_of_the_corrected_test_is_said():
    """With 10 folds it rejects a true null about 1 time in 100 at 0.05 (CALIBRATION.md)."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    models = {"ols": LinearRegression(), "ridge": Ridge()}
    found = compare(models, X, X.sum(axis=1), metric="rmse")
    assert "on 10 folds is cautious" in str(found)
    assert "too often" in compare(models, X, X.sum(axis=1), metric="rmse", test="paired_t").caution
    assert found._replace(scores=np.zeros((2, 30))).caution == ""


def test_short_intervals_say_so():
    assert "too short for few rows" in str(proportion_interval(45, 50, method="normal"))
    assert "too short" not in str(proportion_interval(45, 50))
    rng = np.random.default_rng(0)
    skewed, even = rng.exponential(size=300) ** 2, rng.uniform(-1, 1, size=300)
    (note,) = regression_metrics(skewed, np.zeros(300)).notes
    assert "tend to be too short" in note
    assert regression_metrics(even, np.zeros(300)).notes == ()
