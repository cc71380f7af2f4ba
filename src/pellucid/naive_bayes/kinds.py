r"""Which density each column of a mixed table has, and its cells in the form that needs.

A column is a *number* column (gaussian, bernoulli, poisson, exponential: the moments within the
classes are its statistic), a *categorical* column (the counts of its values are), or a *kept*
column (kde, histogram, a family of scipy.stats, an estimator: all its cells are needed).

By dtype: truth values are bernoulli, text and categories categorical, numbers gaussian. Objects
are gaussian where every cell is a number, else categorical.
"""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.columns import Coded, Text, plain_column
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.runtime.jit import jit
from pellucid.core.runtime.threads import map_threads
from pellucid.naive_bayes.densities import find_family


@jit
def place_numbers(X, columns, values, starts, unseen):
    """Put the place of X[i, j] among values[starts_t:starts_t+1] into X[i, j], j = columns_t.

    A cell that is not there becomes NaN, and ``unseen[t]`` one such value unless it was NaN.
    """
    for i in range(len(X)):
        for t in range(len(columns)):
            x = X[i, columns[t]]
            low, high = starts[t], starts[t + 1]
            while low < high:  # the first value >= x
                middle = (low + high) // 2
                if values[middle] < x:
                    low = middle + 1
                else:
                    high = middle
            if low < starts[t + 1] and values[low] == x:
                X[i, columns[t]] = low - starts[t]
            else:
                if x == x:
                    unseen[t] = x
                X[i, columns[t]] = np.nan


def places(X: Array, columns: list[int], known: list[Array]) -> tuple[Array, Array]:
    """A copy of X with places in ``columns``; and for each of them an unknown value, or NaN.

    >>> out, unseen = places(np.array([[5.0], [7.0]]), [0], [np.array([3.0, 5.0])])
    >>> out.ravel(), unseen
    (array([ 1., nan]), array([7.]))
    """
    out = np.empty_like(X)
    at: IntArray = np.array(columns, dtype=np.intp)
    values = np.concatenate([np.asarray(v, dtype=np.float64) for v in known])
    starts = np.cumsum([0, *(len(v) for v in known)]).astype(np.intp)

    def leaf(start: int) -> Array:
        rows, unseen = out[start : start + LEAF_ROWS], np.full(len(columns), np.nan)
        rows[:] = X[start : start + LEAF_ROWS]
        place_numbers(rows, at, values, starts, unseen)
        return unseen

    found = np.array(list(map_threads(leaf, range(0, len(X), LEAF_ROWS))))
    first = np.argmin(np.isnan(found), axis=0)  # of the first leaf that has one
    return out, found[first, np.arange(len(columns))]


NUMBERS = ("gaussian", "bernoulli", "poisson", "exponential")
SMOOTH = ("kde", "histogram")
KINDS = (*NUMBERS[:1], "categorical", *NUMBERS[1:], *SMOOTH)
FAMILY, ESTIMATOR = "scipy.stats.", "estimator"


class Kind(NamedTuple):
    """The kind of one column; ``model`` is the estimator to clone, if it is one."""

    name: str  # one of KINDS, "scipy.stats.<family>" or "estimator"
    model: Any = None

    @property
    def is_number(self) -> bool:
        return self.name in NUMBERS

    @property
    def is_kept(self) -> bool:
        return not self.is_number and self.name != "categorical"


def kind_of(value: Any, where: str) -> Kind:
    """A word, a family of scipy.stats or a density estimator as a kind."""
    if isinstance(value, str):
        if value in KINDS:
            return Kind(value)
        word = value.removeprefix(FAMILY)
        try:
            find_family(word)
        except ValueError:
            accepted = ", ".join(repr(kind) for kind in KINDS)
            raise ValueError(
                f"distributions of {where} must be one of {accepted}, a continuous family of "
                f"scipy.stats or a density estimator, got {value!r}{check.hint(value, KINDS)}"
            ) from None
        return Kind(FAMILY + word)
    if hasattr(value, "fit") and hasattr(value, "score_samples") and not isinstance(value, type):
        return Kind(ESTIMATOR, value)
    family = hasattr(value, "fit") and hasattr(value, "logpdf")
    if family and isinstance(getattr(value, "name", None), str):
        return kind_of(FAMILY + value.name, where)
    raise ValueError(
        f"distributions of {where} must be a word, a continuous family of scipy.stats or an "
        f"estimator with fit and score_samples, got {value!r}"
    )


