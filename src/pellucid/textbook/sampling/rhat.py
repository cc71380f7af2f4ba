r"""R-hat: do several chains agree on where they are?

Define      m chains of n draws: W = mean of their variances, B/n = variance of their means,
            R-hat = sqrt(((n - 1)/n W + B/n) / W)
Step        if all chains have found the same density, their means differ only by chance and
            ((n - 1)/n W + B/n) estimates the same variance as W: the ratio is near 1. Chains that
            sit in different places make B large. Cut each chain in two: one
            that drifts disagrees with itself.
Cost        m n.
The fast version can compare ranks in the place of values, against heavy tails.
"""

import numpy as np


def rhat(draws: np.ndarray) -> float:
    """Of draws (chains, draws), each chain split into halves."""
    half = draws.shape[1] // 2
    halves = np.concatenate([draws[:, :half], draws[:, -half:]])
    W = halves.var(axis=1, ddof=1).mean()
    between = halves.mean(axis=1).var(ddof=1)  # B / n
    return float(np.sqrt((half - 1) / half + between / W))
