"""Spectral clustering: read ``spectral.py`` first. ``maps.py`` finds the eigenvectors of the graph,
``labels.py`` turns them into groups without k-means.
"""
