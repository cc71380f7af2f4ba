"""Kernels and the machines that use them."""

from pellucid._lazy import lazy_names

_HOME = {
    "FunctionKernel": "functions",
    "GaussianKernel": "functions",
    "HingeRisk": "hinge",
    "Isomorphism": "graphs",
    "Kernel": "functions",
    "KernelCheck": "check",
    "KernelRidge": "kernel_ridge",
    "LaplacianKernel": "functions",
    "LinearKernel": "functions",
    "LinearSVC": "linear_svc",
    "LinearSVR": "linear_svr",
    "MaximumMarginClassifier": "maximum_margin",
    "MultipleKernelClassifier": "multiple_kernel",
    "NotSeparableError": "maximum_margin",
    "NuSVC": "nu",
    "NuSVR": "nu",
    "Nystroem": "nystroem",
    "OneClassSVM": "one_class",
    "PolynomialKernel": "functions",
    "PrecomputedKernel": "functions",
    "RandomFourierFeatures": "random_features",
    "SVC": "svc",
    "SVR": "svr",
    "SigmoidKernel": "functions",
    "WeisfeilerLehman": "weisfeiler_lehman",
    "WeisfeilerLehmanKernel": "weisfeiler_lehman",
    "are_isomorphic": "graphs",
    "check_kernel": "check",
    "gram": "check",
    "hinge_risk": "hinge",
    "kernel_alignment": "alignment",
    "weisfeiler_lehman_test": "weisfeiler_lehman",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
