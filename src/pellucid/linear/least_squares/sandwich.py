r"""Standard errors that do not need equal, independent noise: the sandwich.

    Cov(b) = (D'D)^-1 D' Omega D (D'D)^-1,      D'Omega D estimated by

    HC0   sum e_i^2 d_i d_i'                     White
    HC1   n/(n - q) of it
    HC2   e_i^2/(1 - h_i)                        unbiased under equal noise
    HC3   e_i^2/(1 - h_i)^2                      nearly the jackknife: the safe one for small n
    cluster   sum_g s_g s_g',  s_g = sum_{i in g} e_i d_i,  times  G/(G - 1) (n - 1)/(n - q)
    CR2   s_g = D_g'(I - H_gg)^(-1/2) e_g        unbiased under equal noise: for few clusters

With (D'D)^-1 = T T' and scores z_i = T'd_i the sandwich is T (sum e_i^2 z_i z_i') T'. A row of
weight w counts as w equal rows (in one cluster, if there are clusters).

CR2 needs no matrix of the size of a cluster: with M_g = Z_g'Z_g, Z_g'(I - H_gg)^(-1/2) is
(I - M_g)^(-1/2) Z_g'. Its errors have fewer degrees of freedom than clusters: for l'b those of
Satterthwaite are (tr P)^2/tr P^2 with P_gh = u_g'(M_g [g = h] - M_g M_h) u_h and
u_g = (I - M_g)^(-1/2) T'l.

References: White (1980); MacKinnon & White (1985); Liang & Zeger (1986); Bell & McCaffrey (2002);
Pustejovsky & Tipton (2018).
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray

COVARIANCES = ("nonrobust", "HC0", "HC1", "HC2", "HC3", "cluster", "CR2")
CLUSTERED = ("cluster", "CR2")
FEW = 20  # clusters below which the user is told


class Sandwich(NamedTuple):
    """A robust covariance of all parameters, and the degrees of freedom of its t-tests."""

    covariance: Array  # (k, q, q)
    df: Any  # a number, or one for each parameter (q,)
    clusters: int = 0  # 0 without clusters


def heteroscedastic(
    Z: Array, T: Array, E: Array, w: Array, leverage: Array, df: float, kind: str
) -> Sandwich:
    """HC0 to HC3 of residuals E (n, k).

    >>> one = np.ones(1)
    >>> heteroscedastic(one[:, None], np.eye(1), np.array([[2.0]]), one, 0 * one, 0.0, "HC0")
    Sandwich(covariance=array([[[4.]]]), df=1.0, clusters=0)
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
    if (groups is None) == (kind in CLUSTERED):
        raise ValueError("covariance='cluster' or 'CR2' needs groups, and the others take none")


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
    return Sandwich(T @ meat @ T.T, float(G - 1), G)


def bias_reduced(Z: Array, T: Array, E: Array, w: Array, codes: IntArray) -> Sandwich:
    """Bell and McCaffrey's CR2 with Satterthwaite's degrees of freedom for every parameter."""
    G, r, root = int(codes.max()) + 1, Z.shape[1], np.sqrt(w)[:, None]
    order = np.argsort(codes, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(codes, minlength=G))[:-1])
    meat, P = np.zeros((E.shape[1], r, r)), []
    for rows in parts:
        Zg, Eg = root[rows] * Z[rows], root[rows] * E[rows]
        M = Zg.T @ Zg
        values, vectors = np.linalg.eigh(np.eye(r) - M)
        power = np.where(values > 1e-10, np.maximum(values, 1e-10) ** -0.5, 0.0)  # pseudo-inverse
        adjust = (vectors * power) @ vectors.T
        s = adjust @ (Zg.T @ Eg)  # (r, k)
        meat += s.T[:, :, None] * s.T[:, None, :]
        P.append((adjust @ T.T, M @ adjust @ T.T))  # u_g and M_g u_g of every parameter
    U, V = np.array([u for u, _ in P]), np.array([v for _, v in P])  # (G, r, q)
    own = (U * V).sum(axis=1)  # (G, q)
    size = (V**2).sum(axis=1)
    gram = np.einsum("grq,gsq->qrs", V, V, optimize=True)
    trace = (own - size).sum(axis=0)
    squares = (own**2 - 2 * own * size).sum(axis=0) + (gram**2).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        df = trace**2 / squares
    return Sandwich(T @ meat @ T.T, df, G)


def cautions(kind: str, found: Sandwich, n: float) -> list[str]:
    """What to bear in mind about robust errors of this kind, with these data."""
    G = found.clusters
    if kind == "CR2":
        low, high = np.nanmin(found.df), np.nanmax(found.df)
        said = [
            f"tests and intervals are Student's with {low:.3g} to {high:.3g} degrees of freedom"
        ]
        few = f"only {G} clusters: the errors are themselves uncertain"
        return said + ([few] if G < FEW else [])
    if G and G < FEW:
        return [f"only {G} clusters: these errors are too small; use covariance='CR2'"]
    if kind in ("HC0", "HC1", "HC2"):
        return [f"{kind} is too small for few rows (here {n:g}): HC3 is safer"]
    return []


def robust_wald(b: Array, C: Array) -> float:
    """F statistic b'C^-1 b/q of b = 0."""
    return float(b @ np.linalg.solve(C, b) / len(b))
