"""Trees of clusters.

Read ``agglomerative.py`` first (``divisive.py`` splits instead of merging), then ``linkage.py``:
the merges. ``near_merges.py`` finds them without a matrix of distances, ``cuts.py`` cuts the tree,
``kernels/`` has the compiled sweeps.
"""
