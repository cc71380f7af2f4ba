"""Projections: few directions that keep most of many columns. Read ``pca`` first.

In teaching order: ``pca`` (by singular values), ``power_iteration`` (one direction at a time),
``truncated_svd`` (the best matrix of low rank), ``randomised_svd``, ``incremental_pca``,
``kernel_pca``, ``probabilistic_pca`` (in closed form), ``probabilistic_pca_em``,
``factor_analysis``, ``minka_evidence`` (how many directions), ``principal_angles`` (how far two
subspaces lie apart), ``fast_ica`` (independent sources), ``nmf``
(parts that are only added), ``mds`` (a map by distances alone), ``isomap`` (by distances along a
surface), ``tsne`` (a map by neighbours), ``canonical_correlation`` (what two tables have in
common).
"""
