r"""Rows that are set aside: train, validation and test.

    n_test = ceil(test_size n),   n_validation = ceil(validation_size n),   the rest trains

A random split cuts one permutation: its head is the test part, exactly the rows of scikit-learn's
``train_test_split``, what follows is the validation part. Groups are taken whole, in random order,
a group that no longer fits is passed over. With ``order`` the latest rows are the test part and the
next latest the validation part: nobody learns from the future.
"""

from collections.abc import Iterator
from math import ceil
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator, StratifiedShuffleSplit
from sklearn.utils.validation import _num_samples

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike, IntArray, Seed
from pellucid.core.readable import readable
from pellucid.core.records import plain


@readable
class ThreeWaySplit(NamedTuple):
    """Row numbers of the three parts: disjoint, and together all rows.

    >>> print(three_way_split(10, random_state=0))
    6 rows to train, 2 to validate, 2 to test
    """

    train: IntArray  # rows to fit on
    validation: IntArray  # rows to choose on
    test: IntArray  # rows for the last score

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def to_frame(self) -> Any:
        """One row per row of the data: its number and its part."""
        import polars

        parts = [(row, name) for name, rows in self._asdict().items() for row in rows.tolist()]
        return polars.DataFrame(sorted(parts), schema=["row", "part"], orient="row")

    def __str__(self) -> str:
        a, b, c = (len(part) for part in self)
        return f"{a} rows to train, {b} to validate, {c} to test"


def part_size(size: float, n: int, name: str) -> int:
    """A count, or ceil of a fraction of the whole."""
    if isinstance(size, Integral) and not isinstance(size, bool | np.bool_):
        if 0 <= int(size) < n:
            return int(size)
    elif isinstance(size, Real) and not isinstance(size, bool) and 0 <= float(size) < 1:
        return ceil(float(size) * n)
    raise ValueError(f"{name} must be a fraction in [0, 1) or a count below {n}, got {size!r}")


def shuffler(random_state: Seed) -> np.random.RandomState:
    """The generator that scikit-learn's splitters use; None is fresh, never the global one."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(2**32, dtype=np.uint32))
    if random_state is None:
        return np.random.RandomState()
    if isinstance(random_state, Integral) and 0 <= int(random_state) < 2**32:
        return np.random.RandomState(int(random_state))
    kinds = "None, a whole number >= 0, a RandomState or a Generator"
    raise ValueError(f"random_state must be {kinds}, got {random_state!r}")


def column_of(values: ArrayLike, n: int, name: str) -> Any:
    """One value per row, none of them missing."""
    array = np.asarray(values)
    if array.ndim != 1 or len(array) != n:
        raise ValueError(f"{name} must have one entry per row: {n}, got shape {array.shape}")
    if array.dtype.kind in "fmM":
        missing = np.isnan(array) if array.dtype.kind == "f" else np.isnat(array)
    else:
        missing = np.array([value is None or value != value for value in array], dtype=bool)
    if missing.any():
        raise ValueError(f"{name} has a missing value in row {int(missing.argmax())}")
    return array


def three_way_split(
    n_samples: int,
    *,
    validation_size: float = 0.2,
    test_size: float = 0.2,
    stratify: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    order: ArrayLike | None = None,
    random_state: Seed = None,
) -> ThreeWaySplit:
    """Row numbers to train, to validate and to test on.

    Of ``n_samples`` rows ``validation_size`` and ``test_size`` are fractions (rounded up) or
    counts; 0 leaves a part empty. These have an entry per row: ``stratify``, classes whose shares
    each part keeps, goes with neither of the others; ``groups``, rows that stay together, sizes are
    then met as nearly as whole groups allow; ``order``, a time or rank: the latest rows test, the
    next latest validate; with groups, a group is as late as its last row. ``random_state`` is the
    seed.

    >>> from pellucid.evaluation import three_way_split
    >>> three_way_split(10, order=range(10)).test
    array([8, 9])
    """
    check.whole(n_samples=n_samples)
    n = int(n_samples)
    n_test = part_size(test_size, n, "test_size")
    n_validation = part_size(validation_size, n, "validation_size")
    if n_test + n_validation >= n:
        sizes = f"validation_size={validation_size!r} and test_size={test_size!r}"
        raise ValueError(f"{sizes} of {n} rows leave none to train on")
    if stratify is not None and (groups is not None or order is not None):
        raise ValueError("stratify cannot be combined with groups or order")
    if groups is not None:
        return _grouped(column_of(groups, n, "groups"), n_validation, n_test, order, random_state)
    if order is not None:
        rows = np.argsort(column_of(order, n, "order"), kind="stable")
    elif stratify is not None:
        classes = column_of(stratify, n, "stratify")
        return _stratified(classes, n_validation, n_test, shuffler(random_state))
    else:
        rows = shuffler(random_state).permutation(n)
        head = n_test + n_validation
        return ThreeWaySplit(rows[head:], rows[n_test:head], rows[:n_test])
    cut = n - n_test
    return ThreeWaySplit(rows[: cut - n_validation], rows[cut - n_validation : cut], rows[cut:])


def _stratified(
    classes: NDArray[Any], n_validation: int, n_test: int, rng: np.random.RandomState
) -> ThreeWaySplit:
    """scikit-learn's stratified draw twice: first the test rows, then the validation rows."""
    rest, parts = np.arange(len(classes)), []
    for size in (n_test, n_validation):
        if size == 0:
            parts.append(np.empty(0, dtype=np.intp))
            continue
        splitter = StratifiedShuffleSplit(1, test_size=size, random_state=rng)
        kept, taken = next(splitter.split(rest, classes[rest]))
        parts.append(rest[taken])
        rest = rest[kept]
    return ThreeWaySplit(rest, parts[1], parts[0])


