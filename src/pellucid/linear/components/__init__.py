"""Regression on derived directions: ``pcr.py`` uses principal components, ``pls.py`` partial
least squares.
"""
