"""Every number and word that a function of inference takes is checked, and named if bad."""

import numpy as np
import pytest
from bad_values import tried

from pellucid import inference
from pellucid.inference import Normal

rng = np.random.default_rng(0)
VALUES = rng.normal(size=30)
DRAWS = rng.normal(size=(2, 40))


def bell(x):
    return float(-0.5 * np.sum(np.square(x)))


CALLS = {
    "bayes_decision": {"proba": [[0.3, 0.7]], "tie": "first"},
    "cost_threshold": {"false_positive": 1.0, "false_negative": 3.0},
    "cramer_rao": {"distribution": Normal(0.0, 1.0), "parameter": "mean", "n": 4},
    "effective_sample_size": {"draws": DRAWS, "kind": "mean"},
    "fisher_information": {"distribution": Normal(0.0, 1.0), "parameter": "mean", "n": 4},
    "fit_distribution": {"x": VALUES, "family": "normal", "method": "mle"},
    "hpd_interval": {"law": Normal(0.0, 1.0), "confidence": 0.9},
    "laplace_approximation": {"log_density": bell, "start": [0.5], "n_starts": 2},
    "metropolis_hastings": {
        "log_density": bell,
        "start": [0.0],
        "n_draws": 50,
        "n_burn": 10,
        "n_chains": 2,
    },
    "optimal_prediction": {"x": VALUES, "loss": "squared"},
    "predictive_check": {
        "x": VALUES,
        "draws": rng.normal(size=(20, 1)),
        "simulate": lambda draw, rng: rng.normal(size=30),
        "statistic": "mean",
        "n_draws": 10,
    },
}
TRIED = tried(CALLS)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("function", CALLS)
def test_the_good_call_is_good(function):
    getattr(inference, function)(**CALLS[function])


@pytest.mark.parametrize(("function", "name", "value"), TRIED)
def test_a_bad_value_is_refused_by_name(function, name, value):
    with pytest.raises(ValueError, match=rf"\b{name}\b|{value}") as caught:
        getattr(inference, function)(**{**CALLS[function], name: value})
    assert "\n" not in str(caught.value)
