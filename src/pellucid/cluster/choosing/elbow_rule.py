r"""The elbow: the number of clusters after which the error falls much less.

    drop_k = E(k - 1) - E(k)
    k is a candidate if  drop_k >= ratio x drop_(k+1)   (a later drop <= 0: ratio infinity)
                    and  drop_k >= share x (E_first - E_last)

One candidate is the elbow. None, and there is no elbow: the error falls smoothly. Several, and
the elbow is ambiguous: the one of the largest ratio is named, and the others with it.
The first and the last number of clusters cannot be candidates: they lack a drop on one side.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.readable import readable


@readable
class ElbowResult(NamedTuple):
    """Where the error bends: ``kind`` is one, none (then ``n_clusters`` is None) or several.

    >>> print(ElbowResult(None, (), "none"))
    no elbow: the error falls smoothly
    """

    n_clusters: int | None
    candidates: tuple[int, ...]  # all numbers of clusters where the error bends
    kind: str

    def __str__(self) -> str:
        if self.kind == "none":
            return "no elbow: the error falls smoothly"
        if self.kind == "one":
            return f"elbow at {self.n_clusters} clusters"
        others = ", ".join(map(str, self.candidates))
        return f"ambiguous elbow: at {others}; the sharpest is at {self.n_clusters}"


def elbow(
    values: ArrayLike,
    n_clusters: Sequence[int] | None = None,
    *,
    ratio: float = 2.0,
    share: float = 0.05,
) -> ElbowResult:
    """Find the number of clusters after which the error falls much less.

    Parameters
    ----------
    values : array-like of shape (n,)
        The error for each number of clusters, such as ``inertia_``.
    n_clusters : array-like of shape (n,), default=None
        Consecutive numbers of clusters; 1, 2, ... where not given.
    ratio : float, default=2.0
        How many times the next drop a drop must be.
    share : float, default=0.05
        The least share of the whole fall that a drop must be.

    Returns
    -------
    ElbowResult
        ``n_clusters`` (None without an elbow), ``candidates``, ``kind``.

    Examples
    --------
    >>> elbow([765.3, 334.3, 88.2, 72.7, 62.1])
    ElbowResult(n_clusters=3, candidates=(3,), kind='one')
    """
    check.positive(ratio=ratio)
    check.non_negative(share=share)
    errors = np.asarray(values, dtype=np.float64)
    if errors.ndim != 1 or len(errors) == 0 or not np.isfinite(errors).all():
        raise ValueError(f"values must be a row of finite numbers, got {values!r}")
    counts = _counts(n_clusters, len(errors))
    drops = -np.diff(errors)
    least = share * (errors[0] - errors[-1])
    ratios: dict[int, float] = {}
    for k, drop, following in zip(counts[1:-1], drops[:-1], drops[1:], strict=True):
        sharpness = drop / following if following > 0 else np.inf
        if drop > 0 and drop >= least and sharpness >= ratio:
            ratios[k] = sharpness
    if not ratios:
        return ElbowResult(None, (), "none")
    best = max(ratios, key=lambda k: ratios[k])  # the first of equals
    return ElbowResult(best, tuple(ratios), "one" if len(ratios) == 1 else "several")


def _counts(n_clusters: Sequence[int] | None, n: int) -> list[int]:
    counts = list(range(1, n + 1)) if n_clusters is None else [int(k) for k in n_clusters]
    if len(counts) != n or any(b - a != 1 for a, b in pairwise(counts)):
        raise ValueError(f"n_clusters must be {n} consecutive numbers, one per value, got {counts}")
    return counts
