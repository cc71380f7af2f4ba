"""Layers: forward, and the derivatives by input and weights.

Start with ``dense.py``; ``layer.py`` is the interface, ``activations.py`` the functions of units.
"""
