"""Checks of a linear fit: ``residuals.py`` looks at the residuals, ``collinear.py`` at
correlated columns.
"""
