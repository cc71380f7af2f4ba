"""Compiled sweeps of forests.

Read ``growth.py`` first: trees on coded columns, one per thread. ``extra_growth.py`` grows trees
with random cuts, ``walk.py`` sends rows through all trees and reads quantiles off the leaves.
"""
