"""Kernels: linear methods in spaces that are never entered.

Start with ``kernel_functions``, then ``kernel_ridge`` and ``kernel_perceptron``. Margins:
``maximum_margin``, ``smo``, ``linear_svm``, ``support_vector_regression``, ``one_class_svm``. Which
kernel: ``kernel_alignment``, ``multiple_kernel``. Many rows: ``nystroem``, ``random_features``.
Graphs: ``weisfeiler_lehman``, ``graph_isomorphism``.
"""
