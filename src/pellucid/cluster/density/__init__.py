"""Clusters as dense regions.

Read ``dbscan.py`` first, then ``hdbscan.py``, ``optics.py`` and ``mean_shift.py``. ``regions.py``,
``reachability_tree.py``, ``optics_graph.py`` (visits) and ``optics_xi.py`` (clusters of visits) are
their cores, ``bandwidth.py`` a radius for mean shift; files that end in ``kernels`` are compiled.
"""
