r"""Learning rates: how the step shrinks as descent goes on.

Given       the number t = 0, 1, .. of the step
Define      inverse a / (t + 1)^p;  exponential a d^t;  cosine z + (a - z)(1 + cos(pi t / T)) / 2
Step        noisy gradients ask for steps that shrink, or x never settles. a / (t + 1)^p with
            1/2 < p <= 1 shrinks slowly enough to get anywhere (sum = infinity) and fast enough to
            average the noise away (sum of squares finite); the other two stop at a finite place,
            fast, which serves networks well.
Cost        none.
The fast version has more of them, and says which ones converge for sure.
"""

from collections.abc import Callable

import numpy as np


def learning_rates(
    kind: str, start: float, p: float = 1.0, end: float = 0.0, T: int = 100
) -> Callable[[int], float]:
    """The rate of step t for ``kind`` in inverse, exponential (p is the factor), cosine."""
    return {
        "inverse": lambda t: start / (t + 1) ** p,
        "exponential": lambda t: start * p**t,
        "cosine": lambda t: end + (start - end) * (1 + np.cos(np.pi * min(t / T, 1))) / 2,
    }[kind]
