r"""Activations a = g(z) and their derivatives, written in z and a.

    identity    z                     1
    logistic    1 / (1 + exp(-z))     a (1 - a)
    tanh        tanh z                1 - a^2
    relu        max(z, 0)             [z > 0], 0 at 0
    leaky_relu  max(z, 0.01 z)        [z > 0] + 0.01 [z <= 0]
    gelu        z P(Z < z), Z ~ N(0, 1)   P(Z < z) + z exp(-z^2 / 2) / sqrt(2 pi)
    exp         exp z                 a
    softmax     exp z_k / sum exp z   pullback a (d - sum a d): a unit depends on all of its row
    step, sign  [z > 0], +-1          none: for fixed networks

``Value`` differentiates with the same records, and with those of ``log`` and of powers.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit, ndtr

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable

LEAK = 0.01
ROOT_2PI = float(np.sqrt(2 * np.pi))


@readable
class Activation(NamedTuple):
    """A function of the weighted sum of a unit.

    Parameters
    ----------
    name : str
        For messages.
    function : callable, ``function(z) -> a``
    derivative : callable or None, ``derivative(z, a)``
        Element by element; None where there is none to train with.
    pullback : callable or None, ``pullback(z, a, d)``
        d loss/dz from d = d loss/da where a unit depends on more than its own z.

    Examples
    --------
    >>> square = Activation("square", lambda z: z**2, lambda z, a: 2 * z)
    >>> square.derivative(3.0, 9.0)
    6.0
    """

    name: str
    function: Callable[[Any], Any]
    derivative: Callable[[Any, Any], Any] | None = None
    pullback: Callable[[Any, Any, Any], Any] | None = None

    def back(self, z: Array, a: Array, d: Array) -> Array:
        """d loss/dz from d = d loss/da."""
        if self.pullback is not None:
            return self.pullback(z, a, d)
        if self.derivative is None:
            instead = "it is for fixed networks; train with 'logistic', 'tanh' or 'relu'"
            raise ValueError(f"activation {self.name!r} has no derivative: {instead}")
        return d * self.derivative(z, a)


def softmax(z: ArrayLike) -> Array:
    """``exp z_k / sum_j exp z_j`` along the last axis of ``z``; the largest z is subtracted first.

    >>> softmax([1.0, 2.0, 3.0]).round(10)
    array([0.09003057, 0.24472847, 0.66524096])
    """
    z = np.asarray(z, dtype=np.float64)
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _softmax_pullback(z: Array, a: Array, d: Array) -> Array:
    return a * (d - (a * d).sum(axis=-1, keepdims=True))


def _leaky_slope(z: Array, a: Array) -> Array:
    return np.where(z > 0, 1.0, LEAK)


def _gelu_slope(z: Array, a: Array) -> Array:
    return ndtr(z) + z * np.exp(-0.5 * z * z) / ROOT_2PI


def power(n: float) -> Activation:
    """z^n.

    >>> power(3.0).derivative(2.0, 8.0)
    12.0
    """
    return Activation(f"power {n:g}", lambda z: z**n, lambda z, a: n * z ** (n - 1))


ACTIVATIONS = {
    record.name: record
    for record in (
        Activation("identity", lambda z: z, lambda z, a: 1.0),
        Activation("logistic", expit, lambda z, a: a * (1 - a)),
        Activation("tanh", np.tanh, lambda z, a: 1 - a * a),
        Activation("relu", lambda z: np.maximum(z, 0.0), lambda z, a: z > 0),
        Activation("leaky_relu", lambda z: np.where(z > 0, z, LEAK * z), _leaky_slope),
        Activation("gelu", lambda z: z * ndtr(z), _gelu_slope),
        Activation("exp", np.exp, lambda z, a: a),
        Activation("softmax", softmax, None, _softmax_pullback),
        Activation("step", lambda z: np.where(np.asarray(z) > 0, 1.0, 0.0)),
        Activation("sign", lambda z: np.where(np.asarray(z) > 0, 1.0, -1.0)),
    )
}
LOG = Activation("log", np.log, lambda z, a: 1 / z)


def per_unit(units: Sequence[Activation]) -> Activation:
    """One activation for each column."""

    def function(z: Array) -> Array:
        return np.stack([g.function(z[..., j]) for j, g in enumerate(units)], axis=-1)

    def pullback(z: Array, a: Array, d: Array) -> Array:
        columns = [g.back(z[..., j], a[..., j], d[..., j]) for j, g in enumerate(units)]
        return np.stack(columns, axis=-1)

    return Activation(", ".join(g.name for g in units), function, None, pullback)


def get_activation(activation: Any, units: int | None = None) -> Activation:
    """The record of an ``activation=`` parameter: a name, a record, or a list with one per unit.

    >>> get_activation("sigmoid").name
    'logistic'
    """
    if isinstance(activation, Activation):
        return activation
    if isinstance(activation, list | tuple):
        if units is not None and len(activation) != units:
            each = f"one entry for each of {units} units"
            raise ValueError(f"activation must have {each}, got {len(activation)}")
        if any(isinstance(one, str) and one == "softmax" for one in activation):
            raise ValueError("activation 'softmax' belongs to a whole layer, not to one unit")
        return per_unit([get_activation(one) for one in activation])
    if activation == "sigmoid":
        activation = "logistic"
    check.one_of(tuple(ACTIVATIONS), activation=activation)
    return ACTIVATIONS[activation]
