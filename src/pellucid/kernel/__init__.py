"""Kernels and the machines that use them.

``functions`` kernels and their tests; ``svm`` support vector machines with any kernel (start with
``svc.py``); ``linear_svm`` the linear ones; ``maximum_margin`` the exact programme; ``graphs``
kernels on graphs; ``approximation`` feature maps; ``processes`` Gaussian processes;
``kernel_ridge.py`` ridge regression.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "FunctionKernel": "functions.algebra",
    "GaussianKernel": "functions.algebra",
    "GaussianProcessClassifier": "processes.gaussian_process_classifier",
    "GaussianProcessRegressor": "processes.gaussian_process_regressor",
    "HingeRisk": "linear_svm.hinge",
    "Isomorphism": "graphs.graphs",
    "Kernel": "functions.algebra",
    "KernelCheck": "functions.kernel_check",
    "KernelRidge": "kernel_ridge",
    "LaplacianKernel": "functions.algebra",
    "LinearKernel": "functions.algebra",
    "LinearSVC": "linear_svm.linear_svc",
    "LinearSVR": "linear_svm.linear_svr",
    "MaximumMarginClassifier": "maximum_margin.maximum_margin",
    "MultipleKernelClassifier": "svm.multiple_kernel",
    "NotSeparableError": "maximum_margin.maximum_margin",
    "NuSVC": "svm.nu",
    "NuSVR": "svm.nu",
    "Nystroem": "approximation.nystroem",
    "OneClassSVM": "svm.one_class",
    "PolynomialKernel": "functions.algebra",
    "PrecomputedKernel": "functions.algebra",
    "RandomFourierFeatures": "approximation.random_features",
    "SVC": "svm.svc",
    "SVR": "svm.svr",
    "SigmoidKernel": "functions.algebra",
    "SparseGaussianProcessRegressor": "processes.sparse_gaussian_process_regressor",
    "WeisfeilerLehman": "graphs.weisfeiler_lehman",
    "WeisfeilerLehmanKernel": "graphs.weisfeiler_lehman",
    "are_isomorphic": "graphs.graphs",
    "check_kernel": "functions.kernel_check",
    "gram": "functions.kernel_check",
    "hinge_risk": "linear_svm.hinge",
    "kernel_alignment": "functions.alignment",
    "weisfeiler_lehman_test": "graphs.weisfeiler_lehman",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
