r"""Minka's evidence: how many directions probabilistic PCA should have.

Maximise    log p(X | d), the likelihood with W, m and s integrated out, over d
Step        integrate by Laplace's method around the maximum. With eigenvalues l of S, s the mean
            of those after d, k = d (2p - d - 1) / 2 free angles and l~ = l up to d, s after:
            log p(X | d) = log p(U) - n/2 (sum_(j<=d) log l_j + (p - d) log s) - d/2 log n
            + (k + d)/2 log 2 pi - sum_(i<=d, j>i) log n (1/l~_j - 1/l~_i)(l_i - l_j) / 2
            with the prior of the angles log p(U) = -d log 2 + sum_j log G(a_j) - a_j log pi,
            a_j = (p - j + 1) / 2. More directions fit better and cost volume.
Cost        p^3 for all d.
The fast version is the same sum.
"""

import numpy as np
from scipy.special import gammaln


def minka_evidence(lam: np.ndarray, d: int, n: int) -> float:
    """log p(X | d) up to a constant, from all p eigenvalues lam, falling, for 1 <= d < p."""
    p = len(lam)
    a = (p - np.arange(1, d + 1) + 1) / 2
    log_prior = -d * np.log(2) + (gammaln(a) - a * np.log(np.pi)).sum()
    s = lam[d:].mean()
    fit = -n / 2 * (np.log(lam[:d]).sum() + (p - d) * np.log(s))
    k = d * (2 * p - d - 1) / 2
    inner = np.where(np.arange(p) < d, lam, s)  # l~
    log_A = sum(
        np.log(n * (1 / inner[j] - 1 / inner[i]) * (lam[i] - lam[j]))
        for i in range(d)
        for j in range(i + 1, p)
    )
    return float(log_prior + fit + (k + d) / 2 * np.log(2 * np.pi) - log_A / 2 - d / 2 * np.log(n))
