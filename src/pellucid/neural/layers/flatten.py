"""Rows of any shape, such as pictures, as rows of numbers."""

from math import prod
from typing import Any

from pellucid.core.arrays.typing import Array
from pellucid.neural.layers.layer import Layer, Params, Shape


class Flatten(Layer):
    """Each row's numbers in one line.

    >>> import numpy as np
    >>> Flatten().forward((), np.zeros((2, 4, 3)))[0].shape
    (2, 12)
    """

    def output_shape(self, shape: Shape) -> Shape:
        """The shape of one row of the output."""
        return (prod(shape),)

    def forward(self, p: Params, x: Array) -> tuple[Array, Any]:
        """The output for x, and what the backward pass needs."""
        return x.reshape(len(x), -1), x.shape

    def by_input(self, p: Params, saved: Any, d: Array) -> Array:
        """The gradient by the input, from d, that by the output."""
        return d.reshape(saved)

    def by_weights(self, p: Params, saved: object, d: Array) -> Params:
        """The gradient by the weights, from d, that by the output."""
        return ()
