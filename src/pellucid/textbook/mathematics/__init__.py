"""Mathematics: algebra and calculus that the other chapters lean on. Read ``gram_schmidt`` first.

In teaching order: ``gram_schmidt``, ``orthogonal_projection``, ``gaussian_elimination``,
``singular_values``, ``positive_definite``, ``quadratic_minimum``, ``taylor_series``,
``median_minimiser``, ``joint_table``, ``best_linear_predictor`` and ``pagerank``.
"""
