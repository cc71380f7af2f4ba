"""The numbers of a kernel as one vector of logarithms, and the search for the best.

scikit-learn's kernels say themselves what may be learned and within which bounds; of ours every
positive number is learned, between a 100,000th and 100,000 (``BOUNDS``).
"""

import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from sklearn.gaussian_process import kernels as theirs
from sklearn.gaussian_process.kernels import Hyperparameter
from sklearn.utils import check_random_state

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Seed
from pellucid.core.functions import kernels as ours
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext, History
from pellucid.core.records import Summary
from pellucid.core.runtime.warn import warn
from pellucid.kernel.processes.covariance import Covariance
from pellucid.kernel.processes.learned_numbers import curvature
from pellucid.solvers.lbfgs import lbfgsb

BOUNDS = (1e-5, 1e5)
FEW = "intervals rest on many rows: they are too narrow for few"
KNOWN = "return_std takes the learned numbers as known; predict_interval averages over them"
LEARNED: dict[type, tuple[str, ...]] = {
    ours.GaussianKernel: ("sigma",),
    ours.LaplacianKernel: ("sigma",),
    ours.PolynomialKernel: ("gamma", "coef0"),
    ours.SigmoidKernel: ("gamma", "coef0"),
    ours.ScaledKernel: ("scale",),
}
Goal = Callable[..., Any]  # theta -> value and gradient of what is minimised


class Number(NamedTuple):
    """One learned number of a kernel of ours: whose it is, and where it stands in it."""

    owner: Any
    attribute: str
    name: str


class Found(NamedTuple):
    """The best of all searches."""

    theta: Array
    value: float
    history: History
    n_iter: int


def numbers(kernel: Covariance, path: str = "") -> list[Number]:
    """What is learned of a kernel of ours, in the order of ``covariance.pull``.

    >>> [n.name for n in numbers(2.0 * ours.GaussianKernel(1.0) + ours.LinearKernel())]
    ['left__scale', 'left__kernel__sigma']
    """
    own = [n for n in LEARNED.get(type(kernel), ()) if float(getattr(kernel, n)) > 0]
    found = [Number(kernel, n, path + n) for n in own]
    for part in ("left", "right", "kernel"):
        if isinstance(getattr(kernel, part, None), ours.Kernel):
            found += numbers(getattr(kernel, part), f"{path}{part}__")
    return found


def is_ours(kernel: Covariance) -> bool:
    return isinstance(kernel, ours.Kernel)


def theta_of(kernel: Covariance) -> Array:
    """The logarithms of what is learned.

    >>> theta_of(theirs.RBF(1.0) + theirs.WhiteKernel(1.0, "fixed"))
    array([0.])
    """
    if not is_ours(kernel):
        return np.asarray(kernel.theta, dtype=np.float64)
    return np.log(np.array([float(getattr(n.owner, n.attribute)) for n in numbers(kernel)]))


def bounds_of(kernel: Covariance) -> Array:
    """Smallest and largest logarithm of every number."""
    if not is_ours(kernel):
        return np.asarray(kernel.bounds, dtype=np.float64).reshape(-1, 2)
    return np.log(np.tile(BOUNDS, (len(numbers(kernel)), 1)))


def names_of(kernel: Covariance) -> list[tuple[str, int]]:
    """Name and place of every learned number."""
    if is_ours(kernel):
        return [(n.name, 0) for n in numbers(kernel)]
    free: list[Hyperparameter] = [h for h in kernel.hyperparameters if not h.fixed]
    return [(h.name, i) for h in free for i in range(h.n_elements)]


def with_theta(kernel: Covariance, theta: Array) -> Any:
    """A kernel of the same form with these numbers.

    >>> with_theta(ours.GaussianKernel(1.0), np.log([3.0])).sigma
    3.0...
    """
    if not is_ours(kernel):
        return kernel.clone_with_theta(theta)
    new = deepcopy(kernel)
    for number, value in zip(numbers(new), np.exp(theta), strict=True):
        setattr(number.owner, number.attribute, float(value))
    return new


def without_noise(kernel: Covariance) -> Any:
    """The kernel of the curve itself: white noise has level 0."""
    new = deepcopy(kernel)
    waiting = [new]
    while waiting:
        part = waiting.pop()
        if isinstance(part, theirs.WhiteKernel):
            part.noise_level = 0.0
        waiting += [getattr(part, n) for n in ("k1", "k2", "kernel") if hasattr(part, n)]
    return new


def check_kernel(kernel: Covariance) -> None:
    """Refuse what is no kernel of either library."""
    if isinstance(kernel, ours.PrecomputedKernel) or not isinstance(
        kernel, theirs.Kernel | ours.Kernel
    ):
        known = "None, a kernel of pellucid.kernel or of sklearn.gaussian_process.kernels"
        raise ValueError(f"kernel must be {known}, got {kernel!r}")


def check_search(kernel: Covariance, optimizer: Any) -> None:
    """Refuse what is neither a kernel nor a way to learn its numbers."""
    if not callable(optimizer) and optimizer is not None:
        check.one_of(("fmin_l_bfgs_b",), optimizer=optimizer)
    if kernel is not None:
        check_kernel(kernel)


def takes_vectors(kernel: Covariance) -> bool:
    """Whether the rows are numbers; kernels of scikit-learn's may take other things."""
    return kernel is None or bool(getattr(kernel, "requires_vector_input", True))


