"""Blocks of several targets with one of them left, and others among the features."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.base import Estimator, check_blocks, map_of
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.typing import IntArray, Matrix
from pellucid.core.loops.statistics import Rows
from pellucid.ensemble.labels.chain import Augmented


def widened(X: Matrix, y: Any, columns: Sequence[int]) -> tuple[Any, Any]:
    """A table with some targets to its right, and all targets as numbers.

    >>> widened(np.ones((2, 1)), np.array([[1, 2], [3, 4]]), [1])[0]
    array([[1., 2.],
           [1., 4.]])
    """
    Y = np.asarray(frame_matrix(y) if is_frame(y) else y, dtype=np.float64)
    table = Augmented(X, len(columns))
    for j in columns:
        table.add(Y[:, j])
    return table.table(), Y


class TargetSpan(NamedTuple):
    """A span whose leaves have one target."""

    span: Any
    target: int
    earlier: tuple[int, ...]  # targets that are features

    @property
    def start(self) -> int:
        return self.span.start

    def leaves(self) -> Iterator[Rows]:
        for leaf in self.span.leaves():
            X, Y = widened(leaf.X, leaf.y, self.earlier)
            yield leaf._replace(X=X, y=np.ascontiguousarray(Y[:, self.target]))


class OneTarget:
    """Blocks with one of their targets, and earlier ones to the right of the features."""

    def __init__(self, blocks: Any, target: int, earlier: Sequence[int] = ()) -> None:
        self.blocks, self.place, self.earlier = blocks, target, tuple(earlier)
        self.n_rows, self.block_rows, self.target = blocks.n_rows, blocks.block_rows, True
        self.n_features = blocks.n_features + len(self.earlier)
        self.feature_names, self.schema = blocks.feature_names, dict(blocks.schema)
        if self.earlier and self.feature_names is not None:
            first = next(iter(blocks.spans()[0].leaves()))
            table, _ = widened(first.X[:1], first.y[:1], self.earlier)
            self.feature_names = list(table.columns)
            added = self.feature_names[blocks.n_features :]
            self.schema.update(dict.fromkeys(added, "Float64"))

    def spans(self) -> list[TargetSpan]:
        """The ranges of the blocks."""
        return [TargetSpan(span, self.place, self.earlier) for span in self.blocks.spans()]

    def only_target(self) -> "OneTarget":
        """The target without features."""
        return OneTarget(self.blocks.only_target(), self.place)


def count_targets(model: Estimator, blocks: Any, backend: Any) -> int:
    """How many targets the blocks have, once their names are known to the model."""
    with map_of(backend) as map_:
        check_blocks(model, blocks, map_)
    if not isinstance(blocks.target, tuple):
        name = type(model).__name__
        raise ValueError(f"{name} needs a list of targets: blocks(..., target=['a', 'b'])")
    return len(blocks.target)


def links(order: IntArray) -> Iterator[tuple[int, list[int]]]:
    """Each target of a chain with those before it.

    >>> list(links(np.array([2, 0, 1])))
    [(2, []), (0, [2]), (1, [2, 0])]
    """
    places = order.tolist()
    for k, j in enumerate(places):
        yield j, places[:k]
