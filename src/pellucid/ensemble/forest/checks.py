"""Whether the arrays of a forest fit together: compiled code walks them without looking."""

from typing import Any

import numpy as np

from pellucid.tree.record import sound_sets

KINDS = ("i8", "i4", "i4", "f8", "u1", "f8", "i4", "f4 f8", "f8", "f8", "i8")
MEASURES = ("", "gini", "entropy")


def check_forest(forest: Any) -> None:
    """Raise a ValueError where they do not."""
    for field, kind in zip(forest[: len(KINDS)], KINDS, strict=True):
        if not isinstance(field, np.ndarray) or all(field.dtype != k for k in kind.split()):
            raise ValueError("the arrays of the forest have other kinds of numbers")
    if not (sound_start(forest) and sound_shapes(forest) and sound_leaves(forest)):
        raise ValueError("the arrays of the forest do not fit together")
    if not sound_sets(forest):
        raise ValueError("the sets of levels of the forest do not fit together")
    n, width = len(forest.feature), forest.value.shape[1]
    none = np.broadcast_to(0.0, n)  # nothing is derived from nodes that were not looked at
    nodes = forest._replace(
        impurity=none,
        size=none,
        weight=none,
        spread=none[:, None],
        value=np.broadcast_to(0.0, (n, width)),
    )
    for t in range(forest.n_trees):
        nodes.tree(t).check()


def sound_start(forest: Any) -> bool:
    """Whether the trees cover the nodes."""
    start = forest.start
    return bool(
        start.ndim == 1
        and len(start) > 1
        and start[0] == 0
        and start[-1] == len(forest.feature)
        and (np.diff(start) > 0).all()
    )


def sound_shapes(forest: Any) -> bool:
    """Whether each field has an entry for every node, or is left out as it may be."""
    n, leaves = len(forest.feature), (len(forest.feature) + forest.n_trees) // 2
    value, spread, outputs = forest.value, forest.spread, len(forest.n_classes)
    if {field.ndim for field in forest[1:8]} != {1} or (value.ndim, spread.ndim) != (2, 2):
        return False
    of_squares = spread.shape == (0, 1) and value.shape[1] == 1
    of_pure = forest.measure != "" and len(value) == 0 and spread.shape[1] == 0
    return (
        {len(field) for field in forest[1:5]} == {n}
        and {len(forest.size), len(forest.weight)} <= {n, leaves}
        and outputs > 0
        and value.shape[1] > 0
        and value.shape[1] % outputs == 0
        and (len(value) == n or (len(value) == 0 and outputs == 1))
        and (len(spread) == n or of_squares)
        and forest.measure in MEASURES
        and (len(forest.impurity) == n or (len(forest.impurity) == 0 and (of_squares or of_pure)))
    )


def sound_leaves(forest: Any) -> bool:
    """Whether every tree has one leaf more than questions, and leaves name classes there are."""
    ends = forest.right < 0
    leaves = np.add.reduceat(ends, forest.start[:-1], dtype=np.int64)
    if (2 * leaves - 1 != np.diff(forest.start)).any():
        return False
    if len(forest.value) or forest.of_numbers:
        return True
    label = forest.threshold[ends]
    known = (label >= 0) & (label < forest.value.shape[1]) & (label == np.floor(label))
    return bool(known.all())
