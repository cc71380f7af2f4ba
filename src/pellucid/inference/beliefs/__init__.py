"""Conjugate beliefs: priors whose posterior has the same form.

Start with ``beta_bernoulli.py``; ``belief.py`` holds what all beliefs share. Further:
gamma-Poisson, Dirichlet-categorical,
normal data with known or unknown variance, vectors, linear regression.
"""
