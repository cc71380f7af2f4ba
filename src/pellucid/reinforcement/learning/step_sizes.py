r"""Step sizes: how far the n-th update of a value goes (n = 1, 2, ...).

    a number a             a_n = a
    "1/n"                  a_n = 1/n
    a schedule             a_n = schedule(n - 1);  InverseScaling(1.0, w): n^-w
    any other function f   a_n = f(n)

With sum a_n = inf and sum a_n^2 < inf (1/n, n^-w for 1/2 < w <= 1) the values of tables converge; a
constant rate keeps following and stays noisy. Values that lean on other values forget their first
guesses only like n^-(1-g) with 1/n: n^-0.7 is nearer the truth after as many steps.

Compiled loops see numbers, not functions: a function is asked once for every n and its answers are
kept in a table, somewhat longer than the visits so far.

References: Robbins & Monro (1951); Even-Dar & Mansour (2003) for n^-w.
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.solvers.schedules import Schedule

EMPTY = np.zeros(0)
AHEAD = 1000  # rates asked for beyond those that the next episode may need


StepSize = float | Literal["1/n"] | BaseEstimator | Callable[[int], float]


class Pace(NamedTuple):
    """A step size as the compiled loops see it."""

    rate: float  # above 0: that number; 0: 1/n; below 0: rates[n]
    rates: Array


class RateTable:
    """The rates a_1, a_2, ... of a function; asked once for each n.

    >>> table = RateTable()
    >>> table.at("1/n", 4), table.at(0.1, 4), table.at(lambda n: 60 / (59 + n), 1)
    (0.25, 0.1, 1.0)
    >>> visits = np.array([3])
    >>> table.pace(0.1, visits, 10).rate, len(table.pace(lambda n: 1 / n, visits, 10).rates)
    (0.1, 1017)
    """

    def __init__(self) -> None:
        self._key: Any = None
        self._rates, self._seen = np.zeros(1), 0  # a_0 is never asked for

    def at(self, step_size: Any, n: int) -> float:
        """The rate of the n-th update."""
        if isinstance(step_size, str):
            return 1.0 / n
        if isinstance(step_size, Schedule):  # from the table: powers of arrays have their own bits
            rate = float(self._upto(step_size, n, 2 * n)[n])
        else:
            rate = float(step_size(n)) if callable(step_size) else float(step_size)
        if not 0 < rate < np.inf:
            _refuse(n, rate)
        return rate

    def pace(self, step_size: Any, visits: IntArray, max_steps: int) -> Pace:
        """Enough rates for at least one more episode after so many visits."""
        if isinstance(step_size, str):
            return Pace(0.0, EMPTY)
        if not callable(step_size):
            return Pace(float(step_size), EMPTY)
        top = int(visits.max(initial=0))
        return Pace(-1.0, self._upto(step_size, top + max_steps, 2 * top + max_steps + AHEAD))

    def check(self, step_size: object, visits: IntArray) -> None:
        """Refuse rates that were used and are none."""
        if not callable(step_size):
            return
        top = min(int(visits.max(initial=0)), len(self._rates) - 1)
        used = self._rates[self._seen + 1 : top + 1]
        bad = np.flatnonzero(~((used > 0) & (used < np.inf)))
        if len(bad):
            _refuse(self._seen + 1 + int(bad[0]), float(used[bad[0]]))
        self._seen = max(top, self._seen)

    def _upto(self, function: Any, n: int, more: int) -> Array:
        """A table whose last index is at least n; ``more`` where it has to grow."""
        schedule = isinstance(function, Schedule)
        key = (type(function), function.get_params()) if schedule else function
        if key != self._key:
            self._key, self._rates, self._seen = key, np.zeros(1), 0
        first = len(self._rates)
        if first <= n:
            if schedule:
                new = function.rates(first - 1, more + 1 - first)
            else:
                new = np.fromiter(map(function, range(first, more + 1)), np.float64)
            self._rates = np.concatenate([self._rates, new])
        return self._rates


def _refuse(n: int, rate: float) -> None:
    raise ValueError(f"step_size({n}) must be a number > 0, got {rate!r}")


def check_step_size(step_size: object, *, tabular: bool) -> None:
    """Refuse what is no rate; a table's rate is at most 1."""
    if isinstance(step_size, Schedule):
        step_size.validate()
    if callable(step_size) or (isinstance(step_size, str) and step_size == "1/n"):
        return
    if isinstance(step_size, str) or not isinstance(step_size, Real):
        kinds = "a number > 0, '1/n', a schedule or a function of n"
        raise ValueError(f"step_size must be {kinds}, got {step_size!r}")
    check.positive(step_size=step_size)
    if tabular and float(step_size) > 1:
        raise ValueError(f"step_size of a table must be at most 1, got {step_size!r}")


def step_size_note(step_size: object) -> tuple[str, ...]:
    """What the card says of a rate that does not fall."""
    if callable(step_size) or isinstance(step_size, str):
        return ()
    return (
        f"the constant step size {step_size:g} follows a changing world but keeps the noise: "
        "no convergence to a point",
    )
