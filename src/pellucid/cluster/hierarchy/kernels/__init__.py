"""Compiled sweeps of hierarchical clustering.

Read ``chain.py`` first (nearest-neighbour chains on a matrix); ``ward.py`` and ``spanning.py`` do
without the matrix (``tiles.py``), ``centres.py``, ``graph.py`` and ``divisive.py`` are the other
methods. ``rows.py`` has the shared scans, ``dendrogram.py`` numbers and cuts the tree.
"""
