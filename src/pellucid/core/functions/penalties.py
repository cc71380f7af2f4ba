r"""Penalties that are sums over the coefficients, with (sub)gradient and proximal map.

    L2(alpha)      alpha sum w^2          prox  w / (1 + 2 t alpha)
    L1(alpha)      alpha sum |w|          prox  sign(w) max(|w| - t alpha, 0)
    Lq(alpha, q)   alpha sum |w|^q        prox  the root u >= 0 of u + t alpha q u^(q-1) = |w|
    L1L2(l1, l2)   l1 sum |w| + l2 sum w^2, the elastic net; also written L1(l1) + L2(l2)

prox(v, t) = argmin |u - v|^2 / 2 + t P(u). The subgradient takes sign(0) = 0. For q < 1 the
penalty is not convex: its prox compares the stationary point with 0.

References: Parikh & Boyd (2014), Proximal algorithms; Frank & Friedman (1993) for Lq.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable


def soft_threshold(v: ArrayLike, t: ArrayLike) -> Any:
    """sign(v) max(|v| - t, 0).

    >>> soft_threshold(np.array([3.0, -0.4, -2.0]), 1.0)
    array([ 2.,  0., -1.])
    """
    return np.sign(v) * np.maximum(np.abs(v) - t, 0.0) + 0.0  # -0 becomes 0


@readable
@dataclass(frozen=True)
class L1L2:
    """l1 sum |w| + l2 sum w^2.

    >>> L1L2(1.0, 0.5).value(np.array([2.0, -1.0]))
    5.5
    """

    l1: float = 0.0  # strength of the absolute values
    l2: float = 0.0  # strength of the squares

    def __post_init__(self) -> None:
        check.non_negative(l1=self.l1, l2=self.l2)

    convex = True

    @property
    def smooth(self) -> bool:
        return self.l1 == 0

    @property
    def bound(self) -> float:
        """The largest second derivative of the smooth part."""
        return 2 * self.l2

    def value(self, w: Array) -> float:
        """The penalty of ``w``."""
        return float(self.l1 * np.abs(w).sum() + self.l2 * (w @ w))

    def gradient(self, w: Array) -> Array:
        """First derivatives; 0 at 0 for the absolute values."""
        return self.l1 * np.sign(w) + 2 * self.l2 * w

    def curvature(self, w: Array) -> Array:
        """Second derivatives, one per weight."""
        return np.full(len(w), 2 * self.l2)

    def prox(self, v: Array, t: float) -> Array:
        """argmin_w of |w - ``v``|^2 / 2 + ``t`` times the penalty."""
        return soft_threshold(v, t * self.l1) / (1 + 2 * t * self.l2)

    def __add__(self, other: "L1L2") -> "L1L2":
        return L1L2(self.l1 + other.l1, self.l2 + other.l2)


@readable
class L1(L1L2):
    """alpha sum |w|.

    >>> L1(0.5).prox(np.array([2.0, 0.1]), 1.0)
    array([1.5, 0. ])

    Parameters
    ----------
    alpha : float
        Strength, >= 0.
    """

    def __init__(self, alpha: float) -> None:
        check.non_negative(alpha=alpha)
        super().__init__(float(alpha), 0.0)

    def __repr__(self) -> str:
        return f"L1({self.l1:g})"


@readable
class L2(L1L2):
    """alpha sum w^2.

    >>> L2(0.5).gradient(np.array([2.0, -1.0]))
    array([ 2., -1.])

    Parameters
    ----------
    alpha : float
        Strength, >= 0.
    """

    def __init__(self, alpha: float) -> None:
        check.non_negative(alpha=alpha)
        super().__init__(0.0, float(alpha))

    def __repr__(self) -> str:
        return f"L2({self.l2:g})"


@readable
@dataclass(frozen=True)
class Lq:
    """alpha sum |w|^q, q > 0.

    >>> Lq(1.0, 1.5).value(np.array([4.0, -1.0]))
    9.0
    """

    alpha: float  # strength
    q: float  # the power

    def __post_init__(self) -> None:
        check.non_negative(alpha=self.alpha)
        check.positive(q=self.q)

    @property
    def convex(self) -> bool:
        return self.q >= 1

    @property
    def smooth(self) -> bool:
        return self.q > 1

    @property
    def bound(self) -> float:
        return 2 * self.alpha if self.q == 2 else np.inf

    def value(self, w: Array) -> float:
        """The penalty of ``w``."""
        return float(self.alpha * (np.abs(w) ** self.q).sum())

    def gradient(self, w: Array) -> Array:
        """First derivatives; 0 at 0."""
        size = np.abs(w)
        with np.errstate(divide="ignore"):
            power = np.where(size > 0, size ** (self.q - 1), 0.0)
        return self.alpha * self.q * np.sign(w) * power

    def curvature(self, w: Array) -> Array:
        """Second derivatives, one per weight."""
        size = np.abs(w)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.alpha * self.q * (self.q - 1) * size ** (self.q - 2)
        return np.where(size > 0, found, 2 * self.alpha if self.q == 2 else 0.0)

    def prox(self, v: Array, t: float) -> Array:
        """Bisection on u + t alpha q u^(q-1) = |v|, which rises in u right of its minimum."""
        a = np.broadcast_to(np.asarray(t * self.alpha, dtype=np.float64), np.shape(v))
        size = np.abs(v)
        if self.q == 1:
            return soft_threshold(v, a)
        low, high = np.zeros_like(size), size.copy()
        if self.q < 1:  # the left side falls up to here, then rises
            low = np.minimum((a * self.q * (1 - self.q)) ** (1 / (2 - self.q)), size)
        for _ in range(200):
            u = 0.5 * (low + high)
            with np.errstate(divide="ignore", invalid="ignore"):
                above = u + a * self.q * u ** (self.q - 1) > size
            low, high = np.where(above, low, u), np.where(above, u, high)
        u = 0.5 * (low + high)
        if self.q < 1:
            gain = 0.5 * (u - size) ** 2 + a * u**self.q < 0.5 * size**2
            u = np.where(gain, u, 0.0)
        return np.sign(v) * u
