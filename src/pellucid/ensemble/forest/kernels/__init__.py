"""Compiled sweeps of forests.

Read ``growth.py`` first: trees on coded columns, one per thread. ``extra_growth.py`` and
``isolation.py`` grow trees with random cuts, ``walk.py`` sends rows through all trees,
``leaf_quantiles.py`` reads quantiles off the leaves.
"""
