r"""Monte Carlo evaluation: the worth of a state is the mean of the returns that followed it.

Given       episodes of a policy, each a list of (state, reward), and the discount g
Solve       U(s) = E[r_t + g r_{t+1} + g^2 r_{t+2} + .. | s_t = s]
Step        backwards, G_t = r_t + g G_{t+1}. The mean of the first return of s in each episode is
            unbiased, and these returns are independent; the law of large numbers does the rest.
            Nothing is assumed of the states.
Cost        one addition per step.
The fast version forgets old episodes if asked, and gives standard errors.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    U: np.ndarray  # (S,) 0 where never visited
    visits: np.ndarray  # (S,)


def updates(episodes: list[list[tuple[int, float]]], S: int, g: float) -> Iterator[State]:
    """The means after each episode."""
    U, visits = np.zeros(S), np.zeros(S)
    for episode in episodes:
        first, G = {}, 0.0
        for s, r in reversed(episode):
            G = r + g * G
            first[s] = G  # an earlier visit overwrites a later one
        for s, G in first.items():
            visits[s] += 1
            U[s] += (G - U[s]) / visits[s]  # the mean, one number at a time
        yield State(U.copy(), visits.copy())


def monte_carlo(episodes: list[list[tuple[int, float]]], S: int, g: float) -> State:
    *_, last = updates(episodes, S, g)
    return last
