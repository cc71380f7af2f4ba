"""Answers from a network, exact or from samples.

Start with ``elimination.py``; ``approximate.py`` samples where the exact tables are too large.
"""
