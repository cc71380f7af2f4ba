r"""Line searches: how far to go from x along a direction d with slope m = g'd < 0.

    Backtracking      shrink t until F(x + t d) <= F(x) + c t m                       (Armijo)
    Wolfe             also |F'(x + t d)'d| <= c2 |m|, so that the step is not too short
    ExactLineSearch   t = -m / (d'H d), the minimum along d of a quadratic

Reference: Nocedal & Wright, Numerical Optimization, chapter 3.
"""

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.optimize import line_search
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.loops.backtrack import backtrack
from pellucid.solvers.objective import Objective


class LineSearch(BaseEstimator, ABC):
    """Base of the line searches."""

    def validate(self) -> None:
        """Refuse parameters that are out of range."""

    @abstractmethod
    def search(self, objective: Objective, x: Array, value: float, g: Array, d: Array) -> float:
        """The length t of the step along d; 0 where none brings the value down."""


class Backtracking(LineSearch):
    """Shrink a first step until the value falls enough.

    Parameters
    ----------
    start : float, default=1.0
        The first step tried.
    factor : float, default=0.5
        What a rejected step is multiplied by.
    c : float, default=1e-4
        Share of the fall promised by the slope that must be met.

    Examples
    --------
    >>> from pellucid.solvers import Backtracking, GradientDescent, Objective
    >>> bowl = Objective(lambda x: float(x @ x), lambda x: 2 * x)
    >>> GradientDescent(Backtracking()).minimise(bowl, [1.0, -2.0]).x
    array([0., 0.])
    """

    def __init__(self, start: float = 1.0, factor: float = 0.5, c: float = 1e-4) -> None:
        self.start = start
        self.factor = factor
        self.c = c

    def validate(self) -> None:
        """Raise ValueError where a parameter is out of range."""
        check.positive(start=self.start)
        check.fraction(factor=self.factor, c=self.c)

    def search(self, objective: Objective, x: Array, value: float, g: Array, d: Array) -> float:
        """The step length along ``d`` from ``x``."""

        def attempt(t: float) -> tuple[None, float]:
            new = objective.value(x + t * d)
            return None, new if np.isfinite(new) else np.nan

        how: dict[str, Any] = {"start": float(self.start), "factor": self.factor, "c": self.c}
        found = backtrack(attempt, value, float(g @ d), most=100, **how)
        return 0.0 if found is None else found.t


class Wolfe(LineSearch):
    """A step that meets the strong Wolfe conditions (SciPy's search).

    Parameters
    ----------
    c1, c2 : float, default=1e-4, 0.9
        Shares for the fall of the value and for the flattening of the slope.

    Examples
    --------
    >>> from pellucid.solvers import GradientDescent, Objective, Wolfe
    >>> bowl = Objective(lambda x: float(x @ x), lambda x: 2 * x)
    >>> GradientDescent(Wolfe()).minimise(bowl, [1.0, -2.0]).converged
    True
    """

    def __init__(self, c1: float = 1e-4, c2: float = 0.9) -> None:
        self.c1 = c1
        self.c2 = c2

    def validate(self) -> None:
        """Raise ValueError where a parameter is out of range."""
        check.fraction(c1=self.c1, c2=self.c2)
        if not self.c1 < self.c2:
            raise ValueError(f"c1 must be < c2, got {self.c1} and {self.c2}")

    def search(self, objective: Objective, x: Array, value: float, g: Array, d: Array) -> float:
        """The step length along ``d`` from ``x``."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a failure is the None below
            both = objective.value, objective.gradient
            t = line_search(*both, x, d, g, value, c1=self.c1, c2=self.c2)[0]
        return Backtracking().search(objective, x, value, g, d) if t is None else float(t)


class ExactLineSearch(LineSearch):
    """The minimum along the direction of the quadratic model; exact for quadratics.

    >>> from pellucid.solvers import ExactLineSearch, GradientDescent, LinearObjective
    >>> f = LinearObjective([[1, 0], [1, 1], [1, 2]], [1, 2, 4], scale="half_mean")
    >>> GradientDescent(ExactLineSearch()).minimise(f, "zeros").x.round(4)
    array([0.8333, 1.5   ])
    """

    def search(self, objective: Objective, x: Array, value: float, g: Array, d: Array) -> float:
        """The step length along ``d`` from ``x``."""
        curvature = float(d @ objective.hessian(x) @ d)
        return -float(g @ d) / curvature if curvature > 0 else 0.0
