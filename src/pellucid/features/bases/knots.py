"""Where the knots and centres of a basis lie: a number means quantiles, an array means these.

Quantiles of tied values coincide; equal knots are merged, with a warning that says how many are
left. Columns may thus have different numbers of knots: a list with one array per column.
"""

from collections.abc import Sequence
from numbers import Integral

import numpy as np

from pellucid.core.arrays.quantiles import column_quantiles
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.statistics import Rows, Statistic, reduce_rows
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.features.scaling.kernels import merge_ranges, ranges


def column_spans(rows: Rows) -> tuple[Array, Array]:
    """Smallest and largest value of each column, rows of weight 0 left out; 0 without values."""
    found = reduce_rows(Statistic(ranges, merge_ranges), rows, map_threads)
    seen = found.seen > 0
    return np.where(seen, found.low, 0.0), np.where(seen, found.high, 0.0)


def place_knots(
    knots: int | ArrayLike, rows: Rows, names: Sequence[str], *, word: str, ends: bool
) -> list[Array]:
    """One sorted array of distinct knots per column.

    A whole number K stands for K quantiles: those at 1/(K+1) .. K/(K+1), or with ``ends`` those
    at 0 .. 1, so that the first and the last are the smallest and the largest value. An array is
    for every column (K,), or has one column for each (K, p).
    """
    p = len(names)
    if isinstance(knots, Integral) and not isinstance(knots, bool):
        if knots < 1:
            raise ValueError(f"{word} must be a whole number >= 1 or an array, got {knots!r}")
        K = int(knots)
        shares = np.linspace(0, 1, K) if ends and K > 1 else np.arange(1, K + 1) / (K + 1)
        placed = column_quantiles(rows.X, shares, rows.w)
        return [_distinct(placed[:, j], names[j], word) for j in range(p)]
    placed = given_knots(knots, p, word)
    low, high = column_spans(rows)
    for j in range(p):
        beyond = placed[(placed[:, j] < low[j]) | (placed[:, j] > high[j]), j]
        if len(beyond):
            span = f"the data of {names[j]!r}, which span [{low[j]:g}, {high[j]:g}]"
            warn(f"{word}: {beyond[0]:g} lies outside {span}")
    return [_distinct(np.sort(placed[:, j]), names[j], word) for j in range(p)]


def given_knots(knots: int | ArrayLike, p: int, word: str) -> Array:
    """Given positions as (K, p)."""
    try:
        placed = np.array(knots, dtype=np.float64)
    except (TypeError, ValueError):
        placed = np.empty((0, 0, 0))
    if placed.ndim == 1:
        placed = np.repeat(placed[:, None], p, axis=1)
    if placed.ndim != 2 or placed.shape[1] != p or not np.isfinite(placed).all():
        need = f"a whole number >= 1 or finite numbers of shape (K,) or (K, {p})"
        raise ValueError(f"{word} must be {need}, got {knots!r}")
    return placed


def _distinct(knots: Array, name: str, word: str) -> Array:
    left = np.unique(knots)
    if len(left) < len(knots):
        ones = f"{len(knots)} positions in {name!r} are only {len(left)} distinct ones"
        warn(f"{word}: {ones}; equal ones are merged")
    return left
