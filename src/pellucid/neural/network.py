r"""A network: layers one after the other, and every number that flows through it.

    delta_out = d loss/dz of the last layer,  delta_l = (delta_(l+1) W_(l+1)') * g'(z_l)
    dW_l = a_(l-1)' delta_l,   db_l = sum over rows of delta_l

A network never changes: training and ``with_vector`` return new ones.

References: Rumelhart, Hinton & Williams (1986).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.runtime.random import generator
from pellucid.neural.layers.activate import Activate
from pellucid.neural.layers.activations import get_activation
from pellucid.neural.layers.dense import Affine, Dense
from pellucid.neural.layers.layer import Layer
from pellucid.neural.training.backprop import Plan, backprop, infer, make_plan, training_value
from pellucid.neural.training.objectives import CrossEntropy, get_loss

STEP = 1e-6  # of the central differences, relative to the parameter


def _start_states(plan: Plan) -> tuple[Any, ...]:
    """What the layers remember beside their parameters, before the first batch."""
    return tuple(op.start_state(s) for op, s in zip(plan.ops, plan.shapes, strict=False))


class NetworkTrace(NamedTuple):
    """Every node's weighted sum (pre) and activation (post), layer by layer."""

    inputs: Array
    pre: list[Array]
    post: list[Array]
    output: Array


class Gradients(NamedTuple):
    """d loss/d weights and biases, d loss/dz of every dense layer, and all in one vector."""

    weights: list[Array]
    biases: list[Array]
    deltas: list[Array]
    vector: Array


