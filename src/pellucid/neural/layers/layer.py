"""What a layer is: forward, and the derivatives of the loss by its input and by its weights.

A layer holds its settings only; its parameters p (arrays) and its saved intermediate results are
arguments, so that one layer can serve several threads and any number of networks.
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Array, Rng

Shape = tuple[int, ...]
Params = tuple[Array, ...]


class Layer(BaseEstimator):
    """Base of the layers; your own needs ``forward`` and ``backward``.

    ``forward(p, x)`` returns the output and whatever ``backward`` wants to see again;
    ``backward(p, saved, d)`` turns d = d loss/d output into d loss/d input and the tuple of
    d loss/d parameters. A layer with parameters also says ``draw``; one that changes the shape of
    a row says ``output_shape``.

    >>> class Double(Layer):
    ...     def forward(self, p, x):
    ...         return 2 * x, None
    ...     def backward(self, p, saved, d):
    ...         return 2 * d, ()
    >>> Double().forward((), 3.0)
    (6.0, None)
    """

    couples_rows = False  # whether a row's output depends on the other rows of its batch
    noisy = False  # whether training passes ``noise`` in the place of parameters

    def parts(self) -> tuple["Layer", ...]:
        """The simple layers that this one stands for."""
        return (self,)

    def output_shape(self, shape: Shape) -> Shape:
        """The shape of a row after the layer."""
        return shape

    def draw(self, shape: Shape, rng: Rng) -> Params:
        """Parameters to start from, for rows of this shape."""
        return ()

    def layout(self, shape: Shape) -> tuple[Shape, ...]:
        """The shapes of the parameters, for rows of this shape."""
        return tuple(array.shape for array in self.draw(shape, np.random.default_rng(0)))

    def noise(self, n: int, shape: Shape, rng: Rng) -> Params:
        """Random numbers, a row each, that ``forward`` takes as p in training where ``noisy``."""
        return ()

    def forward(self, p: Params, x: Array) -> tuple[Array, Any]:
        """The output in training, and what ``backward`` needs."""
        raise NotImplementedError(f"{type(self).__name__} needs forward(p, x)")

    def backward(self, p: Params, saved: object, d: Array) -> tuple[Array, Params]:
        """d loss/d input and d loss/d parameters."""
        return self.by_input(p, saved, d), self.by_weights(p, saved, d)

    def by_input(self, p: Params, saved: object, d: Array) -> Array:
        """d loss/d input."""
        return self.backward(p, saved, d)[0]

    def by_weights(self, p: Params, saved: object, d: Array) -> Params:
        """d loss/d parameters."""
        return self.backward(p, saved, d)[1]

    def infer(self, p: Params, state: Any, x: Array) -> Array:
        """The output in prediction."""
        return self.forward(p, x)[0]

    def start_state(self, shape: Shape) -> Any:
        """What the layer remembers of the training beside its parameters."""
        return None

    def next_state(self, state: Any, saved: object) -> Any:
        """The same after one more batch."""
        return state
