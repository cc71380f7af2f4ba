"""Finite feature maps whose dot products approximate a kernel.

``nystroem.py`` uses landmarks among the rows, ``random_features.py`` random cosines
(``kernels.py`` has the compiled cosine).
"""
