"""Kernels: linear methods in spaces that are never entered.

Start with ``kernel_functions``, then ``kernel_ridge``, ``gaussian_process``,
``laplace_classification`` and ``kernel_perceptron``. Margins:
``maximum_margin``, ``smo``, ``linear_svm``, ``support_vector_regression``, ``one_class_svm``. Which
kernel: ``kernel_alignment``, ``multiple_kernel``. Many rows: ``nystroem``, ``random_features``,
``inducing_points``. Graphs: ``weisfeiler_lehman``, ``graph_isomorphism``.
"""
