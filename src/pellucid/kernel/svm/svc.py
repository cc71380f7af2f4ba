r"""Support vector classification: the widest margin, with a price on rows inside it.

Model       f(x) = sum_i a_i y_i k(x_i, x) + b,   class by the sign
Primal      min 1/2 |w|^2 + sum C_i xi_i,   y_i f(x_i) >= 1 - xi_i, xi_i >= 0
Dual        max sum a - 1/2 sum a_i a_j y_i y_j k(x_i, x_j),   sum a y = 0, 0 <= a_i <= C_i
Algorithm   SMO with second-order pairs, shrinking, a cache of kernel rows (``kernel.svm.smo``)
Cost        O(n) per step, steps grow with n; prediction O(s p) per row, s support vectors

C_i = C times the sample and class weight. More than two classes: one machine per pair.
References: Boser, Guyon & Vapnik (1992); Cortes & Vapnik (1995); Fan, Chen & Lin (2005).
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy.sparse import issparse

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray, Seed
from pellucid.core.functions.kernels import KernelLike, PrecomputedKernel
from pellucid.core.records import Card
from pellucid.kernel.svm.margins import read_margins
from pellucid.kernel.svm.pairs import Pair, PairClassifier
from pellucid.kernel.svm.smo import Gram, Machine, Problem, offset, one_segment
from pellucid.kernel.svm.svm_model import Opened


def hinge_problem(sign: Array, bound: Array) -> Problem:
    """min 1/2 b'K b - sum |b| with b = a y, 0 <= a <= bound, sum b = 0."""
    n, end = len(sign), bound * sign
    lo, hi = np.minimum(end, 0.0), np.maximum(end, 0.0)
    return Problem(-sign, lo, hi, np.zeros(n), one_segment(n))


class SVC(PairClassifier):
    """Support vector machine for classification with any kernel.

    Equal rows with equal labels are one row of their total weight, so ``sample_weight`` equals
    repetition; ``gamma="scale"`` counts weighted rows as often. The solution is certified in
    double precision (``duality_gap_``).

    Parameters
    ----------
    C : float, default=1.0
        Price of the slack; small is wide margins, large is few errors.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable
        Default "rbf". A callable takes two tables and returns their Gram matrix; see
        ``pellucid.kernel`` for Kernel objects and their algebra.
    degree : int, default=3
        Of "poly".
    gamma : "scale", "auto" or float, default="scale"
        "scale": 1 / (n_features X.var()); "auto": 1 / n_features.
    coef0 : float, default=0.0
        Of "poly" and "sigmoid".
    shrinking : bool, default=True
        Leave rows out of the search once they stay at a bound.
    probability : bool
        Deprecated, as in scikit-learn; True adds ``predict_proba`` by Platt's sigmoid on scores of
        five folds. ``CalibratedClassifierCV(SVC(), ensemble=False)`` does the same in view.
    tol : float, default=1e-3
        Largest violation of the optimality conditions.
    cache_size : float, default=200
        Megabytes for kernel rows (of single precision).
    class_weight : None, "balanced" or dict, default=None
        Factor of C for each class; "balanced": inversely to its weight in the data.
    verbose : bool, default=False
        Above 0 prints the steps and the time of the fit.
    max_iter : int, default=-1
        Limit of the steps of each machine; -1: none.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        More than two classes: one column per class (votes), or one per pair.
    break_ties : bool, default=False
        Equal votes: the class of the larger decision function instead of the first.
    random_state : default=None
        Seed of the folds of ``probability``.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_
        As scikit-learn's.
    probA_, probB_ : ndarray of shape (pairs,)
        With ``probability=True``: the sigmoid of each pair of classes.
    duality_gap_ : float
        Primal minus dual objective, of the worst pair.
    multipliers_, slack_, categories_, margin_, margin_width_, n_margin_errors_,
    primal_objective_, dual_objective_, kkt_violation_, intercept_interval_
        Two classes only; see MaximumMarginClassifier.
    history_ : History
        One row per round of at most 1000 steps; ``n_iter_`` counts the steps of each pair.

    Examples
    --------
    >>> from pellucid import SVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = SVC(kernel="linear", C=0.1).fit(X, y)
    >>> model.coef_.round(6), model.categories_.tolist()
    (array([[0.4]]), ['inside', 'inside', 'inside', 'inside'])
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | Literal["deprecated"] = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: str | dict[Any, float] | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state

    def _problem(self, sign: Array, w: Array, costs: Array, gram: Gram) -> Problem:
        check.positive(C=self.C)
        if not np.isfinite(self.C):
            raise ValueError("C must be finite, got inf; MaximumMarginClassifier takes C=inf")
        return hinge_problem(sign, self.C * w * costs)

    def _solution(self, machine: Machine) -> tuple[Array, float]:
        return machine.beta, offset(machine).value

    def _extras(
        self, opened: Opened, pairs: list[Pair], machines: Sequence[Machine], beta: Array
    ) -> dict[str, Any]:
        machine, rows, place = machines[0], opened.rows, offset(machines[0])
        f = np.empty(len(rows.first))
        f[pairs[0].rows] = machine.F - machine.problem.q + place.value
        f = rows.repeat(f, 0.0)
        absent = np.flatnonzero(rows.kind < 0)
        if len(absent):  # rows of weight 0 took no part
            f[absent] = self._values(opened, absent, beta) + place.value
        sign = 2.0 * opened.y - 1.0
        C = self.C * opened.w * self.class_weight_[opened.y.astype(np.intp)]
        squared_norm = float(machine.beta @ (machine.F - machine.problem.q))
        near = {"at_bound": 1e-9 * self.C, "slop": self.tol}
        read = read_margins(beta * sign, sign, f, squared_norm, C, **near)
        interval = min(place.low, place.high), max(place.low, place.high)
        found = {"multipliers_": beta * sign, **read.attributes()}
        return {**found, "intercept_interval_": interval}

    def _values(self, opened: Opened, rows: IntArray, beta: Array) -> Array:
        """sum_s k(x, s) beta_s of some training rows."""
        support = np.flatnonzero(beta)
        if isinstance(self.kernel_, PrecomputedKernel):
            K = opened.X[rows][:, support]
            return (K.toarray() if issparse(K) else K) @ beta[support]
        return self.kernel_(opened.X[rows], opened.X[support]) @ beta[support]

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        two = len(self.classes_) == 2
        return Card(
            f"sign of sum_i a_i y_i k(x_i, x) + b with k = {self.kernel_!r}"
            + ("" if two else "; the votes of one machine per pair of classes"),
            "1/2 |w|^2 + C sum of hinge losses max(0, 1 - y f); C_i = C times the row's weight",
            "SMO on the dual with second-order pairs and shrinking, certified in double precision",
            {"C": self.C, **self._numbers(), **({"margin": self.margin_} if two else {})},
        )
