r"""Exploration: how an agent that learns chooses its actions, and how far each step goes.

    Greedy                 argmax_a Q(s, a)
    EpsilonGreedy          with probability epsilon x decay^episode any action, else greedy
    OptimisticExploration  argmax_a f(Q(s, a), N(s, a)),  f(u, n) = R+ while n < N_e, else u

Any function f(u, n) that rises in u and falls in n serves as well. Ties are broken at random while
learning. Step sizes a_n: with sum a_n = inf and sum a_n^2 < inf (such as 1/n) the values of tables
converge; a constant rate keeps following and stays noisy.

References: Russell & Norvig, Artificial Intelligence, ch. 22; Robbins & Monro (1951).
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from pellucid.core import check
from pellucid.core.typing import Array, ArrayLike

ExplorationFunction = Callable[[Array, Array], Any]


class Greedy(NamedTuple):
    """Always the action that looks best.

    >>> Greedy()
    Greedy()
    """

    def settings(self) -> "Settings":
        return Settings(0.0, 1.0, 0.0, 0.0, 0)


class EpsilonGreedy(NamedTuple):
    """Any action with probability epsilon, else the one that looks best.

    Parameters
    ----------
    epsilon : float in [0, 1], default=0.1
        A random action may be the greedy one.
    decay : float in (0, 1], default=1.0
        Factor per episode.
    minimum : float in [0, 1], default=0.0

    Examples
    --------
    >>> EpsilonGreedy(1.0, decay=0.5, minimum=0.2).rate(1), EpsilonGreedy(1.0, 0.5, 0.2).rate(9)
    (0.5, 0.2)
    """

    epsilon: float = 0.1
    decay: float = 1.0
    minimum: float = 0.0

    def rate(self, episode: int) -> float:
        """The probability of a random action in this episode (the first is 0)."""
        return max(self.epsilon * self.decay**episode, self.minimum)

    def settings(self) -> "Settings":
        check.non_negative(epsilon=self.epsilon, minimum=self.minimum)
        check.positive(decay=self.decay)
        for name, value in self._asdict().items():
            if value > 1:
                raise ValueError(f"{name} of EpsilonGreedy must be at most 1, got {value!r}")
        return Settings(float(self.epsilon), float(self.decay), float(self.minimum), 0.0, 0)


class OptimisticExploration(NamedTuple):
    """Believe in what was tried less than ``n_visits`` times.

    Parameters
    ----------
    optimistic_reward : float, default=1.0
        R+, an estimate of the best that can be had.
    n_visits : int, default=5

    Examples
    --------
    >>> OptimisticExploration(2.0, n_visits=3).value([0.5, 0.5], [2, 3])
    array([2. , 0.5])
    """

    optimistic_reward: float = 1.0
    n_visits: int = 5

    def value(self, u: ArrayLike, n: ArrayLike) -> Any:
        """R+ while n < n_visits, else u."""
        found = np.where(np.asarray(n) < self.n_visits, float(self.optimistic_reward), u)
        return found if found.ndim else float(found)

    def settings(self) -> "Settings":
        check.whole(at_least=0, n_visits=self.n_visits)
        if not isinstance(self.optimistic_reward, Real) or not np.isfinite(self.optimistic_reward):
            raise ValueError(
                f"optimistic_reward must be a finite number, got {self.optimistic_reward!r}"
            )
        return Settings(0.0, 1.0, 0.0, float(self.optimistic_reward), int(self.n_visits))


class Settings(NamedTuple):
    """An exploration rule as the compiled loop sees it."""

    epsilon: float
    decay: float
    minimum: float
    optimistic: float
    n_visits: int


def exploration_settings(exploration: Any) -> Settings | None:
    """The numbers of a rule; None for a function f(u, n), which runs in Python."""
    if isinstance(exploration, Greedy | EpsilonGreedy | OptimisticExploration):
        return exploration.settings()
    if callable(exploration):
        return None
    raise TypeError(
        "exploration must be Greedy(), EpsilonGreedy(...), OptimisticExploration(...) or a "
        f"function f(u, n), got {exploration!r}"
    )


def describe_exploration(exploration: Any) -> str:
    """In words, for the card."""
    if isinstance(exploration, Greedy):
        return "always the best action so far"
    if isinstance(exploration, EpsilonGreedy):
        e, decay, low = exploration
        fading = f" x {decay:g}^episode" if decay < 1 else ""
        least = f", at least {low:g}" if low > 0 else ""
        return f"a random action with probability {e:g}{fading}{least}"
    if isinstance(exploration, OptimisticExploration):
        reward, n = exploration
        return f"an action tried less than {n} times counts as worth {reward:g}"
    return "an exploration function f(u, n)"


def check_step_size(step_size: Any, *, tabular: bool) -> None:
    """Refuse what is no rate; a table's rate is at most 1."""
    if callable(step_size) or (isinstance(step_size, str) and step_size == "1/n"):
        return
    if isinstance(step_size, str) or not isinstance(step_size, Real):
        raise ValueError(
            f"step_size must be a number > 0, '1/n' or a function of n, got {step_size!r}"
        )
    check.positive(step_size=step_size)
    if tabular and float(step_size) > 1:
        raise ValueError(f"step_size of a table must be at most 1, got {step_size!r}")


def compiled_rate(step_size: Any) -> float | None:
    """The constant rate, 0 for 1/n, None for a function."""
    if callable(step_size):
        return None
    return 0.0 if isinstance(step_size, str) else float(step_size)


def rate_at(step_size: Any, n: int) -> float:
    """The rate of the n-th update (n = 1, 2, ...).

    >>> rate_at("1/n", 4), rate_at(0.1, 4), rate_at(lambda n: 60 / (59 + n), 1)
    (0.25, 0.1, 1.0)
    """
    if isinstance(step_size, str):
        return 1.0 / n
    rate = float(step_size(n)) if callable(step_size) else float(step_size)
    if not 0 < rate < np.inf:
        raise ValueError(f"step_size({n}) must be a number > 0, got {rate!r}")
    return rate


def step_size_note(step_size: Any) -> tuple[str, ...]:
    """What the card says of a rate that does not fall."""
    if callable(step_size) or isinstance(step_size, str):
        return ()
    return (
        f"the constant step size {step_size:g} follows a changing world but keeps the noise: "
        "no convergence to a point",
    )
