r"""Where a Metropolis-Hastings chain tries to go.

    GaussianWalk    y = x + L z                 symmetric: log q(x|y) - log q(y|x) = 0
    LogNormalWalk   y = x exp(L z), x > 0       log q(x|y) - log q(y|x) = sum log y - log x

z ~ N(0, I); L is a number, a number per coordinate or a Cholesky root. Any object with
``sample(x, rng)`` and ``log_ratio(new, old)`` is a proposal; those here can also draw many steps
ahead, which does not depend on where the chain is.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, Rng
from pellucid.core.readable import readable
from pellucid.inference.distributions.normal import lower_root


def scaled(z: Array, scale: ArrayLike | None) -> Array:
    """Rows of standard normal numbers with the given spread: number, vector or covariance."""
    if isinstance(scale, float) and 0 < scale < math.inf:
        return z * scale
    s = np.asarray(scale, dtype=np.float64)
    d = z.shape[-1]
    if s.ndim == 2:
        if s.shape != (d, d):
            raise ValueError(f"scale as a covariance must have shape ({d}, {d}), got {s.shape}")
        return z @ lower_root(s, "scale").T
    if s.shape not in ((), (d,)) or not (np.isfinite(s) & (s > 0)).all():
        need = f"a number > 0, {d} of them or a ({d}, {d}) covariance"
        raise ValueError(f"scale must be {need}, got {scale!r}")
    return z * s


class Steps(ABC):
    """A walk whose noise does not depend on where it is."""

    scale: Any

    def steps(self, rng: Rng, n: int, d: int) -> Array:
        """The noise of the next n steps, (n, d)."""
        return scaled(rng.standard_normal((n, d)), self.scale)

    def sample(self, x: Array, rng: Rng) -> Array:
        """Draw one proposal from ``x``."""
        return self.move(x, self.steps(rng, 1, len(x))[0])

    @abstractmethod
    def move(self, x: Array, step: Array) -> Array:
        """The proposed point."""


@readable
@dataclass(frozen=True, eq=False)
class GaussianWalk(Steps):
    """The symmetric random walk x + L z.

    ``scale`` is the standard deviation of the steps, a number or one per coordinate, or their
    covariance (d, d).

    >>> import numpy as np
    >>> from pellucid.inference import GaussianWalk
    >>> walk = GaussianWalk(0.5)
    >>> walk.sample(np.zeros(2), np.random.default_rng(0)).shape, walk.log_ratio(1.0, 2.0)
    ((2,), 0.0)
    """

    scale: Any = 1.0

    def move(self, x: Array, step: Array) -> Array:
        """The proposed point: ``x`` plus ``step``."""
        return x + step

    def log_ratio(self, new: Array, old: Array) -> Any:
        """log q(old | new) - log q(new | old)."""
        return 0.0


@readable
@dataclass(frozen=True, eq=False)
class LogNormalWalk(Steps):
    """The multiplicative walk x exp(L z) for positive coordinates; not symmetric.

    ``scale`` is the standard deviation of the steps of log x, a number or one per coordinate, or
    their covariance (d, d).

    >>> import numpy as np
    >>> from pellucid.inference import LogNormalWalk
    >>> round(float(LogNormalWalk().log_ratio(np.array([2.0]), np.array([1.0]))), 4)
    0.6931
    """

    scale: Any = 0.5

    def move(self, x: Array, step: Array) -> Array:
        """The proposed point: ``x`` times exp(``step``)."""
        return x * np.exp(step)

    def log_ratio(self, new: Array, old: Array) -> Any:
        """log q(old | new) - log q(new | old), over the last axis."""
        return np.sum(np.log(new) - np.log(old), axis=-1)
