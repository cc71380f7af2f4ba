"""How a boosted tree may grow: limits, monotone columns, columns that may meet."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.readable import readable

Interactions: TypeAlias = Literal["pairwise", "no_interactions"] | Sequence[Iterable[int]] | None


@readable
class Growth(NamedTuple):
    """How trees grow, in one object; it overrules the keywords of the same names.

    Parameters
    ----------
    max_depth : int, optional
        Levels of questions at most.
    min_samples_leaf : int, default=20
        Rows in a leaf, each counted by its weight.
    max_features : float, default=1.0
        Share of the columns that a leaf may be split by, drawn anew for each.
    max_bins : int, default=255
        Bins of a column, 2 to 255.
    min_gain : float, default=0.0
        What a split must gain at least: the price of a leaf in the objective.
    monotonic_cst : array of -1, 0, 1, or dict of names, optional
        Columns along which the answer may only rise (1) or fall (-1).

    Examples
    --------
    >>> from pellucid.ensemble import Growth
    >>> Growth(max_depth=3).min_samples_leaf
    20
    """

    max_depth: int | None = None
    min_samples_leaf: int = 20
    max_features: float = 1.0
    max_bins: int = 255
    min_gain: float = 0.0
    monotonic_cst: Any = None


class Limits(NamedTuple):
    """Limits of one tree, as the kernel wants them."""

    max_leaves: int
    max_depth: int
    min_leaf: float
    l2: float
    min_gain: float
    tries: int  # columns looked at per leaf
    monotone: Any  # (p,) -1, 0, 1
    paths: Any  # (states, p) of ``tree.path_states``; (0, p): all columns may meet


def check_growth(growth: object) -> None:
    """One sentence for the first value that does not fit."""
    if not isinstance(growth, Growth):
        raise ValueError(f"growth must be a Growth or None, got {growth!r}")
    if growth.max_depth is not None:
        check.whole(max_depth=growth.max_depth)
    check.whole(min_samples_leaf=growth.min_samples_leaf)
    check.whole(at_least=2, max_bins=growth.max_bins)
    if growth.max_bins > 255:
        raise ValueError(f"max_bins must be between 2 and 255, got {growth.max_bins!r}")
    check.positive(max_features=growth.max_features)
    if growth.max_features > 1:
        raise ValueError(f"max_features must be at most 1, got {growth.max_features!r}")
    check.non_negative(min_gain=growth.min_gain)


def monotone_signs(asked: Any, names: Iterable[str] | None, categorical: Any, p: int) -> Any:
    """-1, 0 or 1 per column.

    >>> monotone_signs({"b": 1}, ["a", "b"], None, 2)
    array([0, 1])
    """
    if asked is None:
        return np.zeros(p, np.int64)
    if isinstance(asked, dict):
        names = list(names if names is not None else [])
        unknown = [name for name in asked if name not in names]
        if unknown:
            raise ValueError(f"monotonic_cst names {unknown}, which are not columns of X")
        signs = np.array([asked.get(name, 0) for name in names])
    else:
        signs = np.asarray(asked)
    if signs.shape != (p,) or not np.isin(signs, (-1, 0, 1)).all():
        each = f"-1, 0 or 1 for each of {p} columns"
        raise ValueError(f"monotonic_cst must hold {each}, got {asked!r}")
    if categorical is not None and (signs[categorical] != 0).any():
        raise ValueError("categories have no order: a column cannot be monotonic and categorical")
    return signs.astype(np.int64)
