r"""All directed acyclic graphs on a few nodes.

Number       a_n = sum_{k=1..n} (-1)^(k+1) C(n, k) 2^(k (n-k)) a_(n-k),  a_0 = 1  (Robinson 1973)
Enumeration  each unordered pair is absent, forwards or backwards; keep what has no cycle.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, product
from math import comb

from pellucid.core.arrays import check
from pellucid.graphical.graphs.dag import DAG
from pellucid.graphical.network.names import Name

MOST_NODES = 5


@cache
def _count(n: int) -> int:
    if n == 0:
        return 1
    return sum(
        (-1) ** (k + 1) * comb(n, k) * 2 ** (k * (n - k)) * _count(n - k) for k in range(1, n + 1)
    )


def count_dags(n: int) -> int:
    """The number of directed acyclic graphs on ``n`` labelled nodes.

    >>> from pellucid.graphical import count_dags
    >>> [count_dags(n) for n in range(1, 6)]
    [1, 3, 25, 543, 29281]
    """
    check.whole(n=n)
    for m in range(n):  # from below: no deep recursion
        _count(m)
    return _count(n)


def enumerate_dags(nodes: Iterable[Name]) -> Iterator[DAG]:
    """Yield every directed acyclic graph on the given ``nodes`` (at most five).

    >>> from pellucid.graphical import enumerate_dags
    >>> len(list(enumerate_dags("ABC")))
    25
    """
    names = tuple(dict.fromkeys(nodes))
    if len(names) > MOST_NODES:
        raise ValueError(
            f"at most {MOST_NODES} nodes can be enumerated, got {len(names)} "
            f"({count_dags(len(names))} graphs)"
        )
    return _enumerate(names)


def _enumerate(names: tuple[Name, ...]) -> Iterator[DAG]:
    n, pairs = len(names), list(combinations(range(len(names)), 2))
    for directions in product((0, 1, 2), repeat=len(pairs)):
        edges = [
            pair if way == 1 else pair[::-1]
            for pair, way in zip(pairs, directions, strict=True)
            if way
        ]
        if _is_acyclic(n, edges):
            yield DAG([(names[a], names[b]) for a, b in edges], names)


def _is_acyclic(n: int, edges: Sequence[tuple[int, ...]]) -> bool:
    """Nodes without parents left go, until none is left or none can go."""
    parents = [0] * n
    for a, b in edges:
        parents[b] |= 1 << a
    left = (1 << n) - 1
    while left:
        roots = [v for v in range(n) if left >> v & 1 and not parents[v] & left]
        if not roots:
            return False
        for v in roots:
            left &= ~(1 << v)
    return True
