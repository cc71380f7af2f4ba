r"""Deep Q-network: action values by a network, learned from remembered steps.

Model       Q(x, a) = output a of a network with one hidden layer: h = max(0, xW + b), Q = hV + c
Minimise    mean over a batch of (r + g max_b Q'(t, b) - Q(s, a))^2, Q' an older copy held still
Step        steps in a row are alike and the target moves with every step; both upset descent. So
            keep the steps and draw batches at random, and renew the copy Q' only now and then. One
            step against the gradient, found by the chain rule from the output back.
Cost        batch times weights per step.
The fast version takes Adam for the step, several layers, and a GPU if there is one.
"""

from typing import NamedTuple

import numpy as np


class Network(NamedTuple):
    W: np.ndarray  # (inputs, hidden)
    b: np.ndarray
    V: np.ndarray  # (hidden, A)
    c: np.ndarray


class Batch(NamedTuple):
    x: np.ndarray  # (n, inputs)
    a: np.ndarray  # (n,)
    r: np.ndarray  # (n,)
    x_next: np.ndarray  # (n, inputs)
    end: np.ndarray  # (n,) bool


def values(network: Network, x: np.ndarray) -> np.ndarray:
    """Q (n, A)."""
    return np.maximum(0, x @ network.W + network.b) @ network.V + network.c


def targets(older: Network, batch: Batch, g: float) -> np.ndarray:
    return batch.r + np.where(batch.end, 0.0, g * values(older, batch.x_next).max(axis=1))


def loss_gradient(network: Network, batch: Batch, target: np.ndarray) -> tuple[float, Network]:
    """The loss and its gradient, layer by layer from the output back."""
    W, b, V, c = network
    z = batch.x @ W + b
    h = np.maximum(0, z)
    rows = np.arange(len(target))
    error = (h @ V + c)[rows, batch.a] - target
    dQ = np.zeros((len(target), len(c)))
    dQ[rows, batch.a] = 2 * error / len(target)  # only the action taken has an error
    dz = (dQ @ V.T) * (z > 0)
    gradient = Network(batch.x.T @ dz, dz.sum(axis=0), h.T @ dQ, dQ.sum(axis=0))
    return float((error**2).mean()), gradient


def deep_q_network(
    network: Network,
    memory: Batch,
    g: float,
    rate: float,
    n_steps: int,
    copy_every: int,
    batch_size: int,
    rng: np.random.Generator,
) -> Network:
    """Learn from a memory of steps, drawn in batches."""
    older = network
    for step in range(n_steps):
        if step % copy_every == 0:
            older = network
        rows = rng.integers(len(memory.a), size=batch_size)
        batch = Batch(*(part[rows] for part in memory))
        _, gradient = loss_gradient(network, batch, targets(older, batch, g))
        network = Network(*(w - rate * dw for w, dw in zip(network, gradient, strict=True)))
    return network
