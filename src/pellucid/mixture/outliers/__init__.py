"""Odd rows: those of low density, or far from the bulk.

Start with ``density_outlier.py`` or ``elliptic_envelope.py``.
"""
