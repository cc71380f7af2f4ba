"""Estimates of how well a model does on new rows, and why.

Read ``cv_scores.py`` first: cross-validation with everything kept. ``fold_summary.py`` judges its
spread, ``nested.py`` scores models that tune themselves, ``bootstrap_632.py`` and
``smoother_scores.py`` are the alternatives to folds; ``curves.py``, ``diagnosis.py`` and
``bias_variance_parts.py`` say what holds a model back.
"""
