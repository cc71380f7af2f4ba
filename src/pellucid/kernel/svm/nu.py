r"""Support vector machines whose parameter is a share of the rows.

nu-classification   min 1/2 |w|^2 - nu rho + mean xi,   y f >= rho - xi,  rho >= 0
    dual            min 1/2 b'K b,  b = y a, 0 <= a_i <= w_i, sum of a = nu W / 2 in either class
    then            f and rho divided by rho: the margin is 1 again
nu-regression       min 1/2 |w|^2 + C W (nu epsilon + mean max(0, |y - f| - epsilon)), over epsilon
    dual            as SVR with sum of b+ = -sum of b- = C nu W / 2 instead of a given epsilon

rho = 0 when the reduced convex hulls of the classes (no row counts more than its bound) meet: then
b'K b = 0 too, and no direction is better than another.
nu bounds the share of margin errors from above and that of support vectors from below; the sum
in each class is a group of its own in SMO.   References: Schoelkopf et al. (2000).
"""

from collections.abc import Sequence
from numbers import Real
from typing import Any, Literal, Self

import numpy as np

from pellucid.base import with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Seed
from pellucid.core.functions.kernels import KernelLike
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.kernel.svm.pairs import PairClassifier
from pellucid.kernel.svm.smo import Gram, Machine, Problem, advance_all, offset, two_copies
from pellucid.kernel.svm.svc import hinge_problem
from pellucid.kernel.svm.svr import TubeRegressor


def check_nu(nu: float) -> None:
    """Raise ValueError for anything outside (0, 1].

    >>> check_nu(0)
    Traceback (most recent call last):
    ValueError: nu must be in (0, 1], got 0
    """
    if isinstance(nu, bool) or not isinstance(nu, Real) or not 0 < float(nu) <= 1:
        raise ValueError(f"nu must be in (0, 1], got {nu!r}")


def fill_up(bound: Array, total: float) -> Array:
    """The first variables at their bounds until they sum to ``total``.

    >>> fill_up(np.ones(3), 1.5)
    array([1. , 0.5, 0. ])
    """
    before = np.concatenate([[0.0], np.cumsum(bound)[:-1]])
    return np.clip(total - before, 0.0, bound)


def half_width(machine: Machine) -> float:
    """rho: f + b = -rho at the free rows of the first class, rho at those of the second."""
    return 0.5 * (offset(machine, 0).value - offset(machine, 1).value)


def warn_of_no_margin(nu: float, machine: Machine) -> None:
    """Warn when the certified violation is as large as rho, which then may as well be zero."""
    rho = half_width(machine)
    if machine.done and not rho > machine.gap:
        found = f"rho = {rho:.3g}, found to within {machine.gap:.3g}"
        why = "so far their reduced hulls meet and the boundary is arbitrary"
        cure = "raise nu, take another kernel, or lower tol to find a margin below it"
        warn(f"nu={nu!r} leaves no margin between two classes ({found}): {why}; {cure}")


