r"""Standard errors that do not need equal, independent noise: the sandwich.

    Cov(b) = (D'D)^-1 D' Omega D (D'D)^-1,      D'Omega D estimated by

    HC0   sum e_i^2 d_i d_i'                     White
    HC1   n/(n - q) of it
    HC2   e_i^2/(1 - h_i)                        unbiased under equal noise
    HC3   e_i^2/(1 - h_i)^2                      nearly the jackknife: the safe one for small n
    cluster   sum_g s_g s_g',  s_g = sum_{i in g} e_i d_i,  times  G/(G - 1) (n - 1)/(n - q)

With (D'D)^-1 = T T' and scores z_i = T'd_i the sandwich is T (sum e_i^2 z_i z_i') T'. A row of
weight w counts as w equal rows (in one cluster, if there are clusters).

References: White (1980); MacKinnon & White (1985); Liang & Zeger (1986).
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray

COVARIANCES = ("nonrobust", "HC0", "HC1", "HC2", "HC3", "cluster")


class Sandwich(NamedTuple):
    """A robust covariance of all parameters, and the degrees of freedom of its t-tests."""

    covariance: Array  # (k, q, q)
    df: float


def heteroscedastic(
    Z: Array, T: Array, E: Array, w: Array, leverage: Array, df: float, kind: str
) -> Sandwich:
    """HC0 to HC3 of residuals E (n, k).

    >>> one = np.ones(1)
    >>> heteroscedastic(one[:, None], np.eye(1), np.array([[2.0]]), one, 0 * one, 0.0, "HC0")
    Sandwich(covariance=array([[[4.]]]), df=1.0)
    """
    n = w.sum()
    if kind in ("HC2", "HC3"):
        room = 1 - leverage
        if (room <= 1e-10).any():
            row = int(np.argmax(room <= 1e-10))
            raise ValueError(f"row {row} has leverage 1, where {kind} is undefined; use HC0 or HC1")
        E = E / (np.sqrt(room) if kind == "HC2" else room)[:, None]
    meat = np.array([(Z * (w * e**2)[:, None]).T @ Z for e in E.T])
    if kind == "HC1":
        meat *= n / (n - df)
    return Sandwich(T @ meat @ T.T, float(n - df))


def check_again(kind: str, X: Any, y: Any, groups: Any) -> None:
    """Refuse robust errors without the training data, or clusters without groups."""
    if X is None or y is None:
        again = f"summary(covariance={kind!r}, X=X, y=y)"
        raise ValueError(f"covariance={kind!r} needs the training data again: {again}")
    if (groups is None) == (kind == "cluster"):
        raise ValueError("covariance='cluster' needs groups, and the others take none")


def group_codes(groups: Any, n_rows: int) -> IntArray:
    """The group of each row as a number; there must be two of them."""
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ValueError(f"groups must have one label per row ({n_rows}), got {labels.shape}")
    codes = np.unique(labels, return_inverse=True)[1]
    if codes.max() < 1:
        raise ValueError("cluster errors need at least 2 groups, got 1")
    return codes


def clustered(Z: Array, T: Array, E: Array, w: Array, codes: IntArray, df: float) -> Sandwich:
    """Errors that are correlated within groups, independent between them."""
    G, n = int(codes.max()) + 1, w.sum()
    k, r = E.shape[1], Z.shape[1]
    scores = np.zeros((G, k, r))
    np.add.at(scores, codes, (w[:, None] * E)[:, :, None] * Z[:, None, :])
    meat = np.einsum("gkr,gks->krs", scores, scores, optimize=True)
    meat *= G / (G - 1) * (n - 1) / (n - df)
    return Sandwich(T @ meat @ T.T, float(G - 1))


def robust_wald(b: Array, C: Array) -> float:
    """F statistic b'C^-1 b/q of b = 0."""
    return float(b @ np.linalg.solve(C, b) / len(b))
