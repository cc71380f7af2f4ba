"""Answers of the linear models do not depend on how many rows are worked on at once."""

import numpy as np
import pytest
from small_blocks import CLASS, NUMBER, X, same_in_blocks_of_one

from pellucid import BayesianLogisticRegression, LinearRegression, RidgeClassifierCV, RidgeCV


def bayes(method, y):
    how = {"method": method, "n_draws": 20, "n_burn": 50, "random_state": 0}
    return lambda: BayesianLogisticRegression(**how).fit(X, y).predict_proba(X)


CASES = {
    "two classes": ("linear.bayes.bayesian_logistic.CELLS", bayes("metropolis", CLASS > 0)),
    "classes": ("linear.bayes.bayesian_logistic.CELLS", bayes("laplace", CLASS)),
    "jackknife": (
        "linear.least_squares.jackknife.CELLS",
        lambda: LinearRegression().fit(X, NUMBER).jackknife_interval(X[:7], X, NUMBER),
    ),
    "ridge": (
        "linear.ridge.ridge_cv.CELLS",
        lambda: [RidgeCV(np.logspace(-2, 2, 5), scoring="r2").fit(X, NUMBER).best_score_],
    ),
    "ridge classifier": (
        "linear.ridge.ridge_classifier_cv.CELLS",
        lambda: [RidgeClassifierCV(scoring="accuracy").fit(X, CLASS).best_score_],
    ),
}


@pytest.mark.filterwarnings("ignore::UserWarning")  # chains this short say so
@pytest.mark.parametrize("case", CASES)
def test_blocks_of_one(monkeypatch, case):
    same_in_blocks_of_one(monkeypatch, *CASES[case])
