r"""Rademacher complexity: how well a class can follow pure noise.

Define      R = E max_f (1/n) sum_i s_i f(x_i), s_i = +1 or -1 by a fair coin
Step        a class that fits noise would fit anything, so a good fit proves nothing. With
            probability 1 - d, L <= L_train + 2 R + 4 sqrt((2 / n) log(4 / d)), R of the losses
            (symmetrisation: the gap between two samples is the same with signs in front). It
            depends on these points, where the VC dimension expects the worst ones.
Cost        2^n signs exactly, or as many as one draws.
The fast version uses each sign with its opposite, which halves the work and the noise.
"""

from itertools import product

import numpy as np


def rademacher_complexity(outputs: np.ndarray) -> float:
    """Exactly, from what each function says of each point, shape (functions, n)."""
    n = outputs.shape[1]
    best = [max(outputs @ np.array(signs)) for signs in product([-1, 1], repeat=n)]
    return float(np.mean(best) / n)
