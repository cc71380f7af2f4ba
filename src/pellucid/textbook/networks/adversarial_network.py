r"""Adversarial network: a forger and a detective learn from each other.

Model       generator G(z) = a + s z, z ~ N(0, 1);  detective D(x) = sigma(u +
            v x + w x^2) = P(x real)
Solve       min over G, max over D of V = E log D(x) + E log(1 - D(G(z)))
Step        for a given G the best D is p(x) / (p(x) + p_G(x)), and V is then 2 JS(p, p_G) - log 4:
            least where p_G = p. Both take gradient steps in turn. When D is sure, the slope of
            log(1 - D) for G is nearly 0; so G climbs E log D(G(z)) instead (non-saturating).
            For two normal densities log p / p_G is quadratic, so this D can be the best one.
Cost        one batch for each player per round.
The fast version has layers for both players, in PyTorch.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class State(NamedTuple):
    a: float
    s: float
    D: np.ndarray  # u, v, w
    detective_loss: float
    forger_loss: float


def losses(real: np.ndarray, fake: np.ndarray) -> tuple[float, float]:
    """What the detective and the forger descend, from the logits of D."""
    detective = np.logaddexp(0, -real).mean() + np.logaddexp(0, fake).mean()
    return float(detective), float(np.logaddexp(0, -fake).mean())


def rounds(
    X: np.ndarray, rate: float, rng: np.random.Generator, batch: int = 100
) -> Iterator[State]:
    """The game without end, from G = N(0, 1)."""
    a, s, D = 0.0, 1.0, np.zeros(3)

    def features(x: np.ndarray) -> np.ndarray:
        return np.stack([np.ones_like(x), x, x**2], axis=1)

    while True:
        x, z = rng.choice(X, size=batch), rng.normal(size=batch)
        F, R = features(a + s * z), features(x)
        yield State(a, s, D, *losses(R @ D, F @ D))
        sigma_real, sigma_fake = (1 / (1 + np.exp(-G @ D)) for G in (R, F))
        D = D + rate * (R.T @ (1 - sigma_real) - F.T @ sigma_fake) / batch
        z = rng.normal(size=batch)
        made = a + s * z
        push = (1 - 1 / (1 + np.exp(-features(made) @ D))) * (D[1] + 2 * D[2] * made)
        a, s = a + rate * push.mean(), s + rate * (push * z).mean()


def adversarial_network(X: np.ndarray, n: int, rng: np.random.Generator) -> State:
    """The players after n rounds."""
    game = rounds(X, 0.05, rng)
    return [next(game) for _ in range(n)][-1]