class Search:
    """One minimisation with its history; the best of several starts wins."""

    def __init__(
        self,
        goal: Goal,
        optimizer: Any,
        context: FitContext | None = None,
        state: Callable[[Array], Any] = lambda theta: theta,
    ) -> None:
        self.goal, self.optimizer, self.context, self.state = goal, optimizer, context, state
        self.history, self.began, self.start, self.asked = History(), time.perf_counter(), 0, False

    def run(self, theta: Array, bounds: Array) -> tuple[Array, float]:
        """Descend from one start."""
        if callable(self.optimizer):
            found, value = self.optimizer(self.goal, theta, bounds=bounds)
            self._note(np.asarray(found, dtype=np.float64), float(value))
            return np.asarray(found, dtype=np.float64), float(value)
        ends = [(float(low), float(high)) for low, high in bounds]
        result = lbfgsb(self.goal, theta, bounds=ends, callback=self.passed)
        if result.status not in (0, 99):
            end = "raise max_iter, scale the columns, or change the bounds of the kernel"
            said = f"lbfgs failed to converge (status={result.status}): {result.message}"
            warn(f"{said}; {end}", ConvergenceWarning)
        return np.array(result.x), float(result.fun)

    def passed(self, intermediate_result: Any) -> None:
        """After every step of L-BFGS-B; StopIteration ends it."""
        self._note(np.array(intermediate_result.x), float(intermediate_result.fun))
        if self.asked:
            raise StopIteration

    def _note(self, theta: Array, value: float) -> None:
        last = self.history[-1] if len(self.history) else None
        again = last is not None and last["start"] == self.start
        gap = abs(last["objective"] - value) if last is not None and again else None
        step, seconds = len(self.history) + 1, time.perf_counter() - self.began
        row = {"step": step, "start": self.start, "objective": value, "theta": theta}
        row |= {"gap": gap, "seconds": seconds}
        self.history.append(row)
        if self.context is not None and self.context.step(step, self.state(theta), row):
            self.asked = True


def search(
    goal: Goal,
    kernel: Covariance,
    optimizer: Any,
    restarts: int,
    random_state: Seed,
    context: FitContext | None = None,
) -> Found:
    """The theta of least ``goal`` over the kernel's own start and random ones."""
    theta, bounds = theta_of(kernel), bounds_of(kernel)
    if restarts > 0 and not np.isfinite(bounds).all():
        raise ValueError(
            "Multiple optimizer restarts (n_restarts_optimizer>0) requires that all bounds are "
            "finite."
        )
    task = Search(goal, optimizer, context=context)
    found = [task.run(theta, bounds)]
    rng = as_random_state(random_state)
    for i in range(0 if task.asked else restarts):
        task.start = i + 1
        found.append(task.run(rng.uniform(bounds[:, 0], bounds[:, 1]), bounds))
    best = found[int(np.argmin([value for _, value in found]))]
    warn_at_bounds(kernel, best[0])
    return Found(best[0], best[1], task.history, max(len(task.history), 1))


def as_random_state(random_state: Seed) -> Any:
    """scikit-learn's stream of a seed, so that restarts begin where its own do."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return check_random_state(random_state)


def warn_at_bounds(kernel: Covariance, theta: Array) -> None:
    """Say which number ended at its bound."""
    bounds = bounds_of(kernel)
    close = np.isclose(bounds, theta[:, None])
    for (name, i), near, ends in zip(names_of(kernel), close, np.exp(bounds), strict=True):
        if near.any():
            side, end, way = (
                ("lower", ends[0], "Decreasing") if near[0] else ("upper", ends[1], "Increasing")
            )
            warn(
                f"The optimal value found for dimension {i} of parameter {name} is close to the "
                f"specified {side} bound {round(float(end), 12)}. {way} the bound and calling fit "
                "again may find a better value.",
                ConvergenceWarning,
            )


def numbers_summary(
    title: str,
    kernel: Covariance,
    gradient: Callable[[Array], Array],
    confidence: float,
    scalars: dict[str, Any],
    columns: tuple[str, ...] = (),
) -> Summary:
    """Estimates of the learned numbers with Wald intervals on the scale of their logarithms."""
    theta = theta_of(kernel)
    names = tuple(f"{name}[{i}]" if i else name for name, i in names_of(kernel))
    if not len(theta):
        why = "the kernel has no numbers to learn"
        return Summary(title=title, names=(), arrays={}, scalars=scalars, valid=False, reason=why)
    information = curvature(gradient, theta)
    values = np.linalg.eigvalsh(information)
    inside = ~np.isclose(bounds_of(kernel), theta[:, None]).any(axis=1)
    error = np.full(len(theta), np.nan)
    if inside.any():
        part = information[np.ix_(inside, inside)]
        if np.linalg.eigvalsh(part)[0] > 0:
            error[inside] = np.sqrt(np.diag(np.linalg.inv(part)))
    cut = ndtri(0.5 + confidence / 2)
    arrays = {
        "estimate": np.exp(theta),
        "standard_error": error,
        "low": np.exp(theta - cut * error),
        "high": np.exp(theta + cut * error),
    }
    valid = bool(np.isfinite(error).all())
    why = "" if valid else "a number is at its bound, or the evidence has no maximum there"
    notes: tuple[str, ...] = ("standard errors are those of the logarithms", FEW)
    notes = notes if valid else ()
    notes += (f"confidence {confidence:g}",)
    notes += (f"columns: {', '.join(columns)}",) * bool(columns)
    scalars = {**scalars, "least curvature": float(values[0])}
    return Summary(
        title=title,
        names=names,
        arrays=arrays,
        scalars=scalars,
        valid=valid,
        reason=why,
        notes=notes,
    )
