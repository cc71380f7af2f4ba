"""Basis functions of columns.

Read ``polynomial.py`` or ``splines.py`` first; ``natural_spline.py``, ``truncated_power.py`` and
``gaussian_basis.py`` are other bases, ``expansion.py`` takes any functions. ``basis.py`` and
``knots.py`` hold what they share, ``b_splines.py`` and ``polynomial_kernels.py`` the sweeps.
"""
