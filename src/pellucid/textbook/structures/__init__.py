"""Structures: the arrows of a network from data. Read ``hill_climbing`` first.

Rows hold state numbers, ``states[v]`` is how many variable v has, ``parents[v]`` lists the parents
of v. In teaching order: ``independence_test``, ``pc_algorithm`` (by tests), ``structure_score``,
``hill_climbing``, ``chow_liu``, ``exact_structure`` (by scores), ``structure_averaging`` (all
graphs, weighted), ``structure_mcmc`` (a walk over graphs) and ``tree_augmented_bayes`` (a
classifier).

Without arrows, from columns of numbers: ``ledoit_wolf`` (a covariance for few rows) and
``graphical_lasso`` (which columns depend on each other given the rest).
"""
