r"""A random walk that learns its steps during the burn-in.

The burn-in is cut into windows that grow. After each one every chain takes the covariance C of its
own draws there, drawn a little towards its diagonal, and steps from then on by

    N(0, exp(2 s) 2.38^2/d C),      s <- s + (acceptance - target)

which is the best shape for a normal target; s mends what is left. After the burn-in nothing is
learned any more, so that the kept draws are those of an ordinary chain with its exact limit.

References: Haario, Saksman & Tamminen (2001); Roberts, Gelman & Gilks (1997); Andrieu &
Thoms (2008).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, BoolArray, Rng
from pellucid.core.readable import readable
from pellucid.inference.sampling.proposals import GaussianWalk

FIRST, GROWTH = 50, 1.5  # steps of the first window; each is longer by this factor
LEAST_BURN = 100
BEST = 2.38  # times sigma / sqrt(d): the best steps on a normal target
DRAWN = 5.0  # draws' worth of the diagonal in a covariance


def windows(n_burn: int) -> list[int]:
    """Lengths that grow and add up to the burn-in.

    >>> windows(300)
    [50, 75, 175]
    """
    lengths, left, size = [], n_burn, float(FIRST)
    while left >= 2.5 * size:
        lengths.append(int(size))
        left -= int(size)
        size *= GROWTH
    return [*lengths, left]


class Learned(NamedTuple):
    """What one chain knows: a covariance of the target and the log factor of its steps."""

    shape: Array
    log_factor: float

    def walk(self) -> GaussianWalk:
        d = len(self.shape)
        return GaussianWalk(np.exp(2 * self.log_factor) * BEST**2 / d * self.shape)


@dataclass(frozen=True, eq=False)
class EachWalk:
    """A Gaussian walk of its own for each chain."""

    each: tuple[GaussianWalk, ...]

    def move(self, x: Array, step: Array) -> Array:
        return x + step


@readable
@dataclass(frozen=True, eq=False)
class AdaptiveWalk:
    """The symmetric random walk whose covariance is learned in the burn-in, chain by chain.

    ``scale`` is the standard deviation of the first steps, ``target`` the share of proposals to
    accept; None is 0.44 in one dimension and 0.3 in more.

    >>> from pellucid.inference import AdaptiveWalk, metropolis_hastings
    >>> thin = lambda x: -0.5 * (x[:, 0] ** 2 / 1e4 + x[:, 1] ** 2)
    >>> chains = metropolis_hastings(
    ...     thin, [0.0, 0.0], n_draws=2000, proposal=AdaptiveWalk(), vectorized=True, random_state=0
    ... )
    >>> bool(chains.ess.min() > 200)
    True
    """

    scale: float = 1.0
    target: float | None = None

    def __post_init__(self) -> None:
        check.positive(scale=self.scale)
        if self.target is not None:
            check.fraction(target=self.target)

    def sample(self, x: Array, rng: Rng) -> Array:
        """A first step."""
        return GaussianWalk(self.scale).sample(x, rng)

    def log_ratio(self, new: object, old: object) -> float:
        """0: the steps are symmetric."""
        return 0.0

    def begin(self, d: int) -> Learned:
        """What is learned before the first draw in ``d`` dimensions."""
        return Learned(self.scale**2 * d / BEST**2 * np.eye(d), 0.0)

    def learn(self, known: Learned, draws: Array, accepted: BoolArray) -> Learned:
        """After a window of one chain, draws (T, d)."""
        d, rate, moves = draws.shape[1], float(accepted.mean()), int(accepted.sum())
        target = self.target if self.target is not None else (0.44 if d == 1 else 0.3)
        spread = draws.var(axis=0)
        if moves < 5 or not (spread > 0).all():
            return known._replace(log_factor=known.log_factor - 1.0)  # hardly moved: shorter steps
        gap = draws - draws.mean(axis=0)
        C = (moves * (gap.T @ gap) / len(gap) + DRAWN * np.diag(spread)) / (moves + DRAWN)
        return Learned(C, float(np.clip(known.log_factor, -1.0, 1.0)) + rate - target)
