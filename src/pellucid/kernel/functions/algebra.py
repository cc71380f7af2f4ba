"""The kernels of ``core.functions.kernels``, where users look for them."""

from pellucid.core.functions.kernels import (
    FunctionKernel,
    GaussianKernel,
    Kernel,
    LaplacianKernel,
    LinearKernel,
    PolynomialKernel,
    PrecomputedKernel,
    SigmoidKernel,
)

__all__ = ["FunctionKernel", "GaussianKernel", "Kernel", "LaplacianKernel", "LinearKernel"]
__all__ += ["PolynomialKernel", "PrecomputedKernel", "SigmoidKernel"]
