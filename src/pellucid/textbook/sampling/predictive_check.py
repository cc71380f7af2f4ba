r"""Predictive check: could the fitted model have made the data?

Given       draws of the parameters from the posterior, a way to simulate data, a statistic T
Step        draw parameters, simulate data of the same size, take T; repeat. If the model is right,
            T of the real data is one more draw of the same kind. Count how many are at least as
            large: a share near 0 or 1 says that the model cannot make what T measures.
Cost        one simulated data set per draw.
The fast version names common statistics, and gives the interval of the simulated ones.
"""

from collections.abc import Callable

import numpy as np


def predictive_check(
    x: np.ndarray,
    draws: np.ndarray,
    simulate: Callable[[np.ndarray, np.random.Generator], np.ndarray],
    T: Callable[[np.ndarray], float],
    rng: np.random.Generator,
) -> float:
    """The share of simulated data whose statistic is at least that of x."""
    simulated = np.array([T(simulate(t, rng)) for t in draws])
    return float((simulated >= T(x)).mean())
