"""Ensembles: many models, one answer.

Start with ``bagging``; ``committee_theory`` says when it helps. Forests: ``random_forest``,
``extra_trees``, ``forest_proximity``, ``infinitesimal_jackknife``, ``isolation_forest``. One after
the other: ``adaboost``, ``adaboost_regression``, ``gradient_boosting``, ``logistic_boosting``,
``second_order_boosting``. Different models: ``voting``, ``stacking``.
"""
