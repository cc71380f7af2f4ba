r"""Dropout: in training every number is kept with probability 1 - rate and divided by it.

    a = m x / (1 - rate),   m ~ Bernoulli(1 - rate) for every number of every row;   E a = x
    d loss/dx = m d / (1 - rate)                      prediction: a = x

The noise is an argument: it is drawn once for a batch, from the seed, the epoch and the number of
the batch, so the bits do not depend on how the batch is divided among threads.

References: Srivastava, Hinton, Krizhevsky, Sutskever & Salakhutdinov (2014).
"""

from numbers import Real
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Rng
from pellucid.neural.layers.layer import Layer, Params, Shape


class Dropout(Layer):
    """Numbers that are left out at random in training; nothing happens in prediction.

    Parameters
    ----------
    rate : float, default=0.5
        Share that is left out, 0 <= rate < 1.

    Examples
    --------
    >>> from pellucid import MLPClassifier
    >>> from pellucid.neural import Dense, Dropout
    >>> layers = [Dense(16, "tanh"), Dropout(0.2)]
    >>> model = MLPClassifier(layers, learning_rate_init=0.02, max_iter=300, random_state=0)
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]] * 10, [0, 1, 1, 0] * 10
    >>> model.fit(X, y).predict(X[:4])
    array([0, 1, 1, 0])
    """

    noisy = True

    def __init__(self, rate: float = 0.5) -> None:
        self.rate = rate

    def parts(self) -> tuple[Layer, ...]:
        """The layer itself, its parameters checked."""
        good = isinstance(self.rate, Real) and not isinstance(self.rate, bool)
        if not good or not 0 <= self.rate < 1:
            raise ValueError(f"rate must be a number >= 0 and < 1, got {self.rate!r}")
        return (self,)

    def noise(self, n: int, shape: Shape, rng: Rng) -> Params:
        """What the numbers of n rows are multiplied by: 0 or 1 / (1 - rate)."""
        kept = rng.random((n, *shape)) >= self.rate
        return (kept / (1.0 - self.rate),)

    def forward(self, p: Params, x: Array) -> tuple[Array, Any]:
        """The output for x, and what the backward pass needs."""
        if not p:
            return x, None
        factor = p[0].astype(x.dtype, copy=False)
        return x * factor, factor

    def by_input(self, p: Params, saved: Any, d: Array) -> Array:
        """The gradient by the input, from d, that by the output."""
        return d if saved is None else d * saved

    def by_weights(self, p: Params, saved: object, d: Array) -> Params:
        """The gradient by the weights, from d, that by the output."""
        return ()


def noise_source(seed: int, epoch: int, batch: int) -> Rng:
    """The generator of one batch's noise."""
    return np.random.default_rng((seed, epoch, batch))
