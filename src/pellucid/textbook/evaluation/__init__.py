"""Evaluation: how good a model is, and how sure that number is.

Start with ``cross_validation``; then ``leave_one_out``, ``bootstrap_632``,
``nested_cross_validation``, ``one_standard_error``. Intervals: ``proportion_interval``,
``bca_interval``. Two classes: ``confusion_rates``, ``roc_curve``, ``delong``. Probabilities:
``reliability``, ``platt_scaling``, ``isotonic_regression``, ``temperature_scaling``. Coverage:
``split_conformal``, ``jackknife_plus``, ``conformal_sets``. More rows:
``learning_curve``. Which of two models is better is the chapter ``comparison``; bias and variance
are in ``theory``.
"""