def _grouped(
    groups: NDArray[Any],
    n_validation: int,
    n_test: int,
    order: ArrayLike | None,
    random_state: Seed,
) -> ThreeWaySplit:
    """Whole groups, in random order or the latest first."""
    names, code = np.unique(groups, return_inverse=True)
    wanted = 1 + (n_test > 0) + (n_validation > 0)
    if len(names) < wanted:
        raise ValueError(f"{wanted} parts need at least {wanted} groups, got {len(names)}")
    size = np.bincount(code)
    if order is None:
        queue = shuffler(random_state).permutation(len(names)).tolist()
    else:
        rank = np.argsort(np.argsort(column_of(order, len(code), "order"), kind="stable"))
        last = np.zeros(len(names), dtype=np.intp)
        np.maximum.at(last, code, rank)
        queue = np.argsort(-last).tolist()
    parts, after = [], (n_validation > 0) + 1
    for goal in (n_test, n_validation):
        taken = _fill(queue, size, goal, keep=after, in_turn=order is not None) if goal else []
        queue = [g for g in queue if g not in set(taken)]
        parts.append(np.flatnonzero(np.isin(code, taken)))
        after = 1
    return ThreeWaySplit(np.flatnonzero(np.isin(code, queue)), parts[1], parts[0])


def _fill(queue: list[int], size: IntArray, goal: int, *, keep: int, in_turn: bool) -> list[int]:
    """Groups of at most ``goal`` rows together, at least one; ``keep`` groups are left over."""
    taken: list[int] = []
    rows = 0
    for group in queue:
        if len(queue) - len(taken) <= keep:
            break
        if rows + size[group] <= goal:
            taken.append(group)
            rows += size[group]
        elif in_turn:
            break
    return taken or [queue[0] if in_turn else min(queue, key=lambda group: size[group])]


def ordered_split(n_samples: int, *, test_size: float = 0.2) -> tuple[IntArray, IntArray]:
    """The first rows to train on and the last ones to test on, in file order.

    ``test_size`` is a fraction of the ``n_samples`` rows (rounded up) or a count; 0.5 is the
    extrapolation test: fit on the first half, judge on the second.

    >>> from pellucid.evaluation import ordered_split
    >>> train, test = ordered_split(10, test_size=0.5)
    >>> train, test
    (array([0, 1, 2, 3, 4]), array([5, 6, 7, 8, 9]))
    """
    check.whole(at_least=2, n_samples=n_samples)
    n_test = part_size(test_size, int(n_samples), "test_size")
    if not 0 < n_test < n_samples:
        raise ValueError(f"test_size={test_size!r} of {n_samples} rows leaves a part empty")
    rows = np.arange(n_samples)
    return rows[: n_samples - n_test], rows[n_samples - n_test :]


class HoldOutSplit(BaseCrossValidator):
    """One split for large data: train on a part, validate on the next, leave the test rows alone.

    Parameters
    ----------
    validation_size, test_size : float or int, default=0.2
        As for ``three_way_split``.
    stratify : bool, default=False
        Keep the shares of the classes of y.
    random_state : int, RandomState, Generator or None
        Seed of the split.

    Examples
    --------
    >>> from pellucid.evaluation import HoldOutSplit
    >>> [(len(train), len(test)) for train, test in HoldOutSplit(random_state=0).split(range(100))]
    [(60, 20)]
    """

    def __init__(
        self,
        *,
        validation_size: float = 0.2,
        test_size: float = 0.2,
        stratify: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.validation_size = validation_size
        self.test_size = test_size
        self.stratify = stratify
        self.random_state = random_state

    def get_n_splits(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """Always 1."""
        return 1

    def split(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows to train on and those to validate on."""
        check.boolean(stratify=self.stratify)
        if self.stratify and y is None:
            raise ValueError("stratify=True needs y")
        parts = three_way_split(
            _num_samples(X),
            validation_size=self.validation_size,
            test_size=self.test_size,
            stratify=y if self.stratify else None,
            groups=groups,
            random_state=self.random_state,
        )
        yield parts.train, parts.validation
