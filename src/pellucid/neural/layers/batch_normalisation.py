r"""Batch normalisation: each unit standardised over its mini-batch, then scaled and shifted.

    m = mean of the batch,  v = mean of (x - m)^2,  h = (x - m) / sqrt(v + e),  y = gamma h + beta

    d loss/dgamma = sum d h,   d loss/dbeta = sum d
    d loss/dx = gamma / sqrt(v + e) (d - mean d - h mean(d h))

Prediction uses running averages of m and v instead, so that a row's answer depends on it alone.

Reference: Ioffe & Szegedy (2015).
"""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng
from pellucid.neural.layers.layer import Layer, Params, Shape


class BatchMoments(NamedTuple):
    """Mean and 1/n variance of each unit."""

    mean: Array
    var: Array


class Normalised(NamedTuple):
    """What the backward pass needs."""

    h: Array
    root: Array  # sqrt(v + e)
    moments: BatchMoments


def normalise(x: Array, epsilon: float) -> Normalised:
    """Standardise over the rows."""
    mean = x.mean(axis=0)
    centred = x - mean
    var = (centred**2).mean(axis=0)
    root = np.sqrt(var + epsilon)
    return Normalised(centred / root, root, BatchMoments(mean, var))


def batch_norm(X: ArrayLike, gamma: Any = 1.0, beta: Any = 0.0, *, epsilon: float = 1e-5) -> Array:
    """gamma (X - mean) / sqrt(variance + epsilon) + beta, with the batch's own 1/n moments.

    Parameters
    ----------
    X : array of shape (n,) or (n, p)
        The batch.
    gamma, beta : numbers, or one per column
        Scale and shift.
    epsilon : float, default=1e-5
        Added to the variance.

    Examples
    --------
    >>> batch_norm([1, 2, 3, 4], epsilon=0.0).round(4)
    array([-1.3416, -0.4472,  0.4472,  1.3416])
    """
    check.non_negative(epsilon=epsilon)
    x = np.asarray(X, dtype=np.float64)
    refuse_one_row(x)
    with np.errstate(invalid="ignore"):
        normal = normalise(x, epsilon)
    if not np.all(normal.root > 0):
        raise ValueError("a column is constant and epsilon is 0: give an epsilon > 0")
    return gamma * normal.h + beta


def refuse_one_row(x: Array) -> None:
    """One row has no variance."""
    if x.ndim == 0 or len(x) < 2:
        need = f"batch normalisation needs a batch of at least 2 rows, got {x.size and 1}"
        raise ValueError(f"{need}; choose a batch_size that leaves no batch of one row")


class BatchNorm(Layer):
    """Batch normalisation.

    Parameters
    ----------
    momentum : float, default=0.9
        Share of the old running average that a batch keeps.
    epsilon : float, default=1e-5
        Added to the variance.

    Examples
    --------
    >>> from pellucid.neural import BatchNorm, Dense, Network
    >>> layers = [Dense(3, "identity"), BatchNorm(), Dense(1, "identity")]
    >>> Network(layers, n_inputs=2, random_state=0).vector.size
    19
    """

    couples_rows = True

    def __init__(self, momentum: float = 0.9, epsilon: float = 1e-5) -> None:
        self.momentum = momentum
        self.epsilon = epsilon

    def parts(self) -> tuple[Layer, ...]:
        """The layer itself, its parameters checked."""
        check.fraction(momentum=self.momentum)
        check.positive(epsilon=self.epsilon)
        return (self,)

    def layout(self, shape: Shape) -> tuple[Shape, ...]:
        """The shapes of the weights and the shifts."""
        return shape, shape

    def draw(self, shape: Shape, rng: Rng) -> Params:
        """Initial weights."""
        return np.ones(shape), np.zeros(shape)

    def forward(self, p: Params, x: Array) -> tuple[Array, Any]:
        """The output for x, and what the backward pass needs."""
        refuse_one_row(x)
        normal = normalise(x, self.epsilon)
        return p[0] * normal.h + p[1], normal

    def by_input(self, p: Params, saved: Any, d: Array) -> Array:
        """The gradient by the input, from d, that by the output."""
        inner = d - d.mean(axis=0) - saved.h * (d * saved.h).mean(axis=0)
        return p[0] / saved.root * inner

    def by_weights(self, p: Params, saved: Any, d: Array) -> Params:
        """The gradient by the weights, from d, that by the output."""
        return (d * saved.h).sum(axis=0), d.sum(axis=0)

    def infer(self, p: Params, state: Any, x: Array) -> Array:
        """The output when predicting, with the running moments."""
        return p[0] * (x - state.mean) / np.sqrt(state.var + self.epsilon) + p[1]

    def start_state(self, shape: Shape) -> Any:
        """The running moments before the first batch."""
        return BatchMoments(np.zeros(shape), np.ones(shape))

    def next_state(self, state: Any, saved: Any) -> Any:
        """The running moments after a batch."""
        pairs = zip(state, saved.moments, strict=True)
        return BatchMoments(*(self.momentum * a + (1 - self.momentum) * b for a, b in pairs))
