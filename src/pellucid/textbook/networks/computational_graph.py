r"""Computational graph: derivatives of any program of numbers, in one pass back.

Given       a number z computed from others by additions, products, functions
Solve       dz/du for every number u on the way
Step        chain rule: dz/du = sum over the uses w of u of dz/dw dw/du. Each w knows dw/du when it
            is made; so go through the numbers from z back, last made first, and hand each one's
            derivative on to what it was made from. All derivatives together
            cost about as much as z.
Cost        one step per operation, whatever the number of inputs.
The fast version shows the graph, and its layers do the same with matrices.
"""

from collections.abc import Iterable

import numpy as np


class Number:
    """A value with the numbers it was made from and the slope by each of them."""

    def __init__(self, value: float, made_from: Iterable[tuple["Number", float]] = ()) -> None:
        self.value, self.made_from, self.slope = value, list(made_from), 0.0

    def __add__(self, other: "Number") -> "Number":
        return Number(self.value + other.value, [(self, 1.0), (other, 1.0)])

    def __mul__(self, other: "Number") -> "Number":
        return Number(self.value * other.value, [(self, other.value), (other, self.value)])

    def exp(self) -> "Number":
        return Number(float(np.exp(self.value)), [(self, float(np.exp(self.value)))])

    def tanh(self) -> "Number":
        a = float(np.tanh(self.value))
        return Number(a, [(self, 1 - a * a)])


def computational_graph(z: Number) -> None:
    """Fill in ``slope`` = dz/du of every number u that z was made from."""
    order: list[Number] = []

    def visit(u: Number) -> None:
        if u not in order:
            for before, _ in u.made_from:
                visit(before)
            order.append(u)  # after everything it was made from

    visit(z)
    for u in order:
        u.slope = 0.0
    z.slope = 1.0
    for u in reversed(order):
        for before, local in u.made_from:
            before.slope += local * u.slope
