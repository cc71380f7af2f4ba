r"""Learning rates as functions of the update number t = 0, 1, ...

    Constant(c)                   c
    LinearDecay(a, z, tau)        (1 - t/tau) a + (t/tau) z up to tau, then z
    InverseScaling(a, p)          a / (t + 1)^p
    ExponentialDecay(a, d)        a d^t
    StepDecay(a, f, k)            a f^floor(t / k)
    Optimal(alpha)                1 / (alpha (t0 + t)),  t0 = 1 / (alpha sqrt(1 / sqrt(alpha)))
    Cosine(a, z, tau)             z + (a - z) (1 + cos(pi t / tau)) / 2 up to tau, then z
    Adaptive(a, f, k)             a, divided by f after k epochs without progress

Robbins and Monro's conditions for a stochastic descent to reach a minimum are sum rate = infinity
and sum rate^2 < infinity; ``robbins_monro`` says whether they hold.

References: Robbins & Monro (1951); Bottou (2012) for ``Optimal``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike


class Schedule(BaseEstimator, ABC):
    """Base of the schedules: a callable of the update number, a number or an array."""

    robbins_monro = False
    patience: int | None = None  # epochs without progress before the rate is cut; None: never
    factor = 1.0
    _ranges: tuple[tuple[Callable[..., None], str], ...] = ()  # the check of each parameter

    def validate(self) -> None:
        """Raise ValueError where a parameter is out of range."""
        for in_range, name in self._ranges:
            in_range(**{name: getattr(self, name)})

    @abstractmethod
    def __call__(self, t: ArrayLike) -> Any:
        """The rate of update t."""

    def rates(self, t: int, count: int) -> Array:
        """The rates of updates t, ..., t + count - 1."""
        return np.asarray(self(np.arange(t, t + count)), dtype=np.float64)


class Constant(Schedule):
    """The same rate always.

    >>> from pellucid.solvers import Constant
    >>> Constant(0.1)(7)
    0.1

    Parameters
    ----------
    rate : float, default=0.01
        The rate.
    """

    _ranges = ((check.positive, "rate"),)

    def __init__(self, rate: float = 0.01) -> None:
        self.rate = rate

    def __call__(self, t: ArrayLike) -> Any:
        rate = float(self.rate)
        return rate if isinstance(t, int) or not np.ndim(t) else np.full(np.shape(t), rate)


class LinearDecay(Schedule):
    """From ``start`` to ``end`` in ``steps`` updates, then ``end``.

    >>> from pellucid.solvers import LinearDecay
    >>> [round(LinearDecay(0.1, 0.01, 100)(t), 6) for t in (0, 50, 99, 100)]
    [0.1, 0.055, 0.0109, 0.01]

    Parameters
    ----------
    start, end, steps : float, float, int
        First rate, last rate, and updates between them.
    """

    _ranges = ((check.positive, "start"), (check.non_negative, "end"), (check.whole, "steps"))

    def __init__(self, start: float, end: float, steps: int) -> None:
        self.start = start
        self.end = end
        self.steps = steps

    def __call__(self, t: ArrayLike) -> Any:
        share = np.minimum(np.asarray(t) / self.steps, 1.0)
        return _plain((1 - share) * self.start + share * self.end)


class InverseScaling(Schedule):
    """start / (t + 1)^power; power in (1/2, 1] meets Robbins and Monro's conditions.

    >>> from pellucid.solvers import InverseScaling
    >>> InverseScaling(0.1, 0.5)(3), InverseScaling(0.1, 1.0).robbins_monro
    (0.05, True)

    Parameters
    ----------
    start, power : float
        First rate, and exponent >= 0.
    """

    _ranges = ((check.positive, "start"), (check.non_negative, "power"))

    def __init__(self, start: float, power: float = 0.5) -> None:
        self.start = start
        self.power = power

    @property
    def robbins_monro(self) -> bool:  # type: ignore[override]
        return 0.5 < self.power <= 1

    def __call__(self, t: ArrayLike) -> Any:
        return _plain(self.start / (np.asarray(t, dtype=np.float64) + 1) ** self.power)


class ExponentialDecay(Schedule):
    """start decay^t.

    >>> from pellucid.solvers import ExponentialDecay
    >>> ExponentialDecay(1.0, 0.5)(3)
    0.125

    Parameters
    ----------
    start, decay : float
        First rate, and factor per update between 0 and 1.
    """

    _ranges = ((check.positive, "start"), (check.fraction, "decay"))

    def __init__(self, start: float, decay: float) -> None:
        self.start = start
        self.decay = decay

    def __call__(self, t: ArrayLike) -> Any:
        return _plain(self.start * self.decay ** np.asarray(t, dtype=np.float64))


class StepDecay(Schedule):
    """start factor^floor(t / every).

    >>> from pellucid.solvers import StepDecay
    >>> StepDecay(1.0, 0.5, 10)(25)
    0.25

    Parameters
    ----------
    start, factor, every : float, float, int
        First rate, factor between 0 and 1, and updates between two steps.
    """

    _ranges = ((check.positive, "start"), (check.fraction, "factor"), (check.whole, "every"))

    def __init__(self, start: float, factor: float = 0.5, every: int = 10) -> None:
        self.start = start
        self.factor = factor
        self.every = every

    def __call__(self, t: ArrayLike) -> Any:
        return _plain(self.start * self.factor ** (np.asarray(t) // self.every).astype(float))


class Optimal(Schedule):
    """1 / (alpha (t0 + t)) for a penalty alpha/2 |w|^2, scikit-learn's "optimal".

    >>> from pellucid.solvers import Optimal
    >>> round(Optimal(0.0001)(0), 6), Optimal(0.0001).robbins_monro
    (10.0, True)

    Parameters
    ----------
    alpha : float, default=0.0001
        Strength of the penalty, > 0.
    """

    _ranges = ((check.positive, "alpha"),)
    robbins_monro = True

    def __init__(self, alpha: float = 0.0001) -> None:
        self.alpha = alpha

    def __call__(self, t: ArrayLike) -> Any:
        typical = np.sqrt(1 / np.sqrt(self.alpha))
        return _plain(1 / (self.alpha * (1 / (typical * self.alpha) + np.asarray(t))))


class Cosine(Schedule):
    """Half a cosine from ``start`` down to ``end`` in ``steps`` updates, then ``end``.

    >>> from pellucid.solvers import Cosine
    >>> [round(Cosine(0.1, 0.0, 100)(t), 4) for t in (0, 50, 100)]
    [0.1, 0.05, 0.0]

    Parameters
    ----------
    start, end, steps : float, float, int
        First rate, last rate, and updates between them.
    """

    _ranges = ((check.positive, "start"), (check.non_negative, "end"), (check.whole, "steps"))

    def __init__(self, start: float, end: float, steps: int) -> None:
        self.start = start
        self.end = end
        self.steps = steps

    def __call__(self, t: ArrayLike) -> Any:
        share = np.minimum(np.asarray(t) / self.steps, 1.0)
        return _plain(self.end + (self.start - self.end) * (1 + np.cos(np.pi * share)) / 2)


class WarmUp(Schedule):
    """A straight climb from 0 to the first rate of ``schedule`` in ``steps`` updates before it.

    >>> from pellucid.solvers import Constant, WarmUp
    >>> [WarmUp(Constant(0.1), 4)(t) for t in (0, 1, 3, 9)]
    [0.025, 0.05, 0.1, 0.1]

    Parameters
    ----------
    schedule, steps : Schedule, int
        What follows, and updates before it.
    """

    def __init__(self, schedule: Schedule, steps: int) -> None:
        self.schedule = schedule
        self.steps = steps

    def validate(self) -> None:
        """Raise ValueError where a parameter is out of range."""
        check.whole(steps=self.steps)
        self.schedule.validate()

    @property
    def robbins_monro(self) -> bool:  # type: ignore[override]
        return bool(self.schedule.robbins_monro)

    def __call__(self, t: ArrayLike) -> Any:
        t = np.asarray(t)
        later = self.schedule(np.maximum(t - self.steps, 0))
        return _plain(np.where(t < self.steps, (t + 1) / self.steps * self.schedule(0), later))


class Adaptive(Schedule):
    """``start``, divided by ``factor`` whenever ``patience`` epochs in a row bring no progress.

    Progress is a fall of the epoch's value by more than the solver's ``tol`` below the best one;
    below 1e-6 the solver stops. The meaning is that of scikit-learn's "adaptive".

    >>> from pellucid.solvers import Adaptive
    >>> Adaptive(0.1)(1000)
    0.1

    Parameters
    ----------
    start, factor, patience : float, float, int
        First rate, divisor, and epochs without progress.
    """

    _ranges = ((check.positive, "start"), (check.whole, "patience"))

    def __init__(self, start: float, factor: float = 5.0, patience: int = 5) -> None:
        self.start = start
        self.factor = factor
        self.patience = patience

    def validate(self) -> None:
        """Raise ValueError where a parameter is out of range."""
        super().validate()
        if not self.factor > 1:
            raise ValueError(f"factor must be > 1, got {self.factor!r}")

    def __call__(self, t: ArrayLike) -> Any:
        return self.start + 0.0 * np.asarray(t) if np.ndim(t) else float(self.start)


def _plain(rate: Any) -> Any:
    return float(rate) if np.ndim(rate) == 0 else rate
