"""Linear algebra that several families share.

Start with ``linalg.py`` (small, dense) and ``least_squares.py`` (over leaves of rows).
"""
