r"""A small network for action values: Q(x, .) = W_L relu(.. relu(W_1 x + b_1) ..) + b_L.

    loss   mean over the batch of (target - Q(x, a))^2
    step   one of Adam, w <- w - eta m / (sqrt(r) + eps)

References: Mnih et al. (2015); Kingma & Ba (2015).
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.compiled.epochs.epochs import update as adapt
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray, Seed
from pellucid.neural.layers.dense import Dense
from pellucid.neural.network import Network
from pellucid.solvers.rules import Adam, RuleCode


class Work(NamedTuple):
    """Views: (W, b) of each layer and their derivatives; all derivatives; the code of Adam."""

    weights: list[tuple[Array, Array]]
    slopes: list[tuple[Array, Array]]
    gradient: Array
    adam: RuleCode


MOST_UNFITTED = 2**24  # weights that a file may ask for without holding them


class ValueNetwork(BaseEstimator):
    """Action values by a network of dense layers, with Adam.

    Parameters
    ----------
    n_inputs, n_actions : int
    hidden : sequence of int, default=(64,)
    learning_rate : float, default=1e-3
    random_state : None, int, RandomState or Generator
        For the first weights.

    Attributes
    ----------
    vector_ : ndarray, all weights
    mean_, square_, n_updates_ : the memory of Adam

    Examples
    --------
    >>> from pellucid.reinforcement.approximation.value_network import ValueNetwork
    >>> net = ValueNetwork(1, 2, hidden=(8,), learning_rate=0.01, random_state=0)
    >>> x, target = np.ones((1, 1)), np.array([3.0])
    >>> losses = [net.update(x, np.array([1]), target) for _ in range(500)]
    >>> net.values(x)[0, 1].round(3)
    np.float64(3.0)
    """

    def __init__(
        self,
        n_inputs: int,
        n_actions: int,
        hidden: Sequence[int] = (64,),
        learning_rate: float = 1e-3,
        random_state: Seed = None,
    ) -> None:
        self.n_inputs = n_inputs
        self.n_actions = n_actions
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.random_state = random_state

    def _network(self) -> Network:
        check.whole(n_inputs=self.n_inputs, n_actions=self.n_actions)
        check.positive(learning_rate=self.learning_rate)
        check.whole(**{f"hidden[{i}]": n for i, n in enumerate(self.hidden)})
        hidden, last = [Dense(int(n), "relu") for n in self.hidden], int(self.n_actions)
        layers = [*hidden, Dense(last, "identity")]
        return Network(layers, n_inputs=int(self.n_inputs), random_state=self.random_state)

    @cached_property
    def _work(self) -> Work:
        """Views of the weights and of their gradient, layer by layer."""
        if not hasattr(self, "vector_"):
            self.vector_ = self._network().vector.copy()
            self.mean_, self.square_ = np.zeros_like(self.vector_), np.zeros_like(self.vector_)
            self.n_updates_ = 0
        gradient = np.zeros_like(self.vector_)
        sizes = [int(self.n_inputs), *map(int, self.hidden), int(self.n_actions)]
        weights, slopes, at = [], [], 0
        for n, m in pairwise(sizes):
            place = slice(at, at + n * m), slice(at + n * m, at + n * m + m)
            weights.append((self.vector_[place[0]].reshape(n, m), self.vector_[place[1]]))
            slopes.append((gradient[place[0]].reshape(n, m), gradient[place[1]]))
            at += n * m + m
        return Work(weights, slopes, gradient, Adam().code())

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_work"}

    def _forward(self, x: Array) -> list[Array]:
        """The input of every layer, and the output."""
        flow, weights = [x], self._work.weights
        for i, (W, b) in enumerate(weights):
            z = flow[-1] @ W
            z += b
            flow.append(z if i == len(weights) - 1 else np.maximum(z, 0.0, out=z))
        return flow

    def values(self, states: Array) -> Array:
        """Q(x, .) of each row, (n, n_actions)."""
        return self._forward(states)[-1]

    def gradient(self, states: Array, actions: IntArray, targets: Array) -> tuple[float, Array]:
        """The loss, and its derivative by all weights (overwritten by the next call)."""
        work, flow, n = self._work, self._forward(states), len(states)
        rows = np.arange(n)
        error = flow[-1][rows, actions] - targets
        d = np.zeros_like(flow[-1])
        d[rows, actions] = (2.0 / n) * error
        for i in range(len(work.weights) - 1, -1, -1):
            np.matmul(flow[i].T, d, out=work.slopes[i][0])
            np.add.reduce(d, axis=0, out=work.slopes[i][1])
            if i:
                d = d @ work.weights[i][0].T
                d *= flow[i] > 0
        return float(error @ error) / n, work.gradient

    def update(self, states: Array, actions: IntArray, targets: Array) -> float:
        """One step of Adam towards the targets; the loss before it."""
        loss, slope = self.gradient(states, actions, targets)
        self.n_updates_ += 1
        memory = (self.mean_, self.square_, self.n_updates_)
        adapt(*self._work.adam, self.vector_, slope, float(self.learning_rate), *memory)
        return loss

    def copy_from(self, other: "ValueNetwork") -> None:
        """Take over the weights of another network."""
        if len(self._work.gradient) != len(other._work.gradient):
            raise ValueError("weights can be copied between networks of the same sizes only")
        self.vector_[:] = other.vector_

    def _check_state(self) -> None:
        """Check a network read from a file."""
        check.whole(n_inputs=self.n_inputs, n_actions=self.n_actions)
        check.whole(**{f"hidden[{i}]": n for i, n in enumerate(self.hidden)})
        sizes = [int(n) for n in (self.n_inputs, *self.hidden, self.n_actions)]
        size = sum((n + 1) * m for n, m in pairwise(sizes))
        if not hasattr(self, "vector_") and size > MOST_UNFITTED:
            raise ValueError(f"a network of {size} weights that are still to be drawn is too large")
        if hasattr(self, "vector_"):
            for name in ("vector_", "mean_", "square_"):
                value = getattr(self, name)
                if value.shape != (size,) or value.dtype != np.float64:
                    raise ValueError(f"{name} must be an array of shape ({size},)")
                setattr(self, name, np.array(value))  # arrays of a file may be read-only
