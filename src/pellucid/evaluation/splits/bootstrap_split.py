r"""Bootstrap samples as folds.

    train = n draws with replacement from n rows,   test = the rows that were never drawn

A row is left out with probability (1 - 1/n)^n, about 0.368. A draw that happens to hold every row
has nothing to test on and is drawn again. Sample b has a random stream of its own, so it does not
depend on how many samples are asked for.

Reference: Efron & Tibshirani (1993), chapter 17.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils.validation import _num_samples

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike, IntArray, Rng, Seed
from pellucid.core.runtime.random import generator, stream
from pellucid.evaluation.splits.holdout import column_of


class BootstrapSplit(BaseCrossValidator):
    """Draws with replacement to train on, the rows left out to test on.

    Parameters
    ----------
    n_splits : int, default=100
        Number of samples.
    stratify : bool, default=False
        Draw within the classes of y, so that each keeps its size.
    random_state : int, RandomState, Generator or None
        None: other samples in every call of ``split``.

    Examples
    --------
    >>> from pellucid.evaluation import BootstrapSplit
    >>> train, test = next(BootstrapSplit(1, random_state=0).split(range(8)))
    >>> len(train), set(train) & set(test), set(train) | set(test) == set(range(8))
    (8, set(), True)
    """

    def __init__(
        self, n_splits: int = 100, *, stratify: bool = False, random_state: Seed = None
    ) -> None:
        self.n_splits = n_splits
        self.stratify = stratify
        self.random_state = random_state

    def get_n_splits(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> int:
        """The number of samples; the arguments do not matter."""
        return self.n_splits

    def split(
        self, X: Any, y: Any = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the rows drawn (with repetitions) and the rows left out."""
        check.whole(n_splits=self.n_splits)
        check.boolean(stratify=self.stratify)
        if groups is not None:
            raise ValueError("BootstrapSplit draws single rows: it takes no groups")
        pools = self._pools(_num_samples(X), y)
        seed = int(generator(self.random_state).integers(2**63))
        for b in range(self.n_splits):
            yield draw(pools, stream(seed, b))

    def _pools(self, n: int, y: ArrayLike) -> list[IntArray]:
        """The rows that are drawn among themselves."""
        if not self.stratify:
            pools = [np.arange(n)]
        elif y is None:
            raise ValueError("stratify=True needs y")
        else:
            code = np.unique(column_of(y, n, "y"), return_inverse=True)[1]
            pools = [np.flatnonzero(code == c) for c in range(code.max() + 1)]
        if max(len(pool) for pool in pools) < 2:
            what = "a class of at least 2 rows" if self.stratify else "at least 2 rows"
            raise ValueError(f"a bootstrap sample with rows left out needs {what}, got {n} row(s)")
        return pools


def draw(pools: list[IntArray], rng: Rng) -> tuple[IntArray, IntArray]:
    """One sample that leaves some row out.

    >>> train, test = draw([np.arange(3)], np.random.default_rng(0))
    >>> train, test
    (array([2, 1, 1]), array([0]))
    """
    n = sum(len(pool) for pool in pools)
    while True:
        train = np.concatenate([pool[rng.integers(len(pool), size=len(pool))] for pool in pools])
        left = np.ones(n, dtype=bool)
        left[train] = False
        if left.any():
            return train, np.flatnonzero(left)
