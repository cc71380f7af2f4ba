"""Finding near rows: metrics, indexes and exact or approximate search.

``compiled.distances.search`` picks the method. ``nearest_search.py`` and ``radius_search.py`` are
the exact searches, ``kd_tree.py`` the tree as an object, ``lsh.py`` the approximate index;
``properties.py`` tests whether a function is a metric.
"""
