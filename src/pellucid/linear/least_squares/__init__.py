"""Ordinary least squares.

Read ``least_squares.py`` first. ``summary.py`` and ``inference.py`` make the table of estimates,
``sandwich.py`` and ``jackknife.py`` robust errors, ``formula.py`` reads model formulas,
``indicator.py`` classifies by regressing on indicators.
"""
