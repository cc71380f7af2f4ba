r"""Random weights to start from.

    glorot_uniform  U(-r, r), r^2 = 6 / (n_in + n_out)    glorot_normal  N(0, 2 / (n_in + n_out))
    he_uniform      U(-r, r), r^2 = 6 / n_in              he_normal      N(0, 2 / n_in)

The first two keep the size of signals and gradients through layers of tanh or logistic units, the
others through relu. ``HeInit`` has their variants, with variance 2 / ((1 + slope^2) n): n = n_in
keeps the size of the signals, n = n_out that of the gradients; slope is that of a leaky relu below
0. Equal weights would stay equal for ever: zeros are warned of.

References: Glorot & Bengio (2010); He, Zhang, Ren & Sun (2015).
"""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Rng, Seed
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn

INITS = ("glorot_uniform", "glorot_normal", "he_uniform", "he_normal", "zeros")


class UniformInit(BaseEstimator):
    """Uniform weights.

    >>> UniformInit(0.0, 1.0).draw((2, 3), np.random.default_rng(0)).shape
    (2, 3)

    Parameters
    ----------
    low, high, bias : float, float, bool
        Least and largest weight; whether biases are drawn too.
    """

    def __init__(self, low: float = -0.05, high: float = 0.05, bias: bool = False) -> None:
        self.low = low
        self.high = high
        self.bias = bias

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Array:
        """Draw weights of this ``shape``."""
        if not self.low < self.high:
            raise ValueError(f"low must be < high, got {self.low!r} and {self.high!r}")
        return rng.uniform(self.low, self.high, shape)


class NormalInit(BaseEstimator):
    """Normal weights with mean 0.

    >>> NormalInit(0.1).draw((2, 3), np.random.default_rng(0)).shape
    (2, 3)

    Parameters
    ----------
    scale, bias : float, bool
        Standard deviation; whether biases are drawn too.
    """

    def __init__(self, scale: float = 1.0, bias: bool = False) -> None:
        self.scale = scale
        self.bias = bias

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Array:
        """Draw weights of this ``shape``."""
        check.positive(scale=self.scale)
        return self.scale * rng.standard_normal(shape)


class HeInit(BaseEstimator):
    """Weights for relu units: variance 2 / ((1 + slope^2) n).

    Parameters
    ----------
    distribution : {"normal", "uniform"}, default="normal"
        Of the weights.
    fan : {"in", "out"}, default="in"
        n: the inputs (the forward signal keeps its size) or the units (the gradient does).
    slope : float, default=0.0
        Of a leaky relu below 0.

    Examples
    --------
    >>> W = HeInit("uniform", fan="out").draw((3, 6), np.random.default_rng(0))
    >>> bool(abs(W).max() <= 1.0)
    True
    """

    bias = False

    def __init__(
        self, distribution: str = "normal", *, fan: str = "in", slope: float = 0.0
    ) -> None:
        self.distribution = distribution
        self.fan = fan
        self.slope = slope

    def draw(self, shape: tuple[int, ...], rng: Rng) -> Array:
        """Draw weights of this ``shape``."""
        check.one_of(("normal", "uniform"), distribution=self.distribution)
        check.one_of(("in", "out"), fan=self.fan)
        check.non_negative(slope=self.slope)
        n = shape[0] if self.fan == "in" else shape[1]
        return _drawn(shape, 2 / ((1 + self.slope**2) * n), self.distribution == "uniform", rng)


def _drawn(shape: tuple[int, ...], variance: float, uniform: bool, rng: Rng) -> Array:
    if uniform:
        bound = np.sqrt(3 * variance)
        return rng.uniform(-bound, bound, shape)
    return np.sqrt(variance) * rng.standard_normal(shape)


def draw_weights(shape: tuple[int, int], init: Any, rng: Rng) -> Array:
    """Weights of shape (inputs, units)."""
    if isinstance(init, UniformInit | NormalInit | HeInit):
        return init.draw(shape, rng)
    check.one_of(INITS, init=init)
    n_in, n_out = shape
    if init == "zeros":
        warn("init='zeros': all units of a layer start equal and stay equal (symmetric)")
        return np.zeros(shape)
    variance = 2 / (n_in + n_out) if init.startswith("glorot") else 2 / n_in
    return _drawn(shape, variance, init.endswith("uniform"), rng)


def draw_biases(units: int, init: Any, rng: Rng) -> Array:
    """Zeros, or random where ``init`` draws biases."""
    drawn = isinstance(init, UniformInit | NormalInit) and init.bias
    return init.draw((units,), rng) if drawn else np.zeros(units)


def initial_weights(
    shape: tuple[int, int], init: object = "glorot_uniform", *, random_state: Seed = None
) -> Array:
    """Random weights of a layer of this ``shape``, (inputs, units).

    Parameters
    ----------
    shape : (inputs, units)
    init : str, UniformInit, NormalInit or HeInit, default="glorot_uniform"
        glorot_uniform, glorot_normal, he_uniform, he_normal or zeros.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Examples
    --------
    >>> W = initial_weights((3, 2), random_state=0)
    >>> W.shape, bool((abs(W) <= 1.0954451150).all())
    ((3, 2), True)
    """
    n_in, n_out = shape
    check.whole(inputs=n_in, units=n_out)
    return draw_weights((int(n_in), int(n_out)), init, generator(random_state))
