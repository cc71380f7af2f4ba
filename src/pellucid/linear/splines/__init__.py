"""Smoothing splines: ``smoothing_spline.py`` is the estimator, ``spline_fit.py`` the banded
solver.
"""
