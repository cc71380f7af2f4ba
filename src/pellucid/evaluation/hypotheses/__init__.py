"""Tests of whether one model is better than another.

Read ``comparison.py`` first: several models on the same folds. ``t_tests.py``, ``five_by_two.py``,
``paired_labels.py`` and ``rank_tests.py`` hold one kind of test each, ``multiple.py`` adjusts
p-values, ``posterior_difference.py`` is the Bayesian answer, ``significance.py`` the shared record.
"""
