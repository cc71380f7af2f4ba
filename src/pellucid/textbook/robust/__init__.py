"""Robust regression: a few bad rows cannot spoil a fit made from many small sets of rows.

Start with ``theil_sen``, then ``ransac``. Losses that grow slowly are in ``regression``:
``huber_regression``, ``quantile_regression``.
"""
