"""Soft clustering: every row belongs to every cluster to a degree.

Read ``fuzzy.py`` first, then ``possibilistic.py``; ``rounds.py`` is the loop both share,
``kernels.py`` its compiled sweeps.
"""
