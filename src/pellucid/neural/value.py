r"""A computational graph of scalars: values forward, derivatives backward.

    z = f(u, v, ...):   u.grad += dz/du z.grad        for every use of u, last node first

The local derivatives are those of the layers: the product rule of ``dense`` and the records of
``activations``. So is the order: a node is done before the nodes it was made from.
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.neural.layers.activations import ACTIVATIONS, LOG, Activation, power
from pellucid.neural.layers.dense import product_by_left, product_by_right


class Node(NamedTuple):
    """One line of ``Value.graph()``."""

    name: str
    operation: str
    value: float
    parents: tuple[str, ...]
    local: tuple[float, ...]  # d value/d parent
    gradient: float


def product_rule(u: float, v: float) -> tuple[float, float]:
    """d(u v)/du and d(u v)/dv, by the rule of the dense layer for 1 x 1 matrices."""
    one, left, right = np.ones((1, 1)), np.full((1, 1), u), np.full((1, 1), v)
    return float(product_by_left(right, one)[0, 0]), float(product_by_right(left, one)[0, 0])


class Value:
    """A number that remembers how it was computed.

    Parameters
    ----------
    value : float
        The number.
    name : str, optional
        For printing.

    Attributes
    ----------
    grad : float
        d (the node whose ``backward`` was called) / d (this node).

    Examples
    --------
    >>> from pellucid.neural import Value
    >>> x1, x2 = Value(2.0, "x1"), Value(0.5, "x2")
    >>> z = x1**2 * x2.exp() * (1 - (x2**3).exp())
    >>> z.backward()
    >>> round(z.value, 10), round(x1.grad, 10), round(x2.grad, 10)
    (-0.8780987469, -0.8780987469, -6.4828366192)
    """

    def __init__(self, value: float, name: str | None = None) -> None:
        self.value = float(value)
        self.name = name
        self.grad = 0.0
        self.operation = "input"
        self.parents: tuple[Value, ...] = ()
        self.local: tuple[float, ...] = ()

    def _made(
        self, value: float, operation: str, parents: tuple["Value", ...], local: tuple[float, ...]
    ) -> "Value":
        made = Value(value)
        made.operation, made.parents, made.local = operation, parents, local
        return made

    def apply(self, rule: Activation) -> "Value":
        """f(self) for a function with its derivative."""
        if rule.derivative is None:
            raise ValueError(f"{rule.name!r} has no derivative")
        with np.errstate(all="ignore"):
            a = rule.function(np.float64(self.value))
            slope = float(rule.derivative(np.float64(self.value), a))
        if not (np.isfinite(a) and np.isfinite(slope)):
            raise ValueError(f"{rule.name} and its derivative must be finite at {self.value:g}")
        return self._made(float(a), rule.name, (self,), (slope,))

    def __add__(self, other: Any) -> "Value":
        v = as_value(other)
        return self._made(self.value + v.value, "+", (self, v), (1.0, 1.0))

    def __mul__(self, other: Any) -> "Value":
        v = as_value(other)
        return self._made(self.value * v.value, "*", (self, v), product_rule(self.value, v.value))

    def __pow__(self, other: Any) -> "Value":
        if isinstance(other, Value):  # u^v = exp(v log u)
            return (other * self.log()).exp()
        return self.apply(power(float(other)))

    def __neg__(self) -> "Value":
        return self * -1.0

    def __sub__(self, other: Any) -> "Value":
        return self + -as_value(other)

    def __rsub__(self, other: Any) -> "Value":
        return as_value(other) + -self

    def __truediv__(self, other: Any) -> "Value":
        return self * as_value(other) ** -1

    def __rtruediv__(self, other: Any) -> "Value":
        return as_value(other) * self**-1

    def __rpow__(self, other: Any) -> "Value":
        return as_value(other) ** self

    __radd__, __rmul__ = __add__, __mul__

    def exp(self) -> "Value":
        """e to this number."""
        return self.apply(ACTIVATIONS["exp"])

    def log(self) -> "Value":
        """The natural logarithm."""
        return self.apply(LOG)

    def tanh(self) -> "Value":
        """The hyperbolic tangent."""
        return self.apply(ACTIVATIONS["tanh"])

    def relu(self) -> "Value":
        """max(0, x)."""
        return self.apply(ACTIVATIONS["relu"])

    def logistic(self) -> "Value":
        """1 / (1 + exp(-x))."""
        return self.apply(ACTIVATIONS["logistic"])

    def backward(self) -> None:
        """Fill ``grad`` of every node this one depends on."""
        order = in_order(self)
        for node in order:
            node.grad = 0.0
        self.grad = 1.0
        for node in reversed(order):
            for parent, slope in zip(node.parents, node.local, strict=True):
                parent.grad += slope * node.grad

    def graph(self) -> list[Node]:
        """The nodes, inputs first, with values, local derivatives and gradients."""
        order = in_order(self)
        names = {id(node): node.name or f"n{i}" for i, node in enumerate(order)}
        nodes = []
        for n in order:
            parents = tuple(names[id(p)] for p in n.parents)
            nodes.append(Node(names[id(n)], n.operation, n.value, parents, n.local, n.grad))
        return nodes

    def __repr__(self) -> str:
        label = "" if self.name is None else f", {self.name!r}"
        return f"Value({self.value:g}{label})"


def as_value(x: Any) -> Value:
    """A number as a constant node."""
    return x if isinstance(x, Value) else Value(x)


def in_order(last: Value) -> list[Value]:
    """Every node after the nodes it was made from; a cycle is refused."""
    order: list[Value] = []
    state: dict[int, int] = {}  # 1: being visited, 2: done
    stack: list[tuple[Value, bool]] = [(last, False)]
    while stack:
        node, finished = stack.pop()
        if finished:
            state[id(node)] = 2
            order.append(node)
        elif state.get(id(node)) == 1:
            raise ValueError(f"the graph has a cycle through {node!r}: it must be acyclic")
        elif id(node) not in state:
            state[id(node)] = 1
            stack.append((node, True))
            for parent in node.parents:
                if state.get(id(parent)) == 1:
                    raise ValueError(f"the graph has a cycle through {parent!r}")
                if id(parent) not in state:
                    stack.append((parent, False))
    return order
