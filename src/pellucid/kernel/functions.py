"""The kernels of ``core.kernels``, where users look for them."""

from pellucid.core.kernels import (
    FunctionKernel,
    GaussianKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    PrecomputedKernel,
    SigmoidKernel,
)

__all__ = [
    "FunctionKernel",
    "GaussianKernel",
    "Kernel",
    "LaplacianKernel",
    "LinearKernel",
    "PolynomialKernel",
    "PrecomputedKernel",
    "SigmoidKernel",
]
