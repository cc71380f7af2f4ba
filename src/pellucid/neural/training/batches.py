"""Which rows an epoch visits, in which order, and which are held out.

The order is decided by the contents of the rows and the seed (``compiled.epochs.visits``), so that
a row of weight 2 is a row written twice and the order of the table does not matter.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.compiled.epochs.visits import Visits, plan_visits, visits_in_order
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.loops.statistics import is_unit

MOST_VISITS = 1e9  # of an epoch; weights count as repetitions
SPLIT = 1 << 40  # a number no epoch has: the order that decides who is held out

SPARSE_CELLS = 1 << 22  # of a sparse table that are written out only to be looked at


class Data(NamedTuple):
    """Training rows: inputs (dense or CSR), targets (n, k), and the visits of an epoch."""

    X: Any
    T: Array
    visits: Visits
    shuffle: bool
    seed: int = 0  # of the order, and of noise

    @property
    def n(self) -> int:
        return len(self.visits.rows)

    def order(self, epoch: int) -> IntArray:
        """The positions of the visits in the order of an epoch."""
        return self.visits.order(epoch) if self.shuffle else np.arange(self.n)

    def take(self, positions: Any) -> tuple[Array, Array, Array]:
        """Inputs, targets and weights of some visits."""
        rows = self.visits.rows[positions]
        return self.inputs(rows), self.T.take(rows, axis=0), self.weights(positions)

    def inputs(self, rows: IntArray) -> Array:
        """Some rows of X; ``take`` gathers faster than an index does."""
        return self.X[rows].toarray() if issparse(self.X) else self.X.take(rows, axis=0)

    def weights(self, positions: IntArray) -> Array:
        """The weights of some visits."""
        share = self.visits.share
        return share[positions] if len(share) else np.ones(len(positions))

    def some(self, most: int) -> int:
        """How many rows to look at: fewer of a wide sparse table, which are written out for it."""
        wide = max(2, SPARSE_CELLS // max(1, self.X.shape[1])) if issparse(self.X) else most
        return min(self.n, most, wide)

    def whole(self) -> tuple[Array, Array, Array]:
        """All of them, in the order of an epoch that depends on contents alone."""
        return self.take(self.order(0))


def dense(X: Any) -> Array:
    """The rows as a plain array."""
    return to_dense(X)


def plan_data(X: np.ndarray, T: Array, weight: Array, shuffle: bool, seed: int) -> Data:
    """The visits of rows X with targets T (n, k)."""
    if weight.sum() > MOST_VISITS:
        visits = f"{weight.sum():g} visits per epoch, at most {MOST_VISITS:g} are accepted"
        raise ValueError(f"sample_weight adds up to {visits}: weights count as repetitions")
    w = None if is_unit(weight) else weight
    if X.ndim != 2:
        shuffled = plan_visits(np.ascontiguousarray(X.reshape(len(X), -1)), T[:, 0].copy(), w, seed)
    elif not shuffle:
        shuffled = visits_in_order(X, w)
    else:  # the targets of a row as one number: what it is does not matter, only that they differ
        k = T.shape[1]
        one = T[:, 0].copy() if k == 1 else T @ np.sqrt(np.arange(2.0, k + 2))
        shuffled = plan_visits(X, one, w, seed)
    return Data(X, T, shuffled, shuffle, seed)


def hold_out(data: Data, fraction: float, labels: IntArray | None) -> tuple[Data, Data]:
    """(training, validation): a random share of the visits, of each class where there are any."""
    n = data.n
    keyed = len(data.visits.keys) == n
    order = data.visits.order(SPLIT) if keyed else np.random.default_rng(SPLIT).permutation(n)
    codes = np.zeros(n, dtype=np.intp) if labels is None else labels[data.visits.rows]
    held = np.zeros(n, dtype=bool)
    for code in np.unique(codes):
        mine = order[codes[order] == code]
        held[mine[: round(fraction * len(mine))]] = True
    if held.sum() < 2 or held.all():
        left = f"validation_fraction={fraction:g} of {n} rows leaves {int(held.sum())} to judge by"
        raise ValueError(f"{left}: the validation set is too small; at least 2 are needed")
    return _part(data, ~held), _part(data, held)


def _part(data: Data, keep: IntArray) -> Data:
    v = data.visits
    share = v.share[keep] if len(v.share) else v.share
    keys = v.keys[keep] if len(v.keys) else v.keys
    return data._replace(visits=Visits(v.rows[keep], share, keys, v.squares))
