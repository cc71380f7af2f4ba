"""Tuning of parameters.

Read ``tuned.py`` first: an estimator that searches its own parameters. ``candidates.py`` lists or
draws what is tried, ``closed_paths.py`` scores a whole path of penalties at once.
"""
