"""Curves that only rise or only fall: ``isotonic_regression.py``."""
