"""Exercises on predicting a target, a file per topic; begin with ``regression``."""
