"""The candidates of a search: every combination of listed values, or draws from distributions.

Values are listed simplest first, so their place says how complex a candidate is: each parameter
adds its place divided by the last place, which makes all parameters count alike.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Seed
from pellucid.evaluation.splits.holdout import shuffler

Space: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]]  # name -> values or a law


class Candidates(NamedTuple):
    """Parameters of every candidate; ``complexity`` is None where values have no listed order."""

    params: list[dict[str, Any]]
    complexity: Array | None


def check_space(space: Space, n_iter: int | None) -> list[dict[str, Any]]:
    """One or several dicts of lists or distributions."""
    spaces = [space] if isinstance(space, Mapping) else space
    if not isinstance(spaces, list | tuple) or not all(isinstance(s, Mapping) for s in spaces):
        need = "a dict of lists or distributions (or a list of such)"
        raise ValueError(f"space must be {need}, got {space!r}")
    for name, values in ((n, v) for s in spaces for n, v in s.items()):
        listed = isinstance(values, list | tuple | range | np.ndarray)
        if not listed and not hasattr(values, "rvs"):
            need = "a list of values or a distribution"
            raise ValueError(f"space[{name!r}] must be {need}, got {values!r}")
        if listed and len(values) == 0:
            raise ValueError(f"space[{name!r}] must hold at least one value, got none")
        if not listed and n_iter is None:
            raise ValueError(f"space[{name!r}] is a distribution: say how many draws with n_iter")
    if n_iter is not None:
        check.whole(n_iter=n_iter)
    return [dict(s) for s in spaces]


def make_candidates(
    space: Space, n_iter: int | None = None, random_state: Seed = None
) -> Candidates:
    """All combinations, or ``n_iter`` draws.

    >>> found = make_candidates({"alpha": [10.0, 1.0], "degree": [1, 2, 3]})
    >>> found.params[1], found.complexity
    ({'alpha': 10.0, 'degree': 2}, array([0. , 0.5, 1. , 1. , 1.5, 2. ]))
    """
    spaces = check_space(space, n_iter)
    if n_iter is None:
        params = list(ParameterGrid(spaces))
    else:
        params = list(ParameterSampler(spaces, int(n_iter), random_state=shuffler(random_state)))
    if not params:
        raise ValueError("space holds no candidate")
    if any(hasattr(v, "rvs") for s in spaces for v in s.values()):
        return Candidates(params, None)
    return Candidates(params, np.array([complexity_of(one, spaces) for one in params]))


def complexity_of(candidate: dict[str, Any], spaces: list[dict[str, Any]]) -> float:
    """Sum over the parameters of place / last place in the (first) space that lists the values."""
    for space in spaces:
        places = [_place(value, space.get(name, ())) for name, value in candidate.items()]
        if space.keys() == candidate.keys() and None not in places:
            lengths = [len(space[name]) for name in candidate]
            pairs = zip(places, lengths, strict=True)
            return float(sum(place / max(length - 1, 1) for place, length in pairs if place))
    raise AssertionError("a candidate comes from one of the spaces")


def _place(value: Any, values: Iterable[Any]) -> int | None:
    for i, other in enumerate(values):
        if other is value or (type(other) is type(value) and np.array_equal(other, value)):
            return i
    return None
