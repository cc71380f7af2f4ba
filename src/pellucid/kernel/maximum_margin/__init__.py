"""The maximum-margin classifier as an exact quadratic programme.

Read ``maximum_margin.py`` first; ``programmes.py`` writes the programmes down and
``interior_point.py`` solves them.
"""
