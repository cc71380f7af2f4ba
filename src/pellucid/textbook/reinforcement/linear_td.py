r"""Linear TD: values as weighted sums of features, for more states than a table holds.

Model       U(s) = w . f(s)
Step        a step of gradient descent on (target - w . f(s))^2 / 2 with the target r + g w . f(t)
            held still: w <- w + rate (r + g w . f(t) - w . f(s)) f(s). That is half a gradient: on
            the policy that is followed it converges near the best w, off it it may run away.
Cost        the number of features per step.
The fast version also learns action values so, makes features of numbers, and stops a runaway.
"""

from collections.abc import Iterator

import numpy as np


def updates(
    steps: list[tuple[int, float, int, bool]], F: np.ndarray, g: float, rate: float
) -> Iterator[np.ndarray]:
    """w after each step; row s of F (S, features) is f(s)."""
    w = np.zeros(F.shape[1])
    for s, r, t, end in steps:
        ahead = 0.0 if end else g * w @ F[t]
        w = w + rate * (r + ahead - w @ F[s]) * F[s]
        yield w


def linear_td(
    steps: list[tuple[int, float, int, bool]], F: np.ndarray, g: float, rate: float
) -> np.ndarray:
    *_, last = updates(steps, F, g, rate)
    return last
