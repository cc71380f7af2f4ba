"""Distributions of a network whose graph is known, from complete or incomplete rows.

Start with ``fitting.py``; ``em.py`` handles missing cells, ``classifier.py`` predicts one column.
"""
