"""A forest as model files hold it: nothing is written that the shape of the trees implies.

    feature        of questions only, in as few bytes as its numbers need
    missing_left   of questions only, eight to a byte
    threshold      of questions only, where leaves have none; a lean forest has its values there

``right`` tells which nodes are questions. Files from before, with an entry for every node in these
fields or in all but ``threshold``, are read as well.
"""

from typing import Any

import numpy as np

from pellucid.tree.record import UNDEFINED

NARROW = (np.int8, np.int16, np.int32)


def shorten(forest: Any) -> Any:
    """The forest with short fields, or as it is where they would not say the same."""
    asks, feature, missing = forest.right >= 0, forest.feature, forest.missing_left
    leaves_say_nothing = np.array_equal(feature != UNDEFINED, asks)
    if not (leaves_say_nothing and np.array_equal(feature >= 0, asks)):
        return forest
    short = {"feature": narrow(feature)[asks]}
    if missing.max() <= 1 and not missing[~asks].any():
        short["missing_left"] = np.packbits(missing[asks])
    if len(forest.value) and (forest.threshold[~asks] == UNDEFINED).all():
        short["threshold"] = forest.threshold[asks]
    return forest._replace(**short)


def narrow(numbers: Any) -> Any:
    """Whole numbers >= -2 in as few bytes as they need.

    >>> narrow(np.array([-2, 100], np.int32)).dtype, narrow(np.array([3, 1000], np.int32)).dtype
    (dtype('int8'), dtype('int16'))
    """
    most = int(numbers.max())
    return numbers.astype(next(kind for kind in NARROW if most <= np.iinfo(kind).max))


def lengthen(forest: Any) -> Any:
    """The reverse; arrays that do not fit are left to ``check``."""
    asks = forest.right >= 0
    n = int(np.count_nonzero(asks))
    long: dict[str, Any] = {}
    if len(forest.feature) == n and forest.feature.dtype in NARROW:
        long["feature"] = _spread(forest.feature.astype(np.int32), asks, UNDEFINED)
    if len(forest.missing_left) == -(-n // 8) and forest.missing_left.dtype == np.uint8:
        long["missing_left"] = _spread(np.unpackbits(forest.missing_left, count=n), asks, 0)
    if len(forest.threshold) == n:
        long["threshold"] = _spread(forest.threshold, asks, UNDEFINED)
    return forest._replace(**long)


def _spread(numbers: Any, asks: Any, otherwise: int) -> Any:
    found = np.full(len(asks), otherwise, numbers.dtype)
    found[asks] = numbers
    return found
