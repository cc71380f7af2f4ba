r"""A joint distribution of a few discrete variables, as a table.

    marginal      P(a)    = sum_b P(a, b)
    condition     P(a|b)  = P(a, b) / P(b)                      where P(b) > 0
    chain rule    P(x_1, .., x_d) = prod_j P(x_j | x_1, .., x_j-1)       in any order
    independent   P(a, b | c) = P(a | c) P(b | c)               for every c with P(c) > 0
    mean          E h = sum_x h(x) P(x),      E[t | b] = sum_t t P(t | b)

One axis per variable; O(prod of the numbers of states) memory and time for each operation.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import text_table

SUMS_TO_ONE = 1e-8
ROWS_SHOWN = 16


@readable
class Factor(NamedTuple):
    """P(target | given): axes are the given variables, then the target.

    Where the condition has probability 0 the factor is 0, so that products stay right.

    >>> print(Factor("b", ("a",), np.eye(2)))
    P(b | a)
    """

    target: str  # the variable
    given: tuple[str, ...]  # the variables before the bar
    p: Array  # probabilities

    def __str__(self) -> str:
        return f"P({self.target}{' | ' * bool(self.given)}{', '.join(self.given)})"


@readable
class ChainRule(NamedTuple):
    """The joint distribution as a product of conditional ones.

    >>> chain = JointTable([[0.4, 0.1], [0.2, 0.3]], {"a": (0, 1), "b": (0, 1)}).chain_rule("ba")
    >>> print(chain)
    P(b, a) = P(b) P(a | b)
    >>> chain.product().round(6)
    array([[0.4, 0.2],
           [0.1, 0.3]])
    """

    order: tuple[str, ...]  # of the variables
    factors: tuple[Factor, ...]  # one conditional distribution per variable

    def product(self) -> Array:
        """The joint probabilities, axes in the order of the rule."""
        p: Array = np.ones(())
        for factor in self.factors:
            p = p[..., None] * factor.p
        return p

    def __str__(self) -> str:
        return f"P({', '.join(self.order)}) = {' '.join(map(str, self.factors))}"


class JointTable:
    """The probabilities of every combination of states.

    Parameters
    ----------
    p : array, one axis per variable
        Probabilities: >= 0, sum 1 (to 1e-8).
    variables : mapping of name to states, in the order of the axes
        States are the values a variable takes, such as ``(0, 1)`` or ``("no", "yes")``.
    normalise : bool, default=False
        Divide p by its sum: counts and other weights become probabilities.

    Attributes
    ----------
    p : ndarray, read-only
    variables : dict of name to tuple of states

    Examples
    --------
    >>> from pellucid.maths import JointTable
    >>> table = JointTable([[0.3, 0.1], [0.2, 0.4]], {"rain": ("no", "yes"), "wet": (0, 1)})
    >>> table.marginal("rain").p
    array([0.4, 0.6])
    >>> table.condition(rain="yes").p.round(4)
    array([0.3333, 0.6667])
    >>> table.independent("rain", "wet"), round(table.conditional_mean("wet", rain="no"), 4)
    (False, 0.25)
    """

    def __init__(
        self, p: ArrayLike, variables: Mapping[str, Any], *, normalise: bool = False
    ) -> None:
        check.boolean(normalise=normalise)
        table = np.array(p, dtype=np.float64)
        self.variables = {str(name): tuple(states) for name, states in dict(variables).items()}
        shape = tuple(len(states) for states in self.variables.values())
        if table.shape != shape:
            raise ValueError(f"p must have the shape {shape} of the variables, got {table.shape}")
        for name, states in self.variables.items():
            if not states or len(set(states)) != len(states):
                raise ValueError(f"the states of {name!r} must be distinct, got {states!r}")
        if not (np.isfinite(table).all() and (table >= 0).all()):
            bad = table[~(table >= 0) | ~np.isfinite(table)][0]
            raise ValueError(f"p must hold finite probabilities >= 0, got {bad}")
        total = float(table.sum())
        if total == 0 or not (normalise or abs(total - 1) <= SUMS_TO_ONE):
            raise ValueError(f"p must sum to 1, got {total:.10g}; normalise=True divides by it")
        self.p: Array = np.asarray(table / total if normalise else table)
        self.p.flags.writeable = False

    @property
    def names(self) -> tuple[str, ...]:
        """The variables in the order of the axes."""
        return tuple(self.variables)

    def marginal(self, *names: str) -> "JointTable":
        """P of these variables, axes in the order asked for."""
        axes = [self._axis(name) for name in names]
        if len(set(axes)) != len(axes):
            raise ValueError(f"marginal needs distinct variables, got {names!r}")
        rest = tuple(j for j in range(self.p.ndim) if j not in axes)
        p = self.p.sum(axis=rest).transpose([sorted(axes).index(j) for j in axes])
        return JointTable(p, {name: self.variables[name] for name in names})

    def condition(
        self, evidence: Mapping[str, Any] | None = None, /, **states: Any
    ) -> "JointTable":
        """P of the other variables given these states; a mapping serves names with blanks."""
        given = {**(evidence or {}), **states}
        slab = self.p[self._index(given)]
        if not slab.sum() > 0:
            event = ", ".join(f"{name}={state!r}" for name, state in given.items())
            raise ValueError(f"P({event}) = 0: nothing can be conditioned on it")
        rest = {name: s for name, s in self.variables.items() if name not in given}
        return JointTable(slab, rest, normalise=True)

    def probability(self, event: Mapping[str, Any] | None = None, /, **states: Any) -> float:
        """P of these states together."""
        return float(self.p[self._index({**(event or {}), **states})].sum())

    def chain_rule(self, order: str | Sequence[str] | None = None) -> ChainRule:
        """The factors P(x_j | x_1, .., x_j-1) in this order of all the variables."""
        order = self.names if order is None else tuple(order)
        if sorted(order) != sorted(self.names):
            raise ValueError(f"order must name each of {self.names!r} once, got {order!r}")
        factors, before = [], np.ones(())
        for j, name in enumerate(order):
            joint = self.marginal(*order[: j + 1]).p
            below = before[..., None]
            p = np.divide(joint, below, out=np.zeros_like(joint), where=below > 0)
            factors.append(Factor(name, tuple(order[:j]), p))
            before = joint
        return ChainRule(tuple(order), tuple(factors))

    def independent(
        self,
        a: str | Sequence[str],
        b: str | Sequence[str],
        given: str | Sequence[str] = (),
        tol: float = 1e-9,
    ) -> bool:
        """Whether P(a, b | given) = P(a | given) P(b | given) to ``tol`` in every cell.

        Each of a, b and given is a name or several.
        """
        check.non_negative(tol=tol)
        a, b, c = _names(a), _names(b), _names(given)
        if not a or not b or len({*a, *b, *c}) != len(a) + len(b) + len(c):
            raise ValueError(f"a, b and given must be distinct variables, got {a!r}, {b!r}, {c!r}")
        sizes = [int(np.prod([len(self._states(name)) for name in part])) for part in (c, a, b)]
        joint = self.marginal(*c, *a, *b).p.reshape(sizes)
        conditional = joint[joint.sum(axis=(1, 2)) > 0]
        conditional = conditional / conditional.sum(axis=(1, 2), keepdims=True)
        expected = conditional.sum(axis=2, keepdims=True) * conditional.sum(axis=1, keepdims=True)
        return bool(np.abs(conditional - expected).max() <= tol)

    def expectation(self, h: Callable[..., float] | str) -> float:
        """E h, with h a function of the states in axis order, or the name of a variable."""
        if isinstance(h, str):
            return float(self._numbers(h) @ self.marginal(h).p)
        states = product(*self.variables.values())
        parts = [q * float(h(*x)) for x, q in zip(states, self.p.ravel(), strict=True) if q > 0]
        return float(np.sum(parts))

    def conditional_mean(
        self, target: str, given: Mapping[str, Any] | None = None, /, **states: Any
    ) -> float:
        """E[target | these states]; the states of the target must be numbers."""
        given = {**(given or {}), **states}
        self._axis(target)
        if target in given:
            raise ValueError(f"{target!r} is both the target and given")
        return self.condition(given).expectation(target)

    def _states(self, name: str) -> tuple[Hashable, ...]:
        if name not in self.variables:
            names = ", ".join(self.variables)
            near = check.hint(name, self.names)
            raise ValueError(f"there is no variable {name!r}; the table has {names}{near}")
        return self.variables[name]

    def _axis(self, name: str) -> int:
        self._states(name)
        return self.names.index(name)

    def _index(self, states: Mapping[str, Any]) -> tuple[Any, ...]:
        index: list[Any] = [slice(None)] * self.p.ndim
        for name, state in states.items():
            known = self._states(name)
            if state not in known:
                raise ValueError(f"{name!r} has the states {known!r}, got {state!r}")
            index[self._axis(name)] = known.index(state)
        return tuple(index)

    def _numbers(self, name: str) -> Array:
        states = self._states(name)
        if not all(isinstance(s, int | float | np.number) for s in states):
            raise ValueError(f"the mean of {name!r} needs states that are numbers, got {states!r}")
        return np.asarray(states, dtype=np.float64)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {len(s)}" for name, s in self.variables.items())
        return f"JointTable({sizes or 'no variables'})"

    def __str__(self) -> str:
        cells = zip(product(*self.variables.values()), self.p.ravel(), strict=True)
        rows = [(*map(str, x), float(q)) for x, q in cells]
        text = text_table((*self.names, "P"), rows[:ROWS_SHOWN])
        return text + f"\n... {len(rows)} rows in all" * (len(rows) > ROWS_SHOWN)


def _names(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
