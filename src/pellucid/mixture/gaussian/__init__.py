"""Gaussian mixtures by EM, variational Bayes and gradient ascent.

Start with ``gaussian_mixture.py``; ``gaussians.py`` holds the E and M steps, ``em.py`` the loop.
"""
