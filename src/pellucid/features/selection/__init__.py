"""Choosing columns.

Read ``select_k_best.py`` first (with ``scores.py``: each column judged alone). ``rfe.py`` and
``rfecv.py`` (with ``elimination.py``), ``sequential.py`` and ``select_from_model.py`` ask a model,
``variance_threshold.py`` and ``drop_collinear.py`` need no target. ``selector.py``,
``score_filter.py`` and ``supervised.py`` hold what they share, ``kernels.py`` the compiled sums.
"""
