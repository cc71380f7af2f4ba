"""Which way to split: the kind of data decides, not taste.

Time order and groups come first, because breaking them leaks; then size, because folds cost fits;
then classes, because a fold without a class tells nothing about it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, TimeSeriesSplit

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.splits.holdout import HoldOutSplit, column_of

LARGE = 50_000  # rows from which one hold-out is as sure as folds are
SMALL = 1_000  # rows below which ten folds are affordable and needed
MOST_CLASSES = 20  # more distinct whole numbers than this are counts, not classes
LEAVE_ONE_OUT = (
    "Leave-one-out is nearly unbiased but has a high variance and costs n fits; it is offered only "
    "where a closed form exists (leave_one_out, generalised_cross_validation)."
)


@readable
class SplitAdvice(NamedTuple):
    """How to split, the splitter that does it, and why.

    >>> suggest_split(500).kind
    'k_fold'
    """

    kind: str  # hold_out, k_fold, stratified_k_fold, group_k_fold or sequential
    splitter: Any  # ready for ``cv=``
    reason: str  # in words

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        return f"{self.kind}: {self.reason}"


def suggest_split(
    n_samples: int,
    *,
    y: Any = None,
    groups: ArrayLike | None = None,
    order: ArrayLike | None = None,
) -> SplitAdvice:
    """The splitter that suits the data, with the reason.

    ``n_samples`` is the number of rows. A ``y`` of text, truth values or few distinct whole numbers
    is classes; rows of one of ``groups`` belong together; an ``order`` says that the rows are a
    sequence in time.

    >>> from pellucid.evaluation import suggest_split
    >>> advice = suggest_split(200, y=["a", "b"] * 100)
    >>> advice.kind, advice.splitter
    ('stratified_k_fold', StratifiedKFold(n_splits=10, random_state=0, shuffle=True))
    """
    check.whole(at_least=2, n_samples=n_samples)
    n = int(n_samples)
    if order is not None:
        return _sequential(n)
    if groups is not None:
        return _grouped(n, column_of(groups, n, "groups"))
    counts = class_counts(y, n)
    if n >= LARGE:
        parts = "one validation part: 60 % train, 20 % validate, 20 % test"
        reason = (
            f"{n} rows are enough for {parts}. Folds would cost several fits and say hardly more."
        )
        splitter = HoldOutSplit(stratify=counts is not None, random_state=0)
        return SplitAdvice("hold_out", splitter, reason)
    k, size = (10, "fewer than 1000 rows") if n < SMALL else (5, "1000 rows or more")
    if counts is None:
        k = _lowered(k, n, f"{n} rows")
        reason = f"{size}: {k} folds, every row is tested once. {LEAVE_ONE_OUT}"
        return SplitAdvice("k_fold", KFold(k, shuffle=True, random_state=0), reason)
    k = _lowered(k, int(counts.min()), f"the smallest class has {counts.min()} row(s)")
    kept = f"folds that keep the shares of the {len(counts)} classes"
    reason = f"{size}: {k} {kept}, every row is tested once. {LEAVE_ONE_OUT}"
    splitter = StratifiedKFold(k, shuffle=True, random_state=0)
    return SplitAdvice("stratified_k_fold", splitter, reason)


def _sequential(n: int) -> SplitAdvice:
    k = 5
    if n < 6:
        k = n - 1
        warn(f"{n} rows in order allow {k} step(s) forward, not 5")
    if k < 2:
        raise ValueError(f"rows in order need at least 3 to be split, got {n}")
    reason = "the rows have an order in time: train on the past, test on what follows"
    return SplitAdvice("sequential", TimeSeriesSplit(k), reason)


def _grouped(n: int, groups: NDArray[Any]) -> SplitAdvice:
    m = len(np.unique(groups))
    if m < 2:
        raise ValueError("groups must hold at least 2 different groups, got 1")
    k = _lowered(10 if n < SMALL else 5, m, f"there are {m} groups")
    reason = f"rows belong to {m} groups: {k} folds of whole groups, so that none is on both sides"
    return SplitAdvice("group_k_fold", GroupKFold(k), reason)


def _lowered(k: int, most: int, why: str) -> int:
    if most >= k:
        return k
    lower = max(2, most)
    warn(f"{lower} folds instead of {k}: {why}")
    return lower


def class_counts(y: np.ndarray, n: int) -> Any:
    """Rows per class, or None where y is numbers to predict.

    >>> class_counts([1, 0, 1, 1], 4), class_counts([0.5, 1.5, 2.5], 3)
    (array([1, 3]), None)
    """
    if y is None:
        return None
    y = column_of(y, n, "y")
    counts = np.unique(y, return_counts=True)[1]
    if y.dtype.kind in "iuf":
        whole = y.dtype.kind != "f" or np.array_equal(y, np.round(y))
        if not whole or len(counts) > min(MOST_CLASSES, n // 2):
            return None
    return counts
