"""An activation as a layer: a = g(z), d loss/dz = g'(z) d."""

from collections.abc import Sequence
from typing import Any

from pellucid.core.arrays.typing import Array
from pellucid.neural.layers.activations import Activation, get_activation
from pellucid.neural.layers.layer import Layer, Params


class Activate(Layer):
    """a = g(z), unit by unit (softmax: row by row).

    Parameters
    ----------
    activation : str, Activation or list
        A name, a record, or one of them for each unit.

    Examples
    --------
    >>> import numpy as np
    >>> Activate("relu").forward((), np.array([[-1.0, 2.0]]))[0]
    array([[0., 2.]])
    """

    def __init__(self, activation: str | Activation | Sequence[str | Activation]) -> None:
        self.activation = activation

    def forward(self, p: Params, x: Array) -> tuple[Array, Any]:
        """The output for x, and what the backward pass needs."""
        a = get_activation(self.activation).function(x)
        return a, (x, a)

    def by_input(self, p: Params, saved: Any, d: Array) -> Array:
        """The gradient by the input, from d, that by the output."""
        z, a = saved
        return get_activation(self.activation).back(z, a, d)

    def by_weights(self, p: Params, saved: object, d: Array) -> Params:
        """The gradient by the weights, from d, that by the output."""
        return ()
