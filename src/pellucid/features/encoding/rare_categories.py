"""Which categories a column has, which of them are rare, and what an unknown one leads to.

Rare categories (fewer than ``min_frequency`` rows, or not among the ``max_categories - 1`` most
frequent) share one place after the frequent ones.
"""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike, IntArray
from pellucid.features.encoding.categories import is_missing, look_up, sorted_values

RARE = "infrequent_sklearn"  # scikit-learn's name of the shared place, so that pipelines agree


class Grouping(NamedTuple):
    """How the categories of one column are grouped."""

    rare: Any  # indices of the rare categories, or None
    place: Any  # (k,) place of each category after grouping


def learn_categories(
    found: Any, given: str | list[Any], name: Callable[[int], str], *, refuse_unknown: bool
) -> list[Any]:
    """The categories of every column: found in the data (Found or Tally), or as given."""
    p = len(found.values)
    if isinstance(given, str) and given == "auto":
        return [sorted_values(values) for values in found.values]
    if not isinstance(given, list):
        raise ValueError(f"categories must be 'auto' or a list, one per column, got {given!r}")
    if len(given) != p:
        raise ValueError(
            "Shape mismatch: if categories is an array, it has to be of shape (n_features,): "
            f"{len(given)} lists, but X has {p} columns"
        )
    categories = []
    for j, (values, listed) in enumerate(zip(found.values, given, strict=True)):
        known = given_categories(values, listed, name(j))
        unknown = look_up(values, known) < 0
        if refuse_unknown and unknown.any():
            raise ValueError(unknown_sentence(values[unknown], name(j), "fit"))
        categories.append(known)
    return categories


def given_categories(values: NDArray[Any], listed: ArrayLike, name: str) -> Any:
    """A list of categories in the type of the column, checked."""
    kind = object if values.dtype.kind in "U" else values.dtype
    known = np.array(listed, dtype=kind)
    if len(known) == 0:
        raise ValueError(f"categories of {name} is empty; at least one is needed")
    if known.dtype == object and isinstance(known[0], bytes) and values.dtype.kind != "S":
        raise ValueError(f"categories of {name} are bytes, but its values are not")
    if any(is_missing(cell) for cell in known[:-1]):
        raise ValueError(
            f"Nan should be the last element in user provided categories, see {name}: {listed!r}"
        )
    if len(np.unique(look_up(known, known) if known.dtype == object else known)) != len(known):
        raise ValueError(
            f"In {name}, the predefined categories contain duplicate elements.: {listed!r}"
        )
    if known.dtype.kind in "biuf" and (known[:-1] > known[1:]).any():
        raise ValueError(
            f"Unsorted categories are not supported for numerical categories: {name}, {listed!r}"
        )
    return known


def unknown_sentence(values: NDArray[Any], name: str, when: str) -> str:
    """What to say of values that are not among the categories."""
    shown = ", ".join(repr(value) for value in values[:5].tolist())
    more = f" and {len(values) - 5} more" if len(values) > 5 else ""
    return f"Found unknown categories [{shown}]{more} in {name} during {when}"


def check_rare(min_frequency: float | None, max_categories: int | None) -> bool:
    """Check both parameters; whether rare categories are grouped at all."""
    if max_categories is not None:
        check.whole(max_categories=max_categories)
    if isinstance(min_frequency, Integral):
        check.whole(min_frequency=min_frequency)
    elif isinstance(min_frequency, Real):
        check.fraction(min_frequency=min_frequency)
    elif min_frequency is not None:
        raise ValueError(f"min_frequency must be a number or None, got {min_frequency!r}")
    return max_categories is not None or min_frequency is not None


def rare_categories(
    counts: IntArray, n: int, min_frequency: float | None, max_categories: int | None
) -> Any:
    """Indices of the rare categories, or None.

    >>> rare_categories(np.array([5, 20, 10, 3]), 38, None, 3)
    array([0, 3])
    """
    least = min_frequency if isinstance(min_frequency, Integral) else n * (min_frequency or 0.0)
    rare = counts < least
    if max_categories is not None and max_categories < len(counts) - rare.sum() + 1:
        order = np.argsort(counts, kind="stable")
        rare[order[: len(counts) - (max_categories - 1)]] = True
    indices = np.flatnonzero(rare)
    return indices if len(indices) else None


def group(rare: IntArray | None, k: int) -> Grouping:
    """Frequent categories keep their order; the rare ones follow, together.

    >>> group(np.array([0, 3]), 4).place
    array([2, 0, 1, 2])
    """
    place = np.arange(k)
    if rare is not None:
        frequent = np.setdiff1d(place, rare)
        place = np.full(k, len(frequent))
        place[frequent] = np.arange(len(frequent))
    return Grouping(rare, place)


def infrequent_categories(self: Any) -> list[Any]:
    """Of a fitted encoder, the rare categories of each column, None where there are none."""
    check_is_fitted(self)
    if self.min_frequency is None and self.max_categories is None:
        raise AttributeError("infrequent categories need min_frequency or max_categories")
    pairs = zip(self.categories_, self._rare, strict=True)
    return [None if rare is None else known[rare] for known, rare in pairs]


def group_columns(
    found: Any, categories: Sequence[Any], least: float | None, most: int | None, *, spare: bool
) -> list[Grouping]:
    """The grouping of every column; ``spare`` leaves the category NaN out of it."""
    groupings = []
    for j, known in enumerate(categories):
        place = look_up(found.values[j], known)
        counts = np.zeros(len(known), np.int64)
        np.add.at(counts, place[place >= 0], found.counts(j)[place >= 0])
        k = len(known) - (spare and is_missing(known[-1]))
        rare = rare_categories(counts[:k], found.n_rows, least, most)
        groupings.append(group(rare, k))
    return groupings
