"""Clusters: groups of rows that nobody labelled. Read ``kmeans`` first.

In teaching order:

- centres: ``kmeans``, ``kmeans_plus_plus``, ``mini_batch_kmeans``, ``bisecting_kmeans``,
  ``k_medoids``, ``fuzzy_c_means``, ``possibilistic_c_means``
- trees: ``linkage``, ``divisive``
- density and graphs: ``dbscan``, ``hdbscan``, ``optics``, ``mean_shift``, ``spectral_clustering``
- how good, how many: ``silhouette``, ``calinski_harabasz``, ``elbow``, ``adjusted_rand``,
  ``partition_counts``
"""
