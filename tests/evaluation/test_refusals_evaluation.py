"""Every number, word and share that an evaluation function takes is checked, and named if bad."""

import inspect

import numpy as np
import pytest
from bad_values import tried

from pellucid import evaluation

rng = np.random.default_rng(0)
SCORES = rng.normal(size=(10, 3))
LABELS = np.arange(20) % 2
SAID = np.roll(LABELS, 5)
CHANCE = np.clip(0.5 + 0.3 * (LABELS - 0.5) + 0.1 * rng.normal(size=20), 0.01, 0.99)
NUMBERS = rng.normal(size=20)
RIGHT = rng.random((2, 30)) < 0.8

# One good call of each function; the parameters below are then made bad one at a time.
CALLS = {
    "adjust_p_values": {"p_values": [0.01, 0.2], "method": "holm"},
    "bayesian_comparison": {"differences": SCORES[:, 0], "test_ratio": 0.25, "rope": 0.01},
    "classification_metrics": {"y_true": LABELS, "y_pred": SAID, "beta": 1.0, "confidence": 0.9},
    "clustering_metrics": {"X": SCORES, "labels": np.arange(10) % 2, "confidence": 0.9},
    "cochran_q_test": {"correct": RIGHT.T, "alpha": 0.05},
    "conformal_quantile": {"scores": NUMBERS, "confidence": 0.8},
    "corrected_t_test": {
        "scores_a": SCORES[:, 0],
        "scores_b": SCORES[:, 1],
        "test_ratio": 0.2,
        "alternative": "less",
        "alpha": 0.05,
    },
    "cv_summary": {"scores": SCORES[:, 0], "confidence": 0.9, "test_ratio": 0.2},
    "finite_class_bound": {"train_loss": 0.1, "n": 50, "class_size": 9, "delta": 0.1},
    "finite_class_size": {"epsilon": 0.1, "class_size": 9, "delta": 0.1},
    "five_by_two_test": {"differences": SCORES[:5, :2], "statistic": "t", "alpha": 0.05},
    "friedman_test": {"scores": SCORES, "alpha": 0.05},
    "gaussian_criteria": {"rss": 3.0, "n_parameters": 2, "n_samples": 20},
    "growth_function": {"n": 9, "vc_dimension": 2},
    "hoeffding": {"n": 50, "eps": 0.1, "width": 1.0},
    "information_criteria": {"log_likelihood": -3.0, "n_parameters": 2, "n_samples": 20},
    "margin_bound": {
        "margin_errors": 0.1,
        "n": 50,
        "margin": 0.5,
        "radius": 1.0,
        "norm": 1.0,
        "delta": 0.1,
    },
    "norm_class_bound": {
        "train_loss": 0.1,
        "n": 50,
        "norm": 1.0,
        "radius": 1.0,
        "lipschitz": 1.0,
        "delta": 0.1,
    },
    "wilcoxon_test": {
        "scores_a": SCORES[:, 0],
        "scores_b": SCORES[:, 1],
        "alternative": "less",
        "alpha": 0.05,
    },
    "mcnemar_test": {
        "correct_a": RIGHT[0],
        "correct_b": RIGHT[1],
        "method": "exact",
        "alpha": 0.05,
    },
    "mean_interval": {"values": NUMBERS, "confidence": 0.9},
    "mean_test": {"values": NUMBERS, "mean": 0.0, "alternative": "less", "alpha": 0.05},
    "metric_interval": {
        "metric": "accuracy",
        "y_true": LABELS,
        "y_pred": SAID,
        "confidence": 0.9,
        "method": "wilson",
        "n_resamples": 50,
    },
    "paired_t_test": {
        "scores_a": SCORES[:, 0],
        "scores_b": SCORES[:, 1],
        "alternative": "less",
        "alpha": 0.05,
    },
    "proportion_interval": {"successes": 3, "n": 9, "confidence": 0.9, "method": "wilson"},
    "rademacher_bound": {"train_loss": 0.1, "complexity": 0.1, "n": 50, "delta": 0.1},
    "rates": {"tp": 3.0, "fn": 1.0, "fp": 2.0, "tn": 4.0, "beta": 1.0},
    "regression_metrics": {"y_true": NUMBERS, "y_pred": NUMBERS + 0.1, "confidence": 0.9},
    "reliability": {
        "y_true": LABELS,
        "probability": CHANCE,
        "n_bins": 4,
        "strategy": "uniform",
        "confidence": 0.9,
    },
    "threshold_curve": {"y_true": LABELS, "y_score": CHANCE, "beta": 1.0},
    "validation_bound": {"loss": 0.1, "n_validation": 50, "n_models": 3, "delta": 0.1},
    "validation_size": {"epsilon": 0.1, "n_models": 3, "delta": 0.1},
    "vc_bound": {"train_loss": 0.1, "n": 50, "vc_dimension": 2, "delta": 0.1},
}
CRITERIA = ("gaussian_criteria", "information_criteria")
GOOD = {  # parameters that may be effective numbers, weighted counts or below zero
    *((name, "n_parameters", 1.5) for name in CRITERIA),
    *((name, "n_samples", 1.5) for name in CRITERIA),
    ("information_criteria", "log_likelihood", -1.0),
    ("proportion_interval", "successes", 1.5),
    ("mean_test", "mean"),
}
UNNAMED = {  # text where an array of numbers may stand: NumPy refuses it in its own words
    *((name, word) for name in CRITERIA for word in ("n_parameters", "n_samples")),
    ("gaussian_criteria", "rss"),
    ("information_criteria", "log_likelihood"),
    ("hoeffding", "width"),
    ("rademacher_bound", "complexity"),
}


