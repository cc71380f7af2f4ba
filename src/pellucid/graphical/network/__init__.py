"""Bayesian networks and their parts: factors, conditional distributions, whole networks.

Start with ``network.py``; ``tables.py`` holds the conditional distributions, ``factor.py`` the
tables, ``mixed_network.py`` networks of categories and numbers.
"""
