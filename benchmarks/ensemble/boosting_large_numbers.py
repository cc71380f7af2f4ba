"""Boosted regression on a million rows; see ``boosting`` for the settings and for catboost."""

from benchmarks.ensemble.boosting import REGRESSORS, race

CASES = [race("Regressor", 1_000_000, REGRESSORS)]
