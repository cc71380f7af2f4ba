"""Neighbours: similar rows answer for each other.

Start with ``nearest_neighbours``; then ``radius_neighbours``, ``number_of_neighbours``. What near
means: ``distances``, ``gower_distance``. Searching: ``kd_tree``, ``hashing``. Fewer rows:
``condensed_neighbours``, ``edited_neighbours``, ``prototypes``, ``shrunken_centroids``. Density:
``kernel_density``. Regions:
``voronoi_cells``. Rows that stand out: ``local_outlier_factor``. Few labels: ``label_propagation``,
``label_spreading``.
"""
