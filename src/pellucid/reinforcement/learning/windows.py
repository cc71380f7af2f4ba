r"""Returns over several steps in Python loops: the twin of ``window_kernels``.

    G_t = r_t + g r_{t+1} + ... + g^{n-1} r_{t+n-1} + g^n V(x_{t+n}),     V(x_t) += a (G_t - V(x_t))

For environments of Gymnasium, features, functions as step sizes, and single steps.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import ArrayLike
from pellucid.reinforcement.learning.window_kernels import window_return


class Waiting(NamedTuple):
    """A step whose return is not complete yet."""

    x: Any  # what is valued
    reward: float
    after: Any  # what came next; None after the end


class Window(NamedTuple):
    """Windows of ``n`` steps; ``approach(x, G)`` moves V(x) towards G and returns the error.

    >>> V = {"a": 0.0, "b": 2.0}
    >>> window, waiting = Window(2, 0.5, V.__getitem__, lambda x, G: G - V[x]), []
    >>> window.step(waiting, "a", 1.0, "b"), window.step(waiting, "b", 1.0, "b")
    ([], [2.0])
    >>> window.settle(waiting)
    [0.0]
    """

    n: int
    discount: float
    value: Callable[[Any], float]
    approach: Callable[[Any, float], float]

    def step(self, waiting: list[Any], x: ArrayLike, reward: float, after: Any) -> list[float]:
        """Take a step; the errors of what could be learned. ``after`` is None after the end."""
        waiting.append(Waiting(x, float(reward), after))
        if after is None:
            return self.settle(waiting)
        if len(waiting) < self.n:
            return []
        paid = np.array([one.reward for one in waiting])
        G = window_return(paid, 0, len(paid), self.value(after), float(self.discount))
        return [self.approach(waiting.pop(0).x, float(G))]

    def settle(self, waiting: list[Any], *, first_visits: bool = False) -> list[float]:
        """Learn from all that wait: the process has ended, or is cut off where it is."""
        if not waiting:
            return []
        last = waiting[-1].after
        G = 0.0 if last is None else self.value(last)
        totals: list[float] = []
        for one in reversed(waiting):
            G = one.reward + self.discount * G
            totals.append(G)
        errors: list[float] = []
        met: set[Any] = set()
        for one, total in zip(waiting, reversed(totals), strict=True):
            if first_visits:
                if one.x in met:
                    continue
                met.add(one.x)
            errors.append(self.approach(one.x, total))
        waiting.clear()
        return errors


def mean_size(errors: list[float]) -> float:
    """The mean absolute error; 0 where nothing was learned.

    >>> mean_size([1.0, -3.0]), mean_size([])
    (2.0, 0.0)
    """
    return sum(map(abs, errors)) / len(errors) if errors else 0.0
