"""Shrinkage: linear models that pay for their coefficients, or choose among them.

Start with ``ridge``.
"""
