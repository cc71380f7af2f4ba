r"""Random weights to start from.

    glorot_uniform  U(-r, r), r^2 = 6 / (n_in + n_out)    glorot_normal  N(0, 2 / (n_in + n_out))
    he_uniform      U(-r, r), r^2 = 6 / n_in              he_normal      N(0, 2 / n_in)

The first two keep the size of signals and gradients through layers of tanh or logistic units, the
others through relu. Equal weights would stay equal for ever: zeros are warned of.

References: Glorot & Bengio (2010); He, Zhang, Ren & Sun (2015).
"""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core import check
from pellucid.core.random import generator
from pellucid.core.typing import Array, Rng

INITS = ("glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "zeros")


class UniformInit(BaseEstimator):
    """Uniform weights between ``low`` and ``high``; biases too with ``bias=True``.

    >>> UniformInit(0.0, 1.0).draw((2, 3), np.random.default_rng(0)).shape
    (2, 3)
    """

    def __init__(self, low: float = -0.05, high: float = 0.05, bias: bool = False) -> None:
        self.low = low
        self.high = high
        self.bias = bias

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Array:
        if not self.low < self.high:
            raise ValueError(f"low must be < high, got {self.low!r} and {self.high!r}")
        return rng.uniform(self.low, self.high, shape)


class NormalInit(BaseEstimator):
    """Normal weights with mean 0 and standard deviation ``scale``; biases too with ``bias=True``.

    >>> NormalInit(0.1).draw((2, 3), np.random.default_rng(0)).shape
    (2, 3)
    """

    def __init__(self, scale: float = 1.0, bias: bool = False) -> None:
        self.scale = scale
        self.bias = bias

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Array:
        check.positive(scale=self.scale)
        return self.scale * rng.standard_normal(shape)


def draw_weights(shape: tuple[int, int], init: Any, rng: Rng) -> Array:
    """Weights of shape (inputs, units)."""
    if isinstance(init, UniformInit | NormalInit):
        return init.draw(shape, rng)
    check.one_of(INITS, init=init)
    n_in, n_out = shape
    if init == "zeros":
        warnings.warn(
            "init='zeros': all units of a layer start equal and stay equal (symmetric)",
            UserWarning,
            stacklevel=4,
        )
        return np.zeros(shape)
    variance = 2 / (n_in + n_out) if init.startswith("glorot") else 2 / n_in
    if init.endswith("uniform"):
        bound = np.sqrt(3 * variance)
        return rng.uniform(-bound, bound, shape)
    return np.sqrt(variance) * rng.standard_normal(shape)


def draw_biases(units: int, init: Any, rng: Rng) -> Array:
    """Zeros, or drawn where ``init`` says so."""
    drawn = isinstance(init, UniformInit | NormalInit) and init.bias
    return init.draw((units,), rng) if drawn else np.zeros(units)


def initial_weights(
    shape: tuple[int, int], init: Any = "glorot_uniform", *, random_state: Any = None
) -> Array:
    """Random weights of a layer.

    Parameters
    ----------
    shape : (inputs, units)
    init : str, UniformInit or NormalInit, default="glorot_uniform"
        glorot_uniform, glorot_normal, he_uniform, he_normal or zeros.
    random_state : None, int, RandomState or Generator

    Examples
    --------
    >>> W = initial_weights((3, 2), random_state=0)
    >>> W.shape, bool((abs(W) <= 1.0954451150).all())
    ((3, 2), True)
    """
    n_in, n_out = shape
    check.whole(inputs=n_in, units=n_out)
    return draw_weights((int(n_in), int(n_out)), init, generator(random_state))
