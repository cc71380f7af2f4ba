r"""Factors: tables of non-negative numbers over a few variables.

Sum rule      p(a) = sum_b p(a, b)                   ``p.marginalise("b")``
Product rule  p(a, b) = p(b | a) p(a)                ``conditional * marginal``
Chain rule    p(a, b, c) = p(a) p(b | a) p(c | a, b)
Bayes' rule   p(a | b) = p(b | a) p(a) / p(b)        ``(likelihood * prior).condition("b")``
Evidence      p(a | b = 1)                           ``p.reduce({"b": 1}).normalise()``

a and b are independent given c iff p(a, b, c) p(c) = p(a, c) p(b, c) for all states.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.graphical.graphs.separation import subsets
from pellucid.graphical.network.names import Name, Names, names_of, state_index

Scope = dict[Name, tuple[Any, ...]]


class _Table(NamedTuple):
    scope: Scope
    values: Array


@readable
class Factor(_Table):
    """A table over named variables, one axis each.

    Parameters
    ----------
    scope : dict of name -> states
        In the order of the axes.
    values : array
        Non-negative, one entry for each combination of states.

    Examples
    --------
    >>> from pellucid.graphical import Factor
    >>> rain = Factor({"rain": ("no", "yes")}, [0.8, 0.2])
    >>> wet = Factor({"rain": ("no", "yes"), "wet": ("no", "yes")}, [[0.9, 0.1], [0.2, 0.8]])
    >>> (rain * wet).reduce({"wet": "yes"}).normalise()
    Factor(rain)
      no   0.333333
      yes  0.666667
    >>> (rain * wet).independent("rain", "wet")
    False
    """

    def __new__(cls, scope: Mapping[Name, Iterable[Any]], values: ArrayLike) -> Self:
        table = np.array(values, dtype=np.float64)
        checked = {name: tuple(states) for name, states in scope.items()}
        shape = tuple(len(states) for states in checked.values())
        if table.shape != shape:
            if table.size != int(np.prod(shape, dtype=object)) or table.ndim != 1:
                raise ValueError(f"values must have the shape {shape} of scope, got {table.shape}")
            table = table.reshape(shape)
        if not np.isfinite(table).all() or (table < 0).any():
            raise ValueError("values must be finite and >= 0")
        for name, states in checked.items():
            if len(set(states)) < len(states):
                raise ValueError(f"variable {name!r} has the same state twice: {states}")
        return super().__new__(cls, checked, table)

    @classmethod
    def _of(cls, scope: Scope, values: Array) -> Self:
        """Without checks, for results of checked factors."""
        return tuple.__new__(cls, (scope, values))

    @classmethod
    def from_table(cls, table: Any) -> Self:
        """A ``pellucid.maths.JointTable`` (anything with ``p`` and ``variables``) as a factor."""
        return cls(table.variables, table.p)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.scope, self.values

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Factor):
            return NotImplemented
        same = list(self.scope.items()) == list(other.scope.items())
        return same and np.array_equal(self.values, other.values)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        head = f"Factor({', '.join(map(str, self.scope))})"
        if self.values.size > 64:
            return f"{head} of {self.values.size} entries"
        cells = [[str(self_state) for self_state in row] for row in _states_of(self.scope)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  " + "  ".join([c.ljust(w) for c, w in zip(row, widths, strict=True)] + [f"{v:.6g}"])
            for row, v in zip(cells, self.values.ravel(), strict=True)
        ]
        return "\n".join([head, *lines])

    @property
    def names(self) -> tuple[Name, ...]:
        """The variables in the order of the axes."""
        return tuple(self.scope)

    def _axes(self, names: Names) -> tuple[int, ...]:
        chosen = names_of(names, self.scope)
        return tuple(i for i, name in enumerate(self.scope) if name in chosen)

    def _without(self, axes: tuple[int, ...]) -> Scope:
        return {n: s for i, (n, s) in enumerate(self.scope.items()) if i not in axes}

    def _aligned(self, scope: Scope) -> Array:
        """The values with one axis for every variable of a larger scope."""
        order = [self.names.index(name) for name in scope if name in self.scope]
        shape = [len(states) if name in self.scope else 1 for name, states in scope.items()]
        return self.values.transpose(order).reshape(shape)

    def _joined(self, other: "Factor") -> Scope:
        for name in self.scope.keys() & other.scope.keys():
            if self.scope[name] != other.scope[name]:
                raise ValueError(
                    f"variable {name!r} has the states {self.scope[name]} in one factor and "
                    f"{other.scope[name]} in the other"
                )
        return {**self.scope, **other.scope}

    def __mul__(self, other: Any) -> "Factor":
        """The product, over the variables of both."""
        if not isinstance(other, Factor):
            return Factor(self.scope, self.values * float(other))
        scope = self._joined(other)
        return Factor._of(scope, self._aligned(scope) * other._aligned(scope))

    def __truediv__(self, other: "Factor") -> "Factor":
        """The quotient with 0 / 0 = 0; the other's variables must be among these."""
        scope = self._joined(other)
        if len(scope) > len(self.scope):
            raise ValueError("the divisor has variables that the dividend lacks")
        below = np.broadcast_to(other._aligned(scope), self.values.shape)
        if ((below == 0) & (self.values > 0)).any():
            raise ValueError("a positive entry cannot be divided by zero")
        quotient = np.divide(self.values, below, out=np.zeros(below.shape), where=below > 0)
        return Factor._of(scope, quotient)

    def marginalise(self, names: Names) -> "Factor":
        """Sum the named variables out; the others stay."""
        axes = self._axes(names)
        return Factor._of(self._without(axes), np.asarray(self.values.sum(axis=axes)))

    def maximise(self, names: Names) -> "Factor":
        """Replace the named variables by the largest entry over their states."""
        axes = self._axes(names)
        return Factor._of(self._without(axes), np.asarray(self.values.max(axis=axes)))

    def reduce(self, evidence: Mapping[Name, Any]) -> "Factor":
        """Keep the entries that agree with the evidence; its variables leave the scope."""
        axes = self._axes(tuple(evidence))
        index: list[Any] = [slice(None)] * len(self.scope)
        for name, state in evidence.items():
            index[self.names.index(name)] = state_index(self.scope[name], state, name)
        return Factor._of(self._without(axes), self.values[tuple(index)].copy())

    def normalise(self) -> "Factor":
        """Scaled to sum 1."""
        total = float(self.values.sum())
        if not total > 0:
            raise ValueError("impossible evidence: every entry of the factor is zero")
        return Factor._of(self.scope, self.values / total)

    def condition(self, names: Names) -> "Factor":
        """p(others | names): the table divided by the marginal of the named variables."""
        others = [name for name in self.scope if name not in names_of(names, self.scope)]
        return self / self.marginalise(others)

    def reorder(self, names: Iterable[Name]) -> "Factor":
        """The same table with its axes in this order."""
        order = tuple(names)
        if sorted(map(repr, order)) != sorted(map(repr, self.scope)):
            raise ValueError(f"the order must name each of {self.names} once, got {order}")
        axes = [self.names.index(name) for name in order]
        return Factor._of({n: self.scope[n] for n in order}, self.values.transpose(axes))

    def at(self, assignment: Mapping[Name, Any]) -> float:
        """The entry of a full assignment name -> state."""
        missing = [name for name in self.scope if name not in assignment]
        if missing:
            raise ValueError(f"the assignment gives no state for {missing[0]!r}")
        index = (state_index(s, assignment[n], n) for n, s in self.scope.items())
        return float(self.values[tuple(index)])

    def best(self) -> dict[Name, Any]:
        """The assignment with the largest entry; the first of several."""
        index = np.unravel_index(int(self.values.argmax()), self.values.shape)
        return {n: s[int(i)] for (n, s), i in zip(self.scope.items(), index, strict=True)}

    def independent(self, a: Names, b: Names, given: Names = (), atol: float = 1e-9) -> bool:
        """Whether a and b are independent given ``given`` in the normalised table."""
        left, right, seen = (names_of(part, self.scope) for part in (a, b, given))
        shared = (set(left) & set(right)) | (set(seen) & (set(left) | set(right)))
        if shared:
            raise ValueError(f"a, b and given must not overlap, {shared.pop()!r} is in two of them")
        joint = self.normalise()._keep((*left, *right, *seen))
        with_a, with_b, base = joint._keep((*left, *seen)), joint._keep((*right, *seen)), None
        base = joint._keep(seen)
        gap = joint._aligned(joint.scope) * base._aligned(joint.scope)
        gap = gap - with_a._aligned(joint.scope) * with_b._aligned(joint.scope)
        return bool(np.abs(gap).max(initial=0.0) <= atol)

    def _keep(self, names: tuple[Name, ...]) -> "Factor":
        return self.marginalise([name for name in self.scope if name not in names])

    def independencies(self, atol: float = 1e-9) -> set[tuple[frozenset[Name], frozenset[Name]]]:
        """All ({a, b}, given) that hold in the table."""
        joint, found = self.normalise(), set()
        for given in subsets(self.names, None):
            rest = [name for name in self.scope if name not in given]
            for i, a in enumerate(rest):
                for b in rest[i + 1 :]:
                    if joint.independent(a, b, given, atol):
                        found.add((frozenset([a, b]), frozenset(given)))
        return found


def _states_of(scope: Scope) -> list[tuple[Any, ...]]:
    from itertools import product

    return list(product(*scope.values()))


def as_factor(p: Any) -> Factor:
    """A factor, or a joint table as one."""
    if isinstance(p, Factor):
        return p
    if hasattr(p, "p") and hasattr(p, "variables"):
        return Factor.from_table(p)
    raise TypeError(f"a Factor or a JointTable is needed, got {type(p).__name__}")
