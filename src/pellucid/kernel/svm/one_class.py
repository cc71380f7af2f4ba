r"""The support of a distribution: a half-space in feature space that holds most rows.

Model       ordinary where f(x) = sum_i a_i k(x_i, x) - rho > 0
Primal      min 1/2 |w|^2 - nu W rho + sum w_i max(0, rho - w.phi(x_i))
Dual        min 1/2 a'K a,   sum a = nu W, 0 <= a_i <= w_i        (libsvm's scale)
Algorithm   SMO (``kernel.svm.smo``)

nu bounds the share of training rows outside from above and of support vectors from below.
References: Schoelkopf et al. (2001).
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin

from pellucid.base import with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray
from pellucid.core.functions.kernels import KernelLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.kernel.svm.nu import check_nu, fill_up
from pellucid.kernel.svm.pairs import duality_gap
from pellucid.kernel.svm.smo import Machine, Problem, offset, one_segment
from pellucid.kernel.svm.svm_model import Opened, SupportVectorMachine


class OneClassSVM(OutlierMixin, SupportVectorMachine):
    """Find the region where most rows lie; what is outside is odd.

    ``sample_weight`` equals repetition; equal rows are one of their total weight.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter
        As SVC's; the kernel is "rbf" by default.
    nu : float in (0, 1], default=0.5
        Bounds the share of rows outside from above and of support vectors from below.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, offset_, coef_
        As scikit-learn's: ``decision_function = score_samples - offset_``.
    duality_gap_ : float
    history_ : History

    Examples
    --------
    >>> from pellucid import OneClassSVM
    >>> X = [[0.0], [0.1], [0.2], [0.15], [5.0]]
    >>> OneClassSVM(nu=0.3, gamma=1.0).fit(X).predict([[0.12], [9.0]])
    array([ 1, -1])
    """

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Find the support vectors of the rows; ``y`` is ignored."""
        check_nu(self.nu)
        self._check_parameters()
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=None)
        rows = self._check_training(X, y, sample_weight, defer_finite=self._precomputed)
        opened = self._open(rows, np.zeros(rows.n_rows))
        bound = opened.rows.w
        n = len(bound)
        start = fill_up(bound, float(self.nu) * float(bound.sum()))
        problem = Problem(np.zeros(n), np.zeros(n), bound, start, one_segment(n))
        size = float(opened.gram.diagonal.max(initial=0.0))  # k alone has a unit in this problem
        far = 0 < size < np.inf and not 1e-3 <= size <= 1e3
        machine = self._machine(problem, opened.gram, size if far else 1.0)
        self.shape_fit_ = rows.X.shape
        self._solve([machine], context, lambda done: self._read(opened, done))
        return self

    def _read(self, opened: Opened, machines: Sequence[Machine]) -> dict[str, Any]:
        machine = machines[0]
        a = opened.rows.spread(machine.beta, opened.w)
        support = np.flatnonzero(a)
        intercept = np.array([offset(machine).value])
        return {
            **self._supported(opened.X, support, a[None, support]),
            "n_support_": np.array([len(support)], dtype=np.int32),
            "intercept_": intercept,
            "offset_": -intercept,
            "n_iter_": max(1, machine.n_steps),
            "duality_gap_": duality_gap(machine),
        }

    def decision_function(self, X: ArrayLike) -> Array:
        """f(x); below 0 is odd."""
        X = self._check_input(X)
        return self._sums(X, self._pair_coef())[:, 0] + self.intercept_[0]

    def score_samples(self, X: ArrayLike) -> Array:
        """sum_i a_i k(x_i, x), without the offset."""
        return self.decision_function(X) - self.intercept_[0]

    def predict(self, X: ArrayLike) -> Any:
        """1 for ordinary rows, -1 for odd ones."""
        return np.where(self.decision_function(X) > 0, 1, -1)

    def _pair_coef(self) -> Array:
        return self._dense_coef().T

    def _coef_shapes(self, s: int) -> dict[str, tuple[int, ...]]:
        return {"dual_coef_": (1, s), "intercept_": (1,)}

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        return Card(
            f"ordinary where sum_i a_i k(x_i, x) > rho with k = {self.kernel_!r}",
            f"1/2 |w|^2 - nu n rho + sum max(0, rho - w.phi(x)): a share nu={self.nu:g} outside",
            "SMO on the dual with second-order pairs and shrinking, certified in double precision",
            {
                "nu": self.nu,
                "support vectors": len(self.support_),
                "offset": float(self.offset_[0]),
                "steps": self.n_iter_,
                "duality gap": self.duality_gap_,
            },
        )
