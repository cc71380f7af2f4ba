"""What a solver returns, and the guards and sentences that all solvers share."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.algebra.critical import CriticalPoint, certify
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import (
    ConvergenceWarning,
    DivergenceWarning,
    History,
    Iteration,
    iterate,
    rise_of,
)
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn

if TYPE_CHECKING:
    from pellucid.solvers.objective import Objective

Step: TypeAlias = Callable[[Any], tuple[Any, float]]
CERTIFY_UP_TO = 300  # parameters; a larger Hessian costs more than the certificate is worth
RUNAWAY = 1e10  # a value this many times the start's is divergence


class SeparationWarning(ConvergenceWarning):
    """A hyperplane separates the classes, so the loss has no finite minimum."""


@readable
class Minimum(NamedTuple):
    """Where a solver ended.

    ``reason`` is converged, max_iter, stopped or diverged; ``certificate`` says what kind of
    point x is (``CriticalPoint``). ``gradient_norm`` is that of the shortest subgradient.

    >>> from pellucid.solvers import GradientDescent, Objective
    >>> bowl = Objective(lambda x: float(x @ x), lambda x: 2 * x)
    >>> found = GradientDescent(0.25).minimise(bowl, [1.0, -2.0])
    >>> found.converged, found.n_iter, found.certificate.kind
    (True, 23, 'local minimum')
    """

    x: Array
    value: float  # of the objective at x
    gradient_norm: float
    n_iter: int  # steps, or epochs
    n_updates: int  # changes of x
    converged: bool
    reason: str
    history: History  # one row per step
    certificate: CriticalPoint

    def __str__(self) -> str:
        steps = f"{self.n_iter} iteration{'s' * (self.n_iter != 1)}"
        updates = f"{self.n_updates} update{'s' * (self.n_updates != 1)}"
        end = f"{self.reason} after {steps} ({updates})"
        return f"{end}: value {self.value:.8g}; {self.certificate}"


def starting_point(start: ArrayLike | str, size: int | None, rng: np.random.Generator) -> Array:
    """The vector a solver starts from: an array, or "zeros", "ones", "random".

    >>> starting_point("ones", 2, np.random.default_rng(0))
    array([1., 1.])
    """
    if not isinstance(start, str):
        x = np.atleast_1d(np.array(start, dtype=np.float64))
        if x.ndim != 1 or not np.isfinite(x).all():
            raise ValueError(f"start must be a vector of finite numbers, got {start!r}")
        if size is not None and len(x) != size:
            raise ValueError(f"start must have {size} parameters, got {len(x)}")
        return x
    if start not in ("zeros", "ones", "random"):
        raise ValueError(f"start must be an array, 'zeros', 'ones' or 'random', got {start!r}")
    if size is None:
        raise ValueError(f"start={start!r} needs an objective of known size; give an array")
    if start == "random":
        return rng.standard_normal(size)
    return np.zeros(size) if start == "zeros" else np.ones(size)


def run_solver(solver: BaseEstimator, step: Step, first: Any, **says: Any) -> Iteration:
    """``iterate`` within the limits of a solver, which tells of a slow end itself."""
    how = {"max_iter": solver.max_iter, "tol": getattr(solver, "tol", None), **says}
    return iterate(step, first, name=type(solver).__name__, warn=False, **how)


def finite_start(value: float) -> None:
    """Refuse a start without a value.

    >>> finite_start(float("nan"))
    Traceback (most recent call last):
    ValueError: the value at the start must be a finite number, got nan
    """
    if not np.isfinite(value):
        raise ValueError(f"the value at the start must be a finite number, got {value}")


def norm_of(g: Array) -> float:
    """The length of a gradient; infinite, without a word, where its squares are too large.

    >>> norm_of(np.array([1e200, 0.0]))
    inf
    """
    with np.errstate(over="ignore"):
        return float(np.linalg.norm(g))


def ceiling(start_value: float) -> float:
    """The value above which a solver has run away.

    >>> ceiling(-3.0)
    30000000000.0
    """
    return RUNAWAY * max(1.0, abs(start_value))


def runs_away(value: float, start_value: float) -> bool:
    """The guard of every solver."""
    return not -math.inf < value <= ceiling(start_value)


def bottomless(name: str) -> str:
    """Why a method without a rate left the finite numbers."""
    why = "the objective may have no minimum; the best point met is kept"
    return f"{name} left the finite numbers: {why}"


def rate_sentence(rate: float, lipschitz: float | None) -> str:
    """Why a descent diverged: the rate, and the limit where it is known."""
    most = rate_limit(lipschitz)
    limit = f": the limit is 2/L = {most:.6g}" if np.isfinite(most) else ""
    return f"the learning rate {rate:.6g} is too large{limit}; the best point met is kept"


def risen_words(found: Minimum) -> str:
    """What is to be said of a descent that ended above its start; "" where it did not.

    >>> risen_words(Minimum(0, 0, 0, 0, 0, False, "", History(), None))
    ''
    """
    columns = found.history.columns
    keeps_the_best = "best_value" in columns or found.reason == "diverged"
    if keeps_the_best or "value" not in columns:
        return ""
    values = found.history["value"]
    return rise_of(values[0], values[-1], what="value")


def account(found: Minimum) -> str:
    """The record of a descent in words, and whether it ended above its start."""
    return "; ".join(part for part in (str(found), risen_words(found)) if part)


def warn_risen(name: str, first: float, last: float, rate: float, lipschitz: float | None) -> bool:
    """Warn of a descent that ended above its start, whatever was asked of it; True if it did."""
    risen = rise_of(first, last, what="value")
    if not risen:
        return False
    limit = rate_limit(lipschitz)
    known = f" (2/L = {limit:.6g})" if np.isfinite(limit) else ""
    warn(f"{name}: {risen}: try a smaller rate than {rate:.6g}{known}", DivergenceWarning)
    return True


def rate_limit(lipschitz: float | None) -> float:
    """2/L, above which a plain descent diverges; infinite where L is not known.

    >>> rate_limit(4.0), rate_limit(None)
    (0.5, inf)
    """
    if lipschitz is None or not np.isfinite(lipschitz) or lipschitz <= 0:
        return np.inf
    return 2 / lipschitz


def warn_slow(
    name: str, run: Iteration, gap: float, tol: float | None, *, room: bool = True
) -> None:
    """The limit was reached before the tolerance; ``room``: a larger rate would not diverge."""
    if run.reason != "max_iter" or tol is None:
        return
    values = run.history["value"] if len(run.history) > 1 else np.zeros(0)
    falling = len(values) > 1 and values[-1] < values[-2]
    if name in ("Newton", "LBFGS", "CoordinateDescent"):  # no rate to choose
        advice = "try scaled columns or a larger max_iter"
    elif falling:
        rate = "a larger rate, " if room else ""
        advice = f"the value is still falling, slow: try {rate}scaled columns or Newton"
    else:
        advice = "the value no longer falls: try a smaller or decaying rate"
    end = f"no convergence in max_iter={run.n_iter} steps: gap {gap:.3g} > tol={tol:g}"
    warn(f"{name}: {end}; {advice}", ConvergenceWarning)


def conclude(
    objective: "Objective", x: Array, run: Iteration, *, n_updates: int, tol: float | None
) -> Minimum:
    """The record of a finished run, with its certificate and the warning of separation."""
    value, norm = objective.value(x), objective.optimality(x)
    small = len(x) <= CERTIFY_UP_TO and objective.twice
    hessian = objective.hessian(x) if small else None
    certificate = certify(norm, hessian, tol=max(tol or 0.0, 1e-5), convex=bool(objective.convex))
    if objective.separated(x, search=not run.converged):
        certificate = certificate._replace(kind="undecided")  # there is no finite minimum
        why = "the coefficients run to infinity and the loss has no finite minimum"
        say = f"the classes are separated by a hyperplane: {why} (remedy: a penalty)"
        warn(say, SeparationWarning)
    at, end = (x, float(value), float(norm)), (run.converged, run.reason, run.history)
    return Minimum(*at, run.n_iter, n_updates, *end, certificate)
