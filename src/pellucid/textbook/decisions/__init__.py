"""Decisions: what to do when the model is known. Read ``value_iteration`` first.

In teaching order: ``best_constant`` (which number a loss asks for), ``bayes_classifier`` and
``bayes_error`` (the least error there is), ``policy_evaluation``, ``value_iteration``,
``policy_iteration``, ``modified_policy_iteration``, ``finite_horizon`` and ``linear_programming``
(many decisions in a row).
"""
