"""Splits of the rows into training, validation and test.

Read ``holdout.py`` (one split) or ``folds.py`` (many) first. ``guard.py`` counts the uses of a
test set, ``bootstrap_split.py`` makes resamples into folds, ``advice.py`` recommends a split.
"""
