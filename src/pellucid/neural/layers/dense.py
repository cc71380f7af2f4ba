r"""A dense layer: weighted sums z = x W + b, then an activation a = g(z).

d loss/dx = d W',   d loss/dW = x' d,   d loss/db = sum over rows of d      (d = d loss/dz)
"""

from collections.abc import Sequence
from typing import Any

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Rng
from pellucid.neural.layers import initial
from pellucid.neural.layers.activate import Activate
from pellucid.neural.layers.activations import Activation, get_activation
from pellucid.neural.layers.initial import HeInit, NormalInit, UniformInit
from pellucid.neural.layers.layer import Layer, Params, Shape


def product_by_left(W: Array, d: Array) -> Array:
    """d loss/dx of the product x W."""
    return d @ W.T


def product_by_right(x: Array, d: Array) -> Array:
    """d loss/dW of the product x W."""
    return x.T @ d


class Affine(Layer):
    """z = x W + b.

    >>> import numpy as np
    >>> Affine(1).forward((np.array([[2.0]]), np.array([1.0])), np.array([[3.0]]))[0]
    array([[7.]])
    """

    def __init__(self, units: int, init: object = "glorot_uniform", use_bias: bool = True) -> None:
        self.units = units
        self.init = init
        self.use_bias = use_bias

    def output_shape(self, shape: Shape) -> Shape:
        if len(shape) != 1:
            raise ValueError(f"a dense layer needs rows of numbers, got shape {shape}: add Flatten")
        return (self.units,)

    def layout(self, shape: Shape) -> tuple[Shape, ...]:
        W = (shape[0], self.units)
        return (W, (self.units,)) if self.use_bias else (W,)

    def draw(self, shape: Shape, rng: Rng) -> Params:
        W = initial.draw_weights((shape[0], self.units), self.init, rng)
        return (W, initial.draw_biases(self.units, self.init, rng)) if self.use_bias else (W,)

    def forward(self, p: Params, x: Array) -> tuple[Array, Any]:
        z = x @ p[0]
        if self.use_bias:
            z += p[1]
        return z, x

    def by_input(self, p: Params, saved: object, d: Array) -> Array:
        return product_by_left(p[0], d)

    def by_weights(self, p: Params, saved: Any, d: Array) -> Params:
        dW = product_by_right(saved, d)
        return (dW, d.sum(axis=0)) if self.use_bias else (dW,)


class Dense(Layer):
    """Weighted sums of all inputs, then an activation.

    Parameters
    ----------
    units : int
        Number of outputs.
    activation : str, Activation or list, default="relu"
        A name, a record, or one of them for each unit.
    init : str, UniformInit, NormalInit or HeInit, default="glorot_uniform"
        How the weights, of shape (inputs, units), are drawn.
    use_bias : bool, default=True
        Whether each sum has a constant.

    Examples
    --------
    >>> from pellucid.neural import Dense, Network
    >>> Network([Dense(3), Dense(1, "identity")], n_inputs=2, random_state=0).vector.size
    13
    """

    def __init__(
        self,
        units: int,
        activation: str | Activation | Sequence[str | Activation] = "relu",
        *,
        init: str | UniformInit | NormalInit | HeInit = "glorot_uniform",
        use_bias: bool = True,
    ) -> None:
        self.units = units
        self.activation = activation
        self.init = init
        self.use_bias = use_bias

    def parts(self) -> tuple[Layer, ...]:
        """The layer itself, its parameters checked."""
        check.whole(units=self.units)
        check.boolean(use_bias=self.use_bias)
        get_activation(self.activation, self.units)
        return Affine(self.units, self.init, self.use_bias), Activate(self.activation)
