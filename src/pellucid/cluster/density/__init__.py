"""Clusters as dense regions.

Read ``dbscan.py`` first, then ``hdbscan.py``. ``regions.py`` and ``reachability_tree.py`` are
their cores, ``kernels.py`` and ``reachability_kernels.py`` the compiled sweeps.
"""
