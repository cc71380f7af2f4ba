r"""Effective sample size: how many independent draws the dependent ones are worth.

Define      N / (1 + 2 sum_(t>=1) rho_t), rho_t the correlation of draws t steps apart
Step        the variance of a mean of N dependent draws is (s^2 / N)(1 + 2 sum rho_t), that of n
            independent ones s^2 / n: equate. Estimate rho_t from all chains together, with V of
            R-hat as the variance; stop the sum where rho_2k + rho_2k+1 turns negative and let these
            pairs only fall (Geyer, 1992), as the far correlations are noise.
Cost        m n^2 as written here.
The fast version uses the fast Fourier transform, and knows sizes for the bulk and the tails.
"""

import numpy as np


def effective_sample_size(draws: np.ndarray) -> float:
    """Of draws (chains, draws), each chain split into halves."""
    half = draws.shape[1] // 2
    x = np.concatenate([draws[:, :half], draws[:, -half:]])
    m, n = x.shape
    d = x - x.mean(axis=1, keepdims=True)
    covariance = np.array([(d[:, : n - t] * d[:, t:]).sum(axis=1).mean() / n for t in range(n)])
    W = covariance[0] * n / (n - 1)
    V = (n - 1) / n * W + x.mean(axis=1).var(ddof=1)
    rho = 1 - (W - covariance) / V
    rho[0] = 1.0
    total, least, t = -1.0, np.inf, 0
    while t + 4 < n and rho[t] + rho[t + 1] >= 0:
        least = min(least, rho[t] + rho[t + 1])
        total += 2 * least
        t += 2
    total += max(rho[t], 0.0)  # half of the pair that broke off
    return float(m * n / max(total, 1 / np.log10(m * n)))
