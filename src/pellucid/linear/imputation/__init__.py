"""Filling the gaps of a table by regressions: read ``iterative_imputer.py``."""
