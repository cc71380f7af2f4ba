"""Penalties other than ridge and lasso: ``bridge.py``, ``dantzig.py``, ``group_lasso.py`` and
``multi_task.py``.
"""
