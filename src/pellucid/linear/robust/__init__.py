"""Regression that outliers do not govern: ``huber.py`` and ``quantile.py`` (with the linear
programme in ``quantile_programme.py``, errors in ``quantile_errors.py`` and ``quantile_rank.py``);
``theil_sen_regressor.py`` and ``ransac_regressor.py`` fit small sets of rows.
"""
