"""Fits that a few bad rows cannot spoil, from many fits of small sets of rows.

Start with ``theil_sen``, then ``ransac``. Losses that grow slowly are in ``regression``:
``huber_regression``, ``quantile_regression``.
"""
