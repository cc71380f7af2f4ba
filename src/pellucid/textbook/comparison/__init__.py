"""Comparison: which model is better, and what it relies on.

Start with ``corrected_t_test``; then ``five_by_two_test``, ``mcnemar_test``, ``cochran_q_test``,
``friedman_test``, ``wilcoxon_test``, ``permutation_test``, ``adjust_p_values``,
``bayesian_comparison``. Without further data:
``information_criteria``. What a model relies on: ``permutation_importance``,
``accumulated_effects``; the Shapley values of a tree are in the chapter ``trees``.
"""