TRIED = tried(CALLS, GOOD)


@pytest.mark.parametrize("function", CALLS)
def test_the_good_call_is_good(function):
    getattr(evaluation, function)(**CALLS[function])
    known = inspect.signature(getattr(evaluation, function)).parameters
    assert set(CALLS[function]) <= set(known)


@pytest.mark.parametrize(("function", "name", "value"), TRIED)
def test_a_bad_value_is_refused_by_name(function, name, value):
    call = {**CALLS[function], name: value}
    said = "convert|number" if value == "many" and (function, name) in UNNAMED else name
    with pytest.raises(ValueError, match=said) as caught:
        getattr(evaluation, function)(**call)
    assert "\n" not in str(caught.value)


NAN = float("nan")
WRONG_ARRAYS = [
    ("adjust_p_values", {"p_values": [0.1, 1.5]}, "p"),
    ("adjust_p_values", {"p_values": [0.1, NAN]}, "p"),
    ("conformal_quantile", {"scores": [1.0, NAN]}, "scores"),
    ("corrected_t_test", {"scores_b": [0.1]}, "scores"),
    ("corrected_t_test", {"scores_a": [NAN] * 10}, "scores_a"),
    ("five_by_two_test", {"differences": np.zeros((4, 2))}, "5"),
    ("five_by_two_test", {"differences": np.full((5, 2), NAN)}, "finite|NaN"),
    ("friedman_test", {"scores": [[1.0, 2.0]]}, "at least"),
    ("friedman_test", {"scores": [[1.0], [2.0]]}, "at least"),
    ("friedman_test", {"scores": [[1.0, NAN], [1.0, 2.0]]}, "finite"),
    ("mean_interval", {"values": [1.0, NAN]}, "values"),
    ("paired_t_test", {"scores_a": [[0.1, 0.2]]}, "scores_a"),
    ("rademacher_complexity", {"outputs": [1.0, 2.0]}, "shape"),
    ("rademacher_complexity", {"outputs": np.zeros((0, 2))}, "shape"),
    ("rademacher_complexity", {"outputs": [[1.0, NAN]]}, "finite"),
    ("rademacher_complexity", {"outputs": [[1.0, 0.0]], "n_draws": 1}, "n_draws"),
    ("reliability", {"probability": np.full(20, 1.5)}, "probabilit"),
    ("select_by_bound", {"bounds": {}}, "at least one"),
    ("select_by_bound", {"bounds": {"a": 0.2, "b": NAN}}, "'b' is NaN"),
    ("proportion_interval", {"successes": 10}, "successes"),
    ("metric_interval", {"y_pred": SAID[:5]}, "5"),
]


@pytest.mark.parametrize(("function", "wrong", "word"), WRONG_ARRAYS)
def test_wrong_shapes_and_missing_numbers_are_refused(function, wrong, word):
    with pytest.raises(ValueError, match=word) as caught:
        getattr(evaluation, function)(**{**CALLS.get(function, {}), **wrong})
    assert "\n" not in str(caught.value)
