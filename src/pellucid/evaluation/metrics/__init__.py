"""Metrics: one number for how good predictions are.

Read ``metrics.py`` first (the ``Metric`` record that every ``metric=`` becomes); ``registry.py``
lists the names, ``prepared.py`` checks the data, ``point_scores.py`` has the formulas.
``classification.py``, ``regression_scores.py`` and ``tasks.py`` give whole tables with intervals;
``confusion_rates.py``, ``thresholds.py``, ``delong.py``, ``silhouette.py``, ``criteria.py`` and
``costs.py`` hold one topic each.
"""
