"""Probability distributions with one interface: density, cdf, quantile, sample, fit.

Start with ``normal.py``; ``distribution.py`` is the interface, ``samples.py`` the sufficient
statistics of a sample.
"""
