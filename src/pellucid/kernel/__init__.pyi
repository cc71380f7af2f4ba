"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.kernel.approximation.nystroem import Nystroem as Nystroem
from pellucid.kernel.approximation.random_features import (
    RandomFourierFeatures as RandomFourierFeatures,
)
from pellucid.kernel.functions.algebra import FunctionKernel as FunctionKernel
from pellucid.kernel.functions.algebra import GaussianKernel as GaussianKernel
from pellucid.kernel.functions.algebra import Kernel as Kernel
from pellucid.kernel.functions.algebra import LaplacianKernel as LaplacianKernel
from pellucid.kernel.functions.algebra import LinearKernel as LinearKernel
from pellucid.kernel.functions.algebra import PolynomialKernel as PolynomialKernel
from pellucid.kernel.functions.algebra import PrecomputedKernel as PrecomputedKernel
from pellucid.kernel.functions.algebra import SigmoidKernel as SigmoidKernel
from pellucid.kernel.functions.alignment import kernel_alignment as kernel_alignment
from pellucid.kernel.functions.kernel_check import KernelCheck as KernelCheck
from pellucid.kernel.functions.kernel_check import check_kernel as check_kernel
from pellucid.kernel.functions.kernel_check import gram as gram
from pellucid.kernel.graphs.graphs import Isomorphism as Isomorphism
from pellucid.kernel.graphs.graphs import are_isomorphic as are_isomorphic
from pellucid.kernel.graphs.weisfeiler_lehman import WeisfeilerLehman as WeisfeilerLehman
from pellucid.kernel.graphs.weisfeiler_lehman import (
    WeisfeilerLehmanKernel as WeisfeilerLehmanKernel,
)
from pellucid.kernel.graphs.weisfeiler_lehman import (
    weisfeiler_lehman_test as weisfeiler_lehman_test,
)
from pellucid.kernel.kernel_ridge import KernelRidge as KernelRidge
from pellucid.kernel.linear_svm.hinge import HingeRisk as HingeRisk
from pellucid.kernel.linear_svm.hinge import hinge_risk as hinge_risk
from pellucid.kernel.linear_svm.linear_svc import LinearSVC as LinearSVC
from pellucid.kernel.linear_svm.linear_svr import LinearSVR as LinearSVR
from pellucid.kernel.maximum_margin.maximum_margin import (
    MaximumMarginClassifier as MaximumMarginClassifier,
)
from pellucid.kernel.maximum_margin.maximum_margin import NotSeparableError as NotSeparableError
from pellucid.kernel.processes.gaussian_process_classifier import (
    GaussianProcessClassifier as GaussianProcessClassifier,
)
from pellucid.kernel.processes.gaussian_process_regressor import (
    GaussianProcessRegressor as GaussianProcessRegressor,
)
from pellucid.kernel.processes.sparse_gaussian_process_regressor import (
    SparseGaussianProcessRegressor as SparseGaussianProcessRegressor,
)
from pellucid.kernel.svm.multiple_kernel import MultipleKernelClassifier as MultipleKernelClassifier
from pellucid.kernel.svm.nu import NuSVC as NuSVC
from pellucid.kernel.svm.nu import NuSVR as NuSVR
from pellucid.kernel.svm.one_class import OneClassSVM as OneClassSVM
from pellucid.kernel.svm.svc import SVC as SVC
from pellucid.kernel.svm.svr import SVR as SVR

__all__: list[str]
_HOME: dict[str, str]
