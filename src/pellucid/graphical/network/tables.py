r"""Conditional distributions of one variable given its parents.

CPT                  p(x = k | u) = values[u..., k], each row sums to 1
LinearGaussianCPD    x | u ~ N(intercept + coefficients . u, variance)
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Self

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import html_table
from pellucid.graphical.network.factor import Factor
from pellucid.graphical.network.names import Name

SUM_TOLERANCE = 1e-6
MOST_ROWS = 40  # of a table in a notebook


class _CPT(NamedTuple):
    variable: Name
    values: Array
    parents: tuple[Name, ...]
    states: tuple[Any, ...]
    fixed: bool


@readable
class CPT(_CPT):
    """A conditional probability table.

    Parameters
    ----------
    variable : name
        The child.
    values : array of shape (states of the first parent, ..., own states)
        The last axis sums to 1 (within 1e-6; it is then scaled to do so).
    parents : sequence of names, default=()
        In the order of the axes.
    states : sequence, default=None
        Names of the own states; None: 0, 1, ...
    fixed : bool, default=False
        Whether learning leaves the table as it is.

    Examples
    --------
    >>> from pellucid.graphical import CPT
    >>> CPT("wet", [[0.9, 0.1], [0.2, 0.8]], parents=["rain"], states=["no", "yes"])
    CPT(wet | rain, 2 x 2)
    >>> CPT("rain", [0.7, 0.2])
    Traceback (most recent call last):
    ValueError: the table of 'rain' must sum to 1 over its last axis, it sums to 0.9
    """

    def __new__(
        cls,
        variable: Name,
        values: ArrayLike | None,
        *,
        parents: Sequence[Name] = (),
        states: Sequence[Any] | Mapping[Name, Sequence[Any]] | None = None,
        fixed: bool = False,
    ) -> Self:
        parents = _parents(variable, parents)
        table = np.array(values, dtype=np.float64)
        if table.ndim != len(parents) + 1 or not table.shape[-1]:
            raise ValueError(
                f"the table of {variable!r} must have one axis for each of its {len(parents)} "
                f"parents and one for itself, got the shape {table.shape}"
            )
        if isinstance(states, Mapping):
            states = states[variable]
        own = tuple(range(table.shape[-1])) if states is None else tuple(states)
        if len(own) != table.shape[-1] or len(set(own)) < len(own):
            r = table.shape[-1]
            raise ValueError(f"{variable!r} needs {r} different states, got {list(own)}")
        return super().__new__(cls, variable, _rows(variable, table), parents, own, bool(fixed))

    def _repr_html_(self) -> str:
        """The table for a notebook: a row for each combination of the parents' states."""
        own = tuple(f"{self.variable} = {state}" for state in self.states)
        rows = [
            (*(str(i) for i in at), *self.values[at].tolist())
            for at in islice(np.ndindex(self.values.shape[:-1]), MOST_ROWS)
        ]
        more = int(np.prod(self.values.shape[:-1])) - len(rows)
        rest = f"<p>and {more} more rows</p>" if more else ""
        return html_table((*(f"state of {parent}" for parent in self.parents), *own), rows) + rest

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        rest = {"parents": self.parents, "states": self.states, "fixed": self.fixed}
        return (self.variable, self.values), rest

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CPT):
            return NotImplemented
        same = (self[0], self[2:]) == (other[0], other[2:])
        return same and np.array_equal(self.values, other.values)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = f" | {', '.join(map(str, self.parents))}" if self.parents else ""
        return f"CPT({self.variable}{given}, {' x '.join(map(str, self.values.shape))})"

    def factor(self, states: Mapping[Name, Sequence[Any]]) -> Factor:
        """The table as a factor; ``states`` gives those of the parents.

        >>> CPT("a", [0.5, 0.5]).factor({}).names
        ('a',)
        """
        scope = {parent: tuple(states[parent]) for parent in self.parents}
        return Factor({**scope, self.variable: self.states}, self.values)


class _LinearGaussianCPD(NamedTuple):
    variable: Name
    intercept: float
    coefficients: Array
    variance: float
    parents: tuple[Name, ...]


@readable
class LinearGaussianCPD(_LinearGaussianCPD):
    """A normal variable whose mean is linear in its parents.

    Parameters
    ----------
    variable : name
        The child.
    intercept : float
        Mean where all parents are 0.
    coefficients : array
        One slope for each parent.
    variance : float
        ``> 0``.
    parents : sequence of names, default=()
        In the order of the coefficients.

    Examples
    --------
    >>> from pellucid.graphical import BayesianNetwork, LinearGaussianCPD
    >>> x = LinearGaussianCPD("X", 1.0, [], 2.0)
    >>> y = LinearGaussianCPD("Y", 3.0, [0.5], 1.0, parents=["X"])
    >>> law = BayesianNetwork(cpds=[x, y]).query("X", {"Y": 5.0})
    >>> law.mean, law.covariance.round(4)
    (array([2.]), array([[1.3333]]))
    """

    def __new__(
        cls,
        variable: Name,
        intercept: float,
        coefficients: ArrayLike | None,
        variance: float,
        *,
        parents: Sequence[Name] = (),
    ) -> Self:
        parents = _parents(variable, parents)
        slopes = np.array(coefficients, dtype=np.float64).reshape(-1)
        if len(slopes) != len(parents):
            raise ValueError(
                f"{variable!r} needs one coefficient for each of its {len(parents)} parents, "
                f"got {len(slopes)}"
            )
        if not (np.isfinite(slopes).all() and np.isfinite(intercept)):
            raise ValueError(f"intercept and coefficients of {variable!r} must be finite")
        if not (variance > 0 and np.isfinite(variance)):
            raise ValueError(f"the variance of {variable!r} must be > 0, got {variance!r}")
        return super().__new__(cls, variable, float(intercept), slopes, float(variance), parents)

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tuple(self)[:4], {"parents": self.parents}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LinearGaussianCPD):
            return NotImplemented
        slopes = self.coefficients.tolist(), other.coefficients.tolist()
        mine, theirs = ((c.variable, c.intercept, c.variance, c.parents) for c in (self, other))
        return (mine, slopes[0]) == (theirs, slopes[1])

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        terms = [f"{self.intercept:g}"]
        terms += [f"{c:g} {p}" for c, p in zip(self.coefficients, self.parents, strict=True)]
        return f"{self.variable} ~ N({' + '.join(terms)}, {self.variance:g})"


def _parents(variable: Name, parents: Sequence[Name]) -> tuple[Name, ...]:
    names = (parents,) if isinstance(parents, str) else tuple(parents)
    if len(set(names)) < len(names) or variable in names:
        raise ValueError(f"the parents of {variable!r} must be different others, got {names}")
    return names


def _rows(variable: Name, table: Array) -> Array:
    """The table with rows that sum to 1 exactly, or the sentence which row does not."""
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError(f"the table of {variable!r} must hold finite numbers >= 0")
    sums = table.sum(axis=-1)
    off = np.abs(sums - 1.0)
    if off.max(initial=0.0) > SUM_TOLERANCE:
        index = np.unravel_index(int(off.argmax()), sums.shape)
        row = f" in row {tuple(int(i) for i in index)}" if sums.ndim else ""
        raise ValueError(
            f"the table of {variable!r} must sum to 1 over its last axis, "
            f"it sums to {float(sums[index]):.9g}{row}"
        )
    if off.max(initial=0.0) > 1e-12:
        table = table / sums[..., None]
    return np.ascontiguousarray(table)
