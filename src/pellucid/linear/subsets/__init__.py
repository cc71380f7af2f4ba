"""Choosing a subset of the columns.

``subsets.py`` finds the best subset of each size, ``stepwise.py`` and ``stepwise_logistic.py`` add
and drop one column at a time, ``orthogonal_matching_pursuit.py`` adds by correlation,
``stability.py`` counts how often a column is chosen.
"""
