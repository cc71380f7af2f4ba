"""Derivatives, Taylor series, stationary points and convexity.

Start with ``differentiation.py``: numerical gradients and checks of hand-written ones.
"""
