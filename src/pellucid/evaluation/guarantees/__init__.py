"""Bounds of the true loss from what was measured.

Read ``risk_bounds.py`` first (Hoeffding, finite classes, VC dimension, margins);
``rademacher.py`` measures how well a class follows noise.
"""
