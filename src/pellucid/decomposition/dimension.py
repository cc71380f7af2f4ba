r"""How many components: a number, a share of the variance, or the most probable dimension.

Minka's evidence of d dimensions (Laplace's approximation, eigenvalues l_1 >= .. >= l_p of the
covariance, m = p d - d (d + 1)/2, v the mean of the dropped ones, l^ = l up to d and v beyond):

    log p(D | d) = -d log 2 + sum_{i<=d} [log Gamma(q_i) - q_i log pi]      q_i = (p - i + 1)/2
                   - n/2 sum_{i<=d} log l_i - n (p - d)/2 log v
                   + (m + d)/2 log 2 pi - 1/2 log |A| - d/2 log n
    log |A|      = sum_{i<=d} sum_{j>i} log[(1/l^_j - 1/l^_i)(l_i - l_j)] + log n

Reference: Minka (2000), Automatic choice of dimensionality for PCA.
"""

from typing import Any

import numpy as np
from scipy.special import gammaln

from pellucid.core.arrays.typing import Array

SMALL = 1e-15  # of the largest: a smaller eigenvalue leaves the evidence without meaning


def log_evidence(eigenvalues: Array, d: int, n: float) -> float:
    """log p(D | d) for 1 <= d < p."""
    p, least = len(eigenvalues), SMALL * float(eigenvalues[0])
    if not eigenvalues[d - 1] > least:
        return -np.inf
    half = (p - np.arange(d)) / 2
    v = max(least, float(eigenvalues[d:].mean()))
    m = p * d - d * (d + 1) / 2
    fitted = np.where(np.arange(p) < d, eigenvalues, v)
    i, j = np.triu_indices(p, 1)
    i, j = i[i < d], j[i < d]
    with np.errstate(divide="ignore", invalid="ignore"):  # equal eigenvalues: log 0
        bends = (eigenvalues[i] - eigenvalues[j]) * (1 / fitted[j] - 1 / fitted[i])
        log_det = np.log(np.maximum(bends, 0.0)).sum() + len(i) * np.log(n)
    return float(
        -d * np.log(2)
        + (gammaln(half) - half * np.log(np.pi)).sum()
        - n / 2 * np.log(eigenvalues[:d]).sum()
        - n * (p - d) / 2 * np.log(v)
        + (m + d) / 2 * np.log(2 * np.pi)
        - log_det / 2
        - d / 2 * np.log(n)
    )


def most_probable(eigenvalues: Array, n: float) -> int:
    """The dimension of greatest evidence, from 1 to p - 1.

    >>> most_probable(np.array([9.0, 5.0, 0.11, 0.1, 0.09]), 200)
    2
    """
    found = [log_evidence(eigenvalues, d, n) for d in range(1, len(eigenvalues))]
    return int(np.argmax(found)) + 1 if found else 1


def enough(share: float, squares: Array, total: float) -> int:
    """The fewest components whose share of the variance exceeds ``share``.

    >>> enough(0.8, np.array([8.0, 1.0, 1.0]), 10.0), enough(0.79, np.array([8.0, 2.0]), 10.0)
    (2, 1)
    """
    if not total > 0:
        return 1
    reached = np.cumsum(squares) / total
    return min(int(np.searchsorted(reached, share, side="right")) + 1, len(squares))


def check_components(n_components: Any, most: int, n: int, p: int, solver: str) -> None:
    """Refuse a number that the table cannot give; ``n`` rows, ``p`` columns."""
    if isinstance(n_components, str):
        if n < p:
            only = "n_components='mle' is only supported if n_samples >= n_features"
            raise ValueError(f"{only}, got {n} x {p}")
    elif n_components is not None and n_components >= 1 and n_components > most:
        least = 0 if solver not in ("arpack", "randomized") else 1
        limit = f"must be between {least} and min(n_samples, n_features)={min(n, p)}"
        if solver == "arpack" and n_components == min(n, p):
            limit = f"must be strictly less than min(n_samples, n_features)={min(n, p)}"
        here = f"X has {n} rows and {p} columns"
        raise ValueError(f"n_components={n_components} {limit} with svd_solver={solver!r}: {here}")