def natural_kind(column: Array) -> Kind:
    """The kind of a column by its dtype.

    >>> natural_kind(np.array([True])).name, natural_kind(np.array(["a"])).name
    ('bernoulli', 'categorical')
    """
    if isinstance(column, Text | Coded):
        return Kind("categorical")
    if column.dtype.kind == "b":
        return Kind("bernoulli")
    numbers = column.dtype.kind in "iuf"
    if column.dtype.kind == "O":
        cells = [cell for cell in column.tolist() if cell is not None]
        numbers = all(isinstance(cell, Real) and not isinstance(cell, bool) for cell in cells)
    return Kind("gaussian" if numbers else "categorical")


def resolve(distributions: Any, columns: Sequence[Any], names: Any) -> list[Kind]:
    """The kind of every column; what ``distributions`` does not name goes by dtype."""
    if isinstance(distributions, str):
        check.one_of(("auto", *KINDS), distributions=distributions)
        if distributions != "auto":
            return [Kind(distributions)] * len(columns)
        return [natural_kind(column) for column in columns]
    if not isinstance(distributions, Mapping):
        raise ValueError(
            f'distributions must be "auto", one kind or a dict of columns, got {distributions!r}'
        )
    labels = [] if names is None else [str(name) for name in names]
    given: dict[int, Kind] = {}
    for key, value in distributions.items():
        if isinstance(key, str) and key in labels:
            j = labels.index(key)
        elif isinstance(key, int | np.integer) and 0 <= key < len(columns):
            j = int(key)
        else:
            known = ", ".join(repr(name) for name in labels[:8]) or "no names"
            there = f"X has columns 0..{len(columns) - 1} and {known}"
            raise ValueError(f"distributions names the column {key!r}; {there}")
        if j in given:
            raise ValueError(f"distributions names column {j} twice")
        given[j] = kind_of(value, f"column {key!r}")
    return [given[j] if j in given else natural_kind(c) for j, c in enumerate(columns)]


def as_numbers(column: ArrayLike, kind: str, where: str) -> Array:
    """A column as float64; a missing cell is NaN. Cells outside the kind's support are refused."""
    cells = plain_column(column)
    if cells.dtype.kind not in "biufO":
        raise ValueError(f"{where} is {kind} and needs numbers, got {cells[:1].tolist()[0]!r}")
    try:
        x = cells.astype(np.float64)  # None becomes NaN
    except (TypeError, ValueError):
        bad = next(cell for cell in cells.tolist() if not _is_number(cell))
        raise ValueError(f"{where} is {kind} and needs numbers, got {bad!r}") from None
    if cells.dtype.kind == "O" and np.isinf(x).any():
        raise ValueError(f"{where} contains infinity (inf), row {int(np.argmax(np.isinf(x)))}")
    return x


def _is_number(cell: Any) -> bool:
    try:
        float(np.nan if cell is None else cell)
    except (TypeError, ValueError):
        return False
    return True


def refuse_outside(x: Array, kind: str, where: str) -> None:
    """Training cells must lie in the support: 0 and 1, counts, or numbers >= 0."""
    if kind == "bernoulli":
        inside, accepted = (x == 0) | (x == 1), "0 and 1"
    elif kind == "poisson":
        inside, accepted = (x >= 0) & (x == np.floor(x)), "whole numbers >= 0"
    elif kind == "exponential":
        inside, accepted = x >= 0, "numbers >= 0"
    else:
        return
    outside = ~(inside | np.isnan(x))
    if outside.any():
        raise ValueError(f"{where} is {kind} and holds {accepted} only, got {x[outside][0]:g}")