class NuSVC(PairClassifier):
    """Support vector classification where nu says how many margin errors there may be.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        Bounds the share of margin errors from above and of support vectors from below. More than
        twice the share of the smaller class of a pair is infeasible (ValueError); so little that
        the classes' reduced hulls meet leaves no margin and an arbitrary boundary (UserWarning).
    kernel, degree, gamma, coef0, shrinking, probability, tol, cache_size, verbose, max_iter
        As SVC's; with sample weights the share is one of weight.
    class_weight : None, "balanced" or dict, default=None
        nu without class weights sets the price C = 1/rho; the classes' prices are then multiples
        of it, as in SVC. (scikit-learn accepts class_weight here and ignores it.)
    decision_function_shape, break_ties, random_state
        As SVC's.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_
        As scikit-learn's.
    probA_, probB_ : ndarray
        As SVC's.
    duality_gap_ : float
    history_ : History

    Examples
    --------
    >>> from pellucid import NuSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> NuSVC(kernel="linear", nu=0.4).fit(X, y).coef_.round(3)
    array([[2.]])
    """

    _apart = True

    def __init__(
        self,
        *,
        nu: float = 0.5,
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
        self.nu = nu
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
        check_nu(self.nu)
        first = int(np.count_nonzero(sign < 0))
        total = 0.5 * self.nu * float(w.sum())
        smaller = min(float(w[:first].sum()), float(w[first:].sum()))
        if total > smaller * (1 + 1e-12):
            twice = f"twice the share of the smaller class, {2 * smaller / float(w.sum()):.6g}"
            raise ValueError(f"specified nu is infeasible: nu={self.nu!r} is more than {twice}")
        n, bound = len(sign), w * sign
        start = np.concatenate([-fill_up(w[:first], total), fill_up(w[first:], total)])
        segments = np.array([[0, first, 0, 0], [first, n, first, 1]])
        lo, hi = np.minimum(bound, 0.0), np.maximum(bound, 0.0)
        shares = Problem(np.zeros(n), lo, hi, start, segments, 2)
        return shares if self.class_weight is None else self._priced(shares, sign, w * costs, gram)

    def _priced(self, shares: Problem, sign: Array, costs: Array, gram: Gram) -> Problem:
        """SVC's problem at the price 1/rho that nu stands for, times the class weights."""
        machine = self._machine(shares, gram)
        while not machine.exhausted:
            advance_all([machine])
        machine.finish()
        warn_of_no_margin(self.nu, machine)
        rho = half_width(machine)
        return hinge_problem(sign, costs / rho if rho > 0 else costs)

    def _solution(self, machine: Machine) -> tuple[Array, float]:
        if machine.problem.n_groups == 1:
            return machine.beta, offset(machine).value
        rho = half_width(machine)
        rho = rho if rho > 0 else 1.0
        middle = 0.5 * (offset(machine, 0).value + offset(machine, 1).value)
        return machine.beta / rho, middle / rho

    def _look_back(self, machines: Sequence[Machine]) -> None:
        for machine in machines:
            if machine.problem.n_groups == 2:
                warn_of_no_margin(self.nu, machine)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        return Card(
            f"sign of sum_i a_i y_i k(x_i, x) + b with k = {self.kernel_!r}"
            + ("" if len(self.classes_) == 2 else "; the votes of one machine per pair of classes"),
            f"1/2 |w|^2 - nu rho + mean max(0, rho - y f): a share nu={self.nu:g} of errors",
            "SMO on the dual with pairs inside a class, certified in double precision",
            {"nu": self.nu, **self._numbers()},
        )


class NuSVR(TubeRegressor):
    """Support vector regression that finds the width of its tube.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        Bounds the share of rows outside the tube from above and of support vectors from below.
    C : float, default=1.0
        Price of an error beyond the tube.
    kernel, degree, gamma, coef0, shrinking, tol, cache_size, verbose, max_iter
        As SVR's.

    Attributes
    ----------
    epsilon_ : float
        The half-width that was found.
    support_, support_vectors_, dual_coef_, intercept_, coef_, slack_, categories_,
    primal_objective_, dual_objective_, duality_gap_, history_
        As SVR's; the objectives are those of SVR with ``epsilon_``.

    Examples
    --------
    >>> from pellucid import NuSVR
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0]], [0.0, 1.0, 2.0, 3.0, 6.0]
    >>> model = NuSVR(nu=0.4, C=10.0, kernel="linear", tol=1e-9).fit(X, y)
    >>> model.coef_.round(6), float(round(model.epsilon_, 6))
    (array([[1.5]]), 0.625)
    """

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: KernelLike = "rbf",
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: MaybeArray = None) -> Self:
        """Find the support vectors, their coefficients and the width of the tube."""
        check_nu(self.nu)

        def problem(targets: Array, bound: Array) -> Problem:
            n, zero = len(targets), np.zeros(len(targets))
            half = fill_up(bound, 0.5 * self.nu * float(bound.sum()))
            lo, hi = np.concatenate([zero, -bound]), np.concatenate([bound, zero])
            q, start = np.concatenate([-targets, -targets]), np.concatenate([half, -half])
            return Problem(q, lo, hi, start, two_copies(n, groups=2), 2)

        return self._fit_tube(problem, X, y, sample_weight)

    def _tube(self, machine: Machine) -> tuple[float, float]:
        above, below = offset(machine, 0).value, offset(machine, 1).value
        return 0.5 * (above + below), max(0.0, 0.5 * (above - below))

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        return Card(
            f"sum_i b_i k(x_i, x) + b0 with k = {self.kernel_!r}",
            "1/2 |w|^2 + C sum of (nu epsilon + max(0, |y - f| - epsilon)), over epsilon too",
            "SMO on the dual with pairs inside b+ and b-, certified in double precision",
            {"nu": self.nu, **self._numbers()},
        )
