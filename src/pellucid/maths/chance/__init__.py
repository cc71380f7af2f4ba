"""Probability: Bayes' rule, joint tables, unions, moments, bounds and limit theorems.

Start with ``bayes.py``; ``concentration.py`` holds the bounds on a sample mean.
"""
