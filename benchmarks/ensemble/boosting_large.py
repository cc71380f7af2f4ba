"""Boosted classification of a million rows; see ``boosting`` for the settings and for catboost."""

from benchmarks.ensemble.boosting import CLASSIFIERS, race

CASES = [race("Classifier", 1_000_000, CLASSIFIERS)]
