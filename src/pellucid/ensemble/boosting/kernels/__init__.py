"""Compiled sweeps of boosting.

Read ``leafwise.py`` first: it grows one tree, best leaf first. ``histograms.py`` and
``light_leaves.py`` find splits for it, ``derivatives.py`` and ``scores.py`` turn losses into
gradients and trees into scores; ``stumps.py`` serves AdaBoost.
"""
