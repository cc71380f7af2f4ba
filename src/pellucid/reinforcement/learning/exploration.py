r"""Exploration: how an agent that learns chooses its actions.

    Greedy                 argmax_a Q(s, a)
    EpsilonGreedy          with probability epsilon x decay^episode any action, else greedy;
                           with a half life h also x h / (h + N(s)), N(s) the visits of the state
    OptimisticExploration  argmax_a f(Q(s, a), N(s, a)),  f(u, n) = R+ while n < N_e, else u

Any function f(u, n) that rises in u and falls in n serves as well. Ties are broken at random while
learning. With a half life the agent is greedy in the limit and yet tries every action of a state it
keeps coming back to for ever (sum 1/n = inf): then SARSA too converges to the best values.

References: Russell & Norvig, Artificial Intelligence, ch. 22; Singh, Jaakkola, Littman & Szepesvari
(2000).
"""

from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.readable import readable


@readable
class Greedy(NamedTuple):
    """Always the action that looks best.

    >>> Greedy()
    Greedy()
    """

    def settings(self) -> "Settings":
        """The numbers the compiled learners need."""
        return Settings(0.0, 1.0, 0.0)


@readable
class EpsilonGreedy(NamedTuple):
    """Any action with probability epsilon, else the one that looks best.

    Parameters
    ----------
    epsilon : float in [0, 1], default=0.1
        A random action may be the greedy one.
    decay : float in (0, 1], default=1.0
        Factor per episode.
    minimum : float in [0, 1], default=0.0
        Least value of epsilon.
    half_life : float or None, default=None
        Visits of a state after which its rate is halved, a third after twice as many and so on;
        None: the rate depends on the episode only. With a table.

    Examples
    --------
    >>> EpsilonGreedy(1.0, decay=0.5, minimum=0.2).rate(1), EpsilonGreedy(1.0, 0.5, 0.2).rate(9)
    (0.5, 0.2)
    >>> EpsilonGreedy(1.0, half_life=100).rate(0, visits=300)
    0.25
    """

    epsilon: float = 0.1
    decay: float = 1.0
    minimum: float = 0.0
    half_life: float | None = None

    def rate(self, episode: int, visits: int = 0) -> float:
        """The probability of a random action in this episode (the first is 0).

        ``visits`` are those of the state so far.
        """
        rate = self.epsilon * self.decay**episode
        if self.half_life is not None:
            rate = rate * self.half_life / (self.half_life + visits)
        return max(rate, self.minimum)

    def settings(self) -> "Settings":
        """The numbers the compiled learners need."""
        check.non_negative(epsilon=self.epsilon, minimum=self.minimum)
        check.positive(decay=self.decay)
        for name in ("epsilon", "decay", "minimum"):
            value = getattr(self, name)
            if value > 1:
                raise ValueError(f"{name} of EpsilonGreedy must be at most 1, got {value!r}")
        life = 0.0
        if self.half_life is not None:
            check.positive(half_life=self.half_life)
            life = float(self.half_life)
        return Settings(float(self.epsilon), float(self.decay), float(self.minimum), half_life=life)


@readable
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
        """The numbers the compiled learners need."""
        check.whole(at_least=0, n_visits=self.n_visits)
        if not isinstance(self.optimistic_reward, Real) or not np.isfinite(self.optimistic_reward):
            raise ValueError(f"optimistic_reward must be finite, got {self.optimistic_reward!r}")
        return Settings(0.0, 1.0, 0.0, float(self.optimistic_reward), int(self.n_visits))


class Settings(NamedTuple):
    """An exploration rule as the compiled loop sees it."""

    epsilon: float
    decay: float
    minimum: float
    optimistic: float = 0.0
    n_visits: int = 0
    half_life: float = 0.0  # 0: none

    @property
    def counts(self) -> bool:
        """Whether the visits of states are looked at."""
        return self.n_visits > 0 or self.half_life > 0


Exploration = Greedy | EpsilonGreedy | OptimisticExploration | Callable[[Any, Any], Any] | None


def exploration_settings(exploration: object) -> Settings | None:
    """The numbers of a rule; None for a function f(u, n), which runs in Python."""
    if isinstance(exploration, Greedy | EpsilonGreedy | OptimisticExploration):
        return exploration.settings()
    if callable(exploration):
        return None
    raise TypeError(
        "exploration must be Greedy(), EpsilonGreedy(...), OptimisticExploration(...) or a "
        f"function f(u, n), got {exploration!r}"
    )


def describe_exploration(exploration: object) -> str:
    """Describe the exploration for the card."""
    if isinstance(exploration, Greedy):
        return "always the best action so far"
    if isinstance(exploration, EpsilonGreedy):
        e, decay, low, life = exploration
        fading = f" x {decay:g}^episode" if decay < 1 else ""
        least = f", at least {low:g}" if low > 0 else ""
        fading += f" x {life:g} / ({life:g} + visits of the state)" if life is not None else ""
        return f"a random action with probability {e:g}{fading}{least}"
    if isinstance(exploration, OptimisticExploration):
        reward, n = exploration
        return f"an action tried less than {n} times counts as worth {reward:g}"
    return "an exploration function f(u, n)"
