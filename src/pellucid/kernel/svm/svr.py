r"""Support vector regression: errors up to epsilon are free.

Model       f(x) = sum_i b_i k(x_i, x) + b0
Primal      min 1/2 |w|^2 + sum C_i max(0, |y_i - f(x_i)| - epsilon)
Dual        max y'b - epsilon |b|_1 - 1/2 b'K b,   sum b = 0, -C_i <= b_i <= C_i
Algorithm   SMO on b = b+ + b-, b+ in [0, C], b- in [-C, 0] (``kernel.svm.smo``)

    inside_tube     b = 0        |y - f| <= epsilon
    on_tube         0 < |b| < C  |y - f| = epsilon
    outside_tube    |b| = C      |y - f| >= epsilon, the slack is what is more

References: Drucker et al. (1997); Smola & Schoelkopf (2004).
"""

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, MaybeArray
from pellucid.core.functions.kernels import KernelLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.kernel.svm.pairs import duality_gap
from pellucid.kernel.svm.smo import Machine, Problem, offset, two_copies
from pellucid.kernel.svm.svm_model import Opened, SupportVectorMachine


class TubeRegressor(Regressor, SupportVectorMachine):
    """What SVR and NuSVR share: one machine with two variables per row."""

    _squares_y = True

    _multi_output = False

    C: float

    def _fit_tube(
        self, problem: Callable[[Array, Array], Problem], X: Any, y: Any, sample_weight: Any
    ) -> Self:
        """``problem(y, bound)`` is the programme of targets y and bounds C_i."""
        self._check_parameters()
        check.positive(C=self.C)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight, max_steps=None)
        rows = self._check_training(X, y, sample_weight, defer_finite=self._precomputed)
        opened = self._open(rows, rows.y)
        bound = self.C * opened.rows.w
        machine = self._machine(problem(rows.y[opened.rows.first], bound), opened.gram)
        self.shape_fit_ = rows.X.shape
        self._solve([machine], context, lambda done: self._read(opened, done))
        return self

    def _tube(self, machine: Machine) -> tuple[float, float]:
        """The intercept and the half-width of the tube."""
        raise NotImplementedError

    def _read(self, opened: Opened, machines: Sequence[Machine]) -> dict[str, Any]:
        machine, rows = machines[0], opened.rows
        m = len(rows.first)
        beta = machine.beta[:m] + machine.beta[m:]
        intercept, epsilon = self._tube(machine)
        spread = rows.spread(beta, opened.w)
        support = np.flatnonzero(spread)
        product = machine.F[:m] - machine.problem.q[:m]
        f = rows.repeat(product + intercept, 0.0)
        absent = np.flatnonzero(rows.kind < 0)
        if len(absent):
            f[absent] = self._at(opened, absent, spread) + intercept
        slack = np.maximum(0.0, np.abs(opened.y - f) - epsilon)
        bound = self.C * opened.w
        names = np.full(len(f), "on_tube", dtype="<U12")
        names[np.abs(spread) >= bound * (1 - 1e-9)] = "outside_tube"
        names[spread == 0] = "inside_tube"
        squared_norm = float(beta @ product)
        y = opened.y[rows.first]
        loss = epsilon * float(np.abs(beta).sum())
        return {
            **self._supported(opened.X, support, spread[None, support]),
            "n_support_": np.array([len(support)], dtype=np.int32),
            "intercept_": np.array([intercept]),
            "n_iter_": max(1, machine.n_steps),
            "slack_": slack,
            "categories_": names,
            "epsilon_": epsilon,
            "primal_objective_": 0.5 * squared_norm + float(bound @ slack),
            "dual_objective_": float(y @ beta) - loss - 0.5 * squared_norm,
            "duality_gap_": duality_gap(machine),
        }

    def _at(self, opened: Opened, rows: IntArray, beta: Array) -> Array:
        """sum_s k(x, s) beta_s of training rows of weight 0."""
        support = np.flatnonzero(beta)
        if self._precomputed:
            return opened.X[np.ix_(rows, support)] @ beta[support]
        return self.kernel_(opened.X[rows], opened.X[support]) @ beta[support]

    def predict(self, X: ArrayLike) -> Array:
        """sum_s b_s k(x, s) + b0 of every row."""
        X = self._check_input(X)
        return self._sums(X, self._pair_coef())[:, 0] + self.intercept_[0]

    def _pair_coef(self) -> Array:
        return self._dense_coef().T

    def _coef_shapes(self, s: int) -> dict[str, tuple[int, ...]]:
        return {"dual_coef_": (1, s), "intercept_": (1,)}

    def _numbers(self) -> dict[str, Any]:
        return {"C": self.C, "epsilon": self.epsilon_, **super()._numbers()}


def tube_problem(y: Array, bound: Array, epsilon: float) -> Problem:
    """min 1/2 b'K b - y'b + epsilon |b|_1 with b = b+ + b-."""
    n, zero = len(y), np.zeros(len(y))
    q = np.concatenate([epsilon - y, -epsilon - y])
    lo, hi = np.concatenate([zero, -bound]), np.concatenate([bound, zero])
    return Problem(q, lo, hi, np.zeros(2 * n), two_copies(n))


class SVR(TubeRegressor):
    """Support vector machine for regression with any kernel.

    ``sample_weight`` equals repetition: C_i = C w_i, and equal rows are one.

    Parameters
    ----------
    kernel, degree, gamma, coef0, tol, shrinking, cache_size, verbose, max_iter
        As SVC's; the kernel is "rbf" by default.
    C : float, default=1.0
        Price of an error beyond epsilon.
    epsilon : float, default=0.1
        Half-width of the tube in which errors are free.

    Attributes
    ----------
    support_, support_vectors_, dual_coef_, intercept_, coef_
        As scikit-learn's.
    slack_ : ndarray of shape (n,)
        How far a row lies outside the tube.
    categories_ : ndarray of str
        "inside_tube", "on_tube", "outside_tube".
    primal_objective_, dual_objective_, duality_gap_ : float
    history_ : History

    Examples
    --------
    >>> from pellucid import SVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0.0, 1.2, 1.9, 3.1, 3.9, 5.2]
    >>> model = SVR(kernel="linear", epsilon=0.1, tol=1e-9).fit(X, y)
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[0.975]]), array([0.1]))
    """

    def __init__(
        self,
        *,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
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
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """Find the support vectors and their coefficients."""
        check.non_negative(epsilon=self.epsilon)

        def problem(targets: Array, bound: Array) -> Problem:
            return tube_problem(targets, bound, float(self.epsilon))

        return self._fit_tube(problem, X, y, sample_weight)

    def _tube(self, machine: Machine) -> tuple[float, float]:
        return offset(machine).value, float(self.epsilon)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        return Card(
            f"sum_i b_i k(x_i, x) + b0 with k = {self.kernel_!r}",
            "1/2 |w|^2 + C sum max(0, |y - f| - epsilon)",
            "SMO on the dual with second-order pairs and shrinking, certified in double precision",
            self._numbers(),
        )