class Network:
    """Layers one after the other, with a loss.

    Parameters
    ----------
    layers : list of layers
        From the input to the output.
    loss : str or loss object, default="squared_error"
        squared_error, binary_cross_entropy, cross_entropy, poisson, or an object.
    n_inputs : int, tuple or None, default=None
        Numbers in a row (or its shape); None: known once it is trained.
    random_state : None, int, RandomState or Generator
        For the initial weights.

    Attributes
    ----------
    vector : array, all parameters
    weights, biases : lists of arrays, one per dense layer

    Examples
    --------
    >>> from pellucid.neural import Network
    >>> net = Network.from_weights([[[0.6, -0.4]], [[0.8], [-0.5]]],
    ...                            activations=["relu", "identity"])
    >>> net.predict([[-2.0], [1.0]]).round(2)
    array([[-0.4 ],
           [ 0.48]])
    """

    plan: Plan
    vector: Array
    states: tuple[Any, ...]

    def __init__(
        self,
        layers: Sequence[Layer],
        *,
        loss: object = "squared_error",
        n_inputs: int | tuple[int, ...] | None = None,
        random_state: Seed = None,
    ) -> None:
        layers = tuple(layers)
        if not layers:
            raise ValueError("a network needs at least one layer, got none")
        for layer in layers:
            if not isinstance(layer, Layer):
                raise TypeError(f"layers must be Dense, Activate, ... objects, got {layer!r}")
            layer.parts()
        self.__dict__.update(layers=layers, loss=get_loss(loss))
        self.__dict__.update(n_inputs=n_inputs, random_state=random_state)
        if n_inputs is not None:
            self._draw(tuple(np.atleast_1d(n_inputs).tolist()))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a network never changes: cannot set {name}; see with_vector")

    layers: tuple[Layer, ...]
    loss: Any
    n_inputs: Any
    random_state: Any

    def _draw(self, shape: tuple[int, ...]) -> None:
        plan, rng = self._planned(shape), generator(self.random_state)
        params = [op.draw(s, rng) for op, s in zip(plan.ops, plan.shapes, strict=False)]
        flat = [array.ravel() for p in params for array in p]
        self._fill(plan, np.concatenate(flat) if flat else np.zeros(0), _start_states(plan))

    def _planned(self, shape: tuple[int, ...]) -> Plan:
        """Where each parameter stands in the vector, before there is one."""
        ops, owner, shapes = [], [], [shape]
        for i, layer in enumerate(self.layers):
            for op in layer.parts():
                ops.append(op)
                owner.append(i)
                try:
                    after = op.output_shape(shapes[-1])
                except ValueError as error:
                    raise ValueError(f"layer {i} ({layer!r}): {error}") from error
                shapes.append(after)
        layouts = [op.layout(s) for op, s in zip(ops, shapes, strict=False)]
        return make_plan(tuple(ops), tuple(owner), tuple(shapes), layouts, self.loss)

    def _fill(self, plan: Plan, vector: Array, states: tuple[Any, ...]) -> None:
        vector = np.array(vector, dtype=np.float64)
        vector.flags.writeable = False
        self.__dict__.update(plan=plan, vector=vector, states=states)

    @classmethod
    def from_weights(
        cls, weights: Any, biases: Any = None, *, activations: Any, loss: object = "squared_error"
    ) -> Self:
        """A network of dense layers with these weights, of shape (inputs, units) each."""
        W = [np.array(w, dtype=np.float64, ndmin=2) for w in weights]
        b = None if biases is None else [np.array(one, dtype=np.float64).ravel() for one in biases]
        names = [activations] * len(W) if isinstance(activations, str) else list(activations)
        if not W or len(names) != len(W) or (b is not None and len(b) != len(W)):
            given = f"{len(W)}, {len(W) if b is None else len(b)} and {len(names)}"
            raise ValueError(f"weights, biases, activations: one per layer needed, got {given}")
        for i, w in enumerate(W):
            if i and w.shape[0] != W[i - 1].shape[1]:
                before = f"layer {i - 1} has shape {W[i - 1].shape}"
                raise ValueError(f"layer {i} has weights of shape {w.shape}, but {before}")
            if b is not None and len(b[i]) != w.shape[1]:
                raise ValueError(f"layer {i} has {w.shape[1]} units but {len(b[i])} biases")
        pairs, bias = zip(W, names, strict=True), b is not None
        layers = [Dense(w.shape[1], g, use_bias=bias) for w, g in pairs]
        network = cls(layers, loss=loss, n_inputs=W[0].shape[0], random_state=0)
        flat = [part.ravel() for i, w in enumerate(W) for part in ([w] if b is None else [w, b[i]])]
        return network.with_vector(np.concatenate(flat))

    def built(self, shape: tuple[int, ...]) -> Self:
        """This network, with initial weights for rows of this shape where it has none yet."""
        if "plan" in self.__dict__:
            return self
        own = {"loss": self.loss, "random_state": self.random_state}
        return type(self)(self.layers, n_inputs=shape[0] if len(shape) == 1 else shape, **own)

    def with_vector(self, v: ArrayLike, states: Any = None) -> Self:
        """The same network with other parameters."""
        self._require_weights()
        v = np.asarray(v, dtype=np.float64).ravel()
        if v.size != self.plan.size:
            raise ValueError(f"the network has {self.plan.size} parameters, got {v.size}")
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._fill(self.plan, v, self.states if states is None else tuple(states))
        return other

    def _require_weights(self) -> None:
        if "plan" not in self.__dict__:
            raise ValueError("the network has no weights yet: give n_inputs=, or train it")

    def _rows(self, X: ArrayLike) -> Array:
        self._require_weights()
        x = np.asarray(X, dtype=np.float64)
        shape = self.plan.shapes[0]
        x = x[:, None] if x.ndim == 1 and shape == (1,) else x
        if x.shape[1:] != shape:
            raise ValueError(f"layer 0 ({self.layers[0]!r}) takes shape {shape}, got {x.shape[1:]}")
        return x

    def _targets(self, y: ArrayLike, n: int) -> Array:
        k = int(np.prod(self.plan.shapes[-1]))
        t = np.asarray(y, dtype=np.float64)
        if t.ndim == 1 and k > 1 and isinstance(self.loss, CrossEntropy):  # codes of classes
            if not np.isin(t, np.arange(k)).all():
                raise ValueError(f"y must be one-hot rows or codes 0..{k - 1}, got {t.max():g}")
            t = np.eye(k)[t.astype(np.intp)]
        t = t.reshape(len(t), -1) if t.ndim else t.reshape(1, 1)
        if t.shape != (n, k):
            raise ValueError(f"the last layer {self.layers[-1]!r} gives {(n, k)}, y has {t.shape}")
        return t

    def predict(self, X: ArrayLike) -> Array:
        """The outputs, (n, outputs)."""
        x = self._rows(X)
        return infer(self.plan, self.vector, self.states, x)

    def trace(self, X: ArrayLike) -> NetworkTrace:
        """Every node's z and a, layer by layer."""
        x = inputs = self._rows(X)
        pre: list[Array] = []
        post: list[Array] = []
        params = self.plan.params(self.vector)
        for i, op in enumerate(self.plan.ops):
            before, x = x, op.infer(params[i], self.states[i], x)
            first = i == 0 or self.plan.owner[i] != self.plan.owner[i - 1]
            if first:
                pre.append(x if isinstance(op, Affine) else before)
                post.append(x)
            else:
                post[-1] = x
        return NetworkTrace(inputs, pre, post, x)

    def loss_value(self, X: ArrayLike, y: ArrayLike, *, training: bool = True) -> float:
        """The loss; ``training=False`` normalises by running averages instead of the batch."""
        x = self._rows(X)
        t, w = self._targets(y, len(x)), np.ones(len(x))
        at = self.plan, self.vector, self.states
        return training_value(*at, x, t, w, training=training)[0]

    def gradients(self, X: ArrayLike, y: ArrayLike) -> Gradients:
        """d loss by everything."""
        x = self._rows(X)
        t = self._targets(y, len(x))
        scale = 1 / len(x) if self.loss.reduction == "mean" else 1.0
        back = backprop(self.plan, self.vector, x, t, np.ones(len(x)), scale)
        params = self.plan.params(back.vector)
        dense = [i for i, op in enumerate(self.plan.ops) if isinstance(op, Affine)]
        biases = [params[i][1] for i in dense if len(params[i]) > 1]
        deltas = [back.deltas[i] for i in dense]
        return Gradients([params[i][0] for i in dense], biases, deltas, back.vector)

    def check_gradients(self, X: ArrayLike, y: ArrayLike) -> float:
        """The largest error of the gradient against central differences, relative to its size."""
        exact, v = self.gradients(X, y).vector, self.vector
        found = np.empty(len(v))
        for j in range(len(v)):
            h = STEP * max(1.0, abs(v[j]))
            move = np.zeros(len(v))
            move[j] = h
            high = self.with_vector(v + move).loss_value(X, y)
            found[j] = (high - self.with_vector(v - move).loss_value(X, y)) / (2 * h)
        return float(np.abs(found - exact).max() / max(np.abs(exact).max(), 1e-8))

    @property
    def weights(self) -> list[Array]:
        params = self.plan.params(self.vector)
        return [p[0] for p, op in zip(params, self.plan.ops, strict=True) if isinstance(op, Affine)]

    @property
    def biases(self) -> list[Array]:
        params = self.plan.params(self.vector)
        pairs = zip(params, self.plan.ops, strict=True)
        return [p[1] for p, op in pairs if isinstance(op, Affine) and op.use_bias]

    def shapes(self) -> list[dict[str, Any]]:
        """A table: layer, input and output shape of a row, number of parameters."""
        self._require_weights()
        rows = []
        for i, layer in enumerate(self.layers):
            mine = [j for j, o in enumerate(self.plan.owner) if o == i]
            count = sum(stop - start for j in mine for start, stop, _ in self.plan.places[j])
            ends = {"input": self.plan.shapes[mine[0]], "output": self.plan.shapes[mine[-1] + 1]}
            rows.append({"layer": repr(layer), **ends, "parameters": count})
        return rows

    def trainable(self) -> None:
        """Refuse activations without a derivative."""
        for op in self.plan.ops:
            if isinstance(op, Activate):
                one = np.zeros((1, *self.plan.shapes[self.plan.ops.index(op)]))
                get_activation(op.activation).back(one, one, one)


def network_with(
    layers: Sequence[Layer], vector: Array, *, n_inputs: int, loss: object = "squared_error"
) -> Network:
    """A network with these parameters; nothing is drawn, and nothing is larger than they are.

    >>> network_with([Dense(1, "identity")], np.array([2.0, 1.0]), n_inputs=1).predict([[3.0]])
    array([[7.]])
    >>> network_with([Dense(10**9)], np.zeros(2), n_inputs=1)
    Traceback (most recent call last):
    ValueError: the layers have 2000000000 parameters, got an array of shape (2,) and dtype float64
    """
    network = Network(layers, loss=loss)
    plan = network._planned((n_inputs,))
    if vector.dtype.kind != "f" or vector.shape != (plan.size,):
        found = f"an array of shape {vector.shape} and dtype {vector.dtype}"
        raise ValueError(f"the layers have {plan.size} parameters, got {found}")
    network.__dict__.update(n_inputs=n_inputs)
    network._fill(plan, vector, _start_states(plan))
    return network
