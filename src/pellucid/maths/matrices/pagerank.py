r"""PageRank: how often a random walk on a graph is at each node.

A walker at node i follows one of its links with probability d, chosen by their weights, and with
probability 1 - d (or where a node has no link) goes on at a node drawn from v. Where it is in the
long run solves

    x = d P'x + (d x.dangling + 1 - d) v,    sum x = 1,    P_ij = A_ij / sum_j A_ij

Power iteration repeats the right side. It shrinks every error by d, so that after a step of length
s (sum of absolute changes) the answer is at most s d/(1 - d) away: the certificate.
Cost         one pass over the links per step, about ln(tol)/ln(d) steps.

References: Brin & Page (1998); Langville & Meyer (2006).
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, issparse

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import iterate
from pellucid.core.readable import readable
from pellucid.core.records import plain


@readable
class PageRank(NamedTuple):
    """The long-run shares of a random walk.

    >>> pagerank([[0, 1, 1], [1, 0, 0], [1, 0, 0]]).order.tolist()
    [0, 1, 2]
    """

    ranks: Array  # (n,) shares, their sum is 1
    order: IntArray  # nodes, the most visited first
    n_iter: int  # steps
    error: float  # largest possible sum of absolute errors

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        first = ", ".join(f"{i} ({self.ranks[i]:.3g})" for i in self.order[:5])
        return f"most visited: {first}; {self.n_iter} steps, error at most {self.error:.1e}"


def pagerank(
    adjacency: Any,
    *,
    damping: float = 0.85,
    personalization: ArrayLike | None = None,
    tol: float = 1e-12,
    max_iter: int = 1000,
) -> PageRank:
    """The share of time that a random walk spends at each node.

    ``adjacency`` (n, n), dense or sparse: entry (i, j) >= 0 is the weight of the link from i to j.
    The walk follows links with probability ``damping`` and jumps otherwise, to nodes drawn with the
    weights ``personalization`` (n,), None: all alike. The steps end when the error is at most
    ``tol``, or after ``max_iter`` with a warning.

    >>> found = pagerank([[0, 1, 0], [0, 0, 1], [0, 1, 0]])
    >>> found.ranks.round(4), found.error <= 1e-12
    (array([0.05  , 0.4865, 0.4635]), True)
    """
    check.fraction(damping=damping)
    check.positive(tol=tol)
    check.whole(max_iter=max_iter)
    A = csr_array(adjacency) if issparse(adjacency) else np.asarray(adjacency, dtype=np.float64)
    A = csr_array(A, dtype=np.float64)
    n = A.shape[0]
    if A.shape != (n, n) or n == 0:
        raise ValueError(f"adjacency must be square, (n, n) with n >= 1, got {A.shape}")
    if not np.isfinite(A.data).all() or (A.data < 0).any():
        raise ValueError("adjacency must be finite numbers >= 0")
    v = np.full(n, 1 / n) if personalization is None else shares(personalization, n)
    out = np.asarray(A.sum(axis=1)).ravel()
    follow = (A.multiply(np.divide(1.0, out, out=np.zeros(n), where=out > 0)[:, None])).T.tocsr()
    stuck = out == 0

    def step(x: Array) -> tuple[Array, float]:
        new = damping * (follow @ x) + (damping * float(x[stuck].sum()) + 1 - damping) * v
        new /= new.sum()
        return new, float(np.abs(new - x).sum()) * damping / (1 - damping)

    record = lambda x: {"objective": float(x.max())}  # noqa: E731
    run = iterate(step, v, max_iter=max_iter, tol=tol, record=record, name="pagerank")
    order = np.argsort(-run.state, kind="stable")
    return PageRank(run.state, order, run.n_iter, float(run.history[-1]["gap"]))


def shares(weights: ArrayLike, n: int) -> Array:
    """Weights divided by their sum."""
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (n,) or not np.isfinite(w).all() or (w < 0).any() or not w.any():
        raise ValueError(f"personalization must be {n} finite numbers >= 0, not all 0, got {w}")
    return w / w.sum()
