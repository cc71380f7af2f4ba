r"""Dropout: leave units out at random while training.

Model       in training a = m x / (1 - r), m = 1 with probability 1 - r, else 0, anew for every
            number; in prediction a = x
Step        E[a] = x, so that the two agree on average. No unit can rely on another being there; for
            a linear unit with squared loss the mean over m is (t - w.x)^2 + r / (1 - r) sum w_j^2
            x_j^2: a penalty on the weights, in units of the data. Back: d loss/dx = m d / (1 - r).
Cost        one draw per number.
The fast version draws the noise of a batch from its number, so that results do not depend on
threads.
"""

import numpy as np


def dropout(x: np.ndarray, r: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The output, and the mask by which the derivative is multiplied on the way back."""
    mask = (rng.random(x.shape) >= r) / (1 - r)
    return x * mask, mask
