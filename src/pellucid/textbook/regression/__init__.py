"""Regression: a number from columns.

``normal_equations`` is the first; then ``ridge``.
"""
