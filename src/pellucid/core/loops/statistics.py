r"""Sums over the data: summarise a leaf, merge two summaries, the same tree every time.

A *statistic* is ``summarise(rows) -> S`` and ``merge(S, S) -> S``; a fit is ``solve(S)``.
Rows are cut into leaves of LEAF_ROWS, always at the same places, and the leaves are merged in
one fixed binary tree:

    leaf 0   leaf 1   leaf 2   leaf 3   leaf 4
        \   /             \   /           |
        (1,0)             (1,1)           |
             \           /                |
                 (2,0)                    |
                        \                /
                              root

so the answer has the same bits for any block size, number of threads, backend or order of
arrival. A span of leaves is summarised by the nodes of the tree that it fills (at most two per
level), which is all that travels from a worker.

Centred moments are merged by Chan, Golub & LeVeque (1979):

    mean = m1 + (m2 - m1) W2 / W,     S = S1 + S2 + (m2 - m1)(m2 - m1)' W1 W2 / W.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from pellucid.core.arrays.typing import Array, Map
from pellucid.core.runtime.threads import single_threaded_blas

LEAF_ROWS = 4096  # a leaf of 50 columns is 1.6 MB: it stays in cache between two sweeps


class Rows(NamedTuple):
    """Checked rows in memory: a C-contiguous float64 X, the target if any, the weights.

    A float32 X is kept as it is by estimators that read it leaf by leaf: every leaf is float64.
    """

    X: Any  # (n, p), dense or CSR
    y: Any  # (n,), (n, k) or None
    w: Array  # (n,); equal weights of 1 are a broadcast scalar and take no memory

    @property
    def n_rows(self) -> int:
        return self.X.shape[0]

    def slice(self, start: int, stop: int) -> "Rows":
        y = None if self.y is None else self.y[start:stop]
        X = self.X[start:stop]
        X = X.astype(np.float64) if X.dtype == np.float32 else X
        return Rows(X, y, self.w[start:stop])

    def double(self) -> "Rows":
        """The rows with X in float64, for what needs all of it at once."""
        return self._replace(X=self.X.astype(np.float64, copy=False))

    def spans(self) -> list["MemorySpan"]:
        """Cut the rows into spans of whole leaves, about 32 for the thread pool to share."""
        n_leaves = -(-self.n_rows // LEAF_ROWS)
        step = max(1, n_leaves // 32) * LEAF_ROWS
        starts = range(0, self.n_rows, step)
        return [MemorySpan(self, start, min(start + step, self.n_rows)) for start in starts]


class Span(Protocol):
    """A range of rows that starts at a leaf; it can be sent to a worker and read there."""

    @property
    def start(self) -> int: ...

    def leaves(self) -> Iterator[Rows]:
        """Yield the rows of the span, LEAF_ROWS at a time (the last may be shorter)."""
        ...


class MemorySpan(NamedTuple):
    """A span of rows in memory."""

    rows: Rows
    start: int
    stop: int

    def leaves(self) -> Iterator[Rows]:
        for start in range(self.start, self.stop, LEAF_ROWS):
            yield self.rows.slice(start, min(start + LEAF_ROWS, self.stop))


class Source(Protocol):
    """Rows that can be summarised: arrays in memory, or the blocks of a file."""

    @property
    def n_rows(self) -> int: ...

    def spans(self) -> Sequence[Span]: ...


class Statistic(NamedTuple):
    """Two pure functions, importable by name so that workers elsewhere can run them."""

    summarise: Callable[[Rows], Any]
    merge: Callable[[Any, Any], Any]


class Node(NamedTuple):
    """The summary of the leaves from ``position * 2**level`` on, ``2**level`` of them."""

    level: int
    position: int
    value: Any


def push(stack: list[Node], node: Node, merge: Callable[[Any, Any], Any]) -> None:
    """Add the next node to the right; siblings merge into their parent at once."""
    while stack and node.position % 2 == 1 and stack[-1][:2] == (node.level, node.position - 1):
        left = stack.pop()
        node = Node(node.level + 1, node.position // 2, merge(left.value, node.value))
    stack.append(node)


def summarise_span(statistic: Statistic, span: Span) -> list[Node]:
    """The nodes of the fixed tree that the leaves of ``span`` fill."""
    stack: list[Node] = []
    position = span.start // LEAF_ROWS
    with single_threaded_blas():  # more threads would round differently
        for leaf in span.leaves():
            push(stack, Node(0, position, statistic.summarise(leaf)), statistic.merge)
            position += 1
            del leaf  # before the next one is made: a thread holds one leaf at a time
    return stack


def merge_nodes(nodes: Iterable[Node], merge: Callable[[Any, Any], Any]) -> Any:
    """Merge nodes that arrive from left to right into the root.

    >>> leaves = [Node(0, i, str(i)) for i in range(5)]
    >>> merge_nodes(leaves, lambda a, b: f"({a}{b})")
    '(((01)(23))4)'
    >>> spans = [[Node(0, 0, "0")], [Node(0, 1, "1"), Node(1, 1, "(23)")], [Node(0, 4, "4")]]
    >>> merge_nodes((node for span in spans for node in span), lambda a, b: f"({a}{b})")
    '(((01)(23))4)'
    """
    stack: list[Node] = []
    for node in nodes:
        push(stack, node, merge)
    if not stack:
        raise ValueError("there are no rows: at least one is needed")
    root = stack.pop().value
    while stack:  # the incomplete right edge of the tree
        root = merge(stack.pop().value, root)
    return root


def reduce_rows(statistic: Statistic, source: Source, map_: Map) -> Any:
    """Summarise every leaf of ``source`` and merge along the fixed tree.

    A source that sums its rows itself (``device.DeviceRows``) is asked to; so is a backend that
    merges where the rows are (``backends.Dask``), along the same tree.
    """
    if (own := getattr(source, "reduce", None)) is not None:
        return own(statistic)
    if (there := getattr(getattr(map_, "__self__", None), "reduce_rows", None)) is not None:
        return there(statistic, source)
    parts = map_(partial(summarise_span, statistic), source.spans())
    with single_threaded_blas():
        return merge_nodes((node for part in parts for node in part), statistic.merge)


def add_records(a: Any, b: Any) -> Any:
    """Two records of sums added field by field.

    >>> add_records(Node(1, 2, 3.0), Node(10, 20, 30.0))
    Node(level=11, position=22, value=33.0)
    """
    return type(a)(*map(operator.add, a, b))


def unit_weights(n: int) -> Array:
    """Weights of 1 that take no memory.

    >>> unit_weights(3)
    array([1., 1., 1.])
    """
    return np.broadcast_to(np.float64(1.0), (n,))


def is_unit(w: Array) -> bool:
    """Whether ``w`` comes from ``unit_weights``, so that multiplying by it can be left out."""
    return w.strides == (0,) and len(w) > 0 and w[0] == 1.0


class Moments(NamedTuple):
    """Weight, mean and centred cross-products of the columns of Z."""

    weight: float  # W = sum w
    mean: Array  # (d,)  sum w z / W
    scatter: Array  # (d, d)  sum w (z - mean)(z - mean)'


def moments(Z: Array, w: Array) -> Moments:
    """Moments of one leaf; two sweeps while it is in cache, so the centring is exact.

    One row (the heaviest) is taken off first, so that a constant column has scatter 0 exactly.

    >>> moments(np.array([[1.0], [3.0]]), unit_weights(2)).scatter
    array([[2.]])
    """
    weight = float(w.sum())
    if weight == 0:
        return Moments(0.0, np.zeros(Z.shape[1]), np.zeros((Z.shape[1], Z.shape[1])))
    origin = Z[0] if is_unit(w) else Z[np.argmax(w)]
    C = Z - origin
    offset = (w @ C if not is_unit(w) else np.ones(len(Z)) @ C) / weight
    C -= offset
    if not is_unit(w):
        C *= np.sqrt(w)[:, None]
    return Moments(weight, origin + offset, C.T @ C)


def merge_moments(a: Moments, b: Moments) -> Moments:
    """Moments of two disjoint sets of rows taken together (Chan)."""
    if a.weight == 0 or b.weight == 0:
        return b if a.weight == 0 else a
    weight = a.weight + b.weight
    gap = b.mean - a.mean
    mean = a.mean + gap * (b.weight / weight)
    scatter = np.outer(gap, gap * (a.weight * b.weight / weight))
    scatter += a.scatter
    scatter += b.scatter
    return Moments(weight, mean, scatter)
