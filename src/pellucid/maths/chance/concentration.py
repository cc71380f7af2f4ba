r"""Concentration inequalities: how far a mean can be from its expectation, whatever the law.

    Markov      P(X >= a)            <= E X / a                               X >= 0
    Chebyshev   P(|mean - mu| >= e)  <= Var X / (n e^2)                       independent X_i
    Hoeffding   P(|mean - mu| >= e)  <= 2 exp(-2 n^2 e^2 / sum_i w_i^2)       X_i in a range w_i

One-sided Hoeffding has no factor 2. Solved for the other two:

    e = sqrt(S ln(c/delta) / (2 n^2)),  S = sum w_i^2,      n = w^2 ln(c/delta) / (2 e^2),  c = 1, 2

References: Hoeffding (1963); Boucheron, Lugosi & Massart (2013), chapter 2.
"""

import math
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import plain

ROUNDING = 1e-12  # a count is not raised by one because its last digit was rounded up


@readable
class Bound(NamedTuple):
    """With probability at least 1 - delta the mean of n stays within eps; ``float()`` is delta.

    >>> float(Bound(delta=0.05, n=100, eps=0.1))
    0.05
    """

    delta: float  # probability of a larger deviation
    n: int  # observations in the mean
    eps: float  # deviation of the mean

    def __float__(self) -> float:
        return self.delta

    def __str__(self) -> str:
        mean = "a value" if self.n == 1 else f"the mean of n = {self.n} values"
        return (
            f"With probability at most {self.delta:.6g}, {mean} is off its expectation by "
            f"{self.eps:.6g} or more."
        )

    def to_dict(self) -> dict[str, Any]:
        """The three numbers by name."""
        return plain(self._asdict())


class Level(Bound):
    """Markov's bound is on the value itself, not on how far it is from its mean.

    >>> print(markov(mean=1.0, a=4.0))
    With probability at most 0.25, a value is 4 or more.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return f"With probability at most {self.delta:.6g}, a value is {self.eps:.6g} or more."


def markov(*, mean: float, a: float) -> Bound:
    """P(X >= a) <= mean / a for a variable that is never negative.

    ``mean`` is the expectation, >= 0, and ``a`` the level, > 0: the ``eps`` of the answer.

    >>> float(markov(mean=1.0, a=4.0))
    0.25
    """
    check.non_negative(mean=mean)
    check.positive(a=a)
    return Level(min(1.0, mean / a), 1, float(a))


def chebyshev(*, variance: float, eps: float, n: int = 1) -> Bound:
    """P(|mean of n - mu| >= eps) <= variance / (n eps^2).

    ``variance`` of one observation, >= 0; deviation ``eps`` > 0 of the mean of ``n`` independent
    ones.

    >>> float(chebyshev(variance=0.25, eps=0.5, n=4))
    0.25
    """
    check.non_negative(variance=variance)
    check.positive(eps=eps)
    check.whole(n=n)
    return Bound(min(1.0, variance / (n * eps**2)), int(n), float(eps))


def two_of_three(name: str, n: int | None, eps: float | None, delta: float | None) -> None:
    """Refuse anything but two of n, eps and delta."""
    if sum(value is not None for value in (n, eps, delta)) != 2:
        given = f"n={n!r}, eps={eps!r}, delta={delta!r}"
        raise ValueError(f"{name} needs two of n, eps and delta, got {given}")
    if n is not None:
        check.whole(n=n)
    if eps is not None:
        check.positive(eps=eps)
    if delta is not None:
        check.fraction(delta=delta)


def hoeffding_deviation(n: int, log_odds: float, squares: float | None = None) -> float:
    """eps = sqrt(S ln(c/delta) / (2 n^2)), with ``log_odds`` = ln(c/delta) and S = n for [0, 1]."""
    return math.sqrt((n if squares is None else squares) * log_odds / 2) / n


def hoeffding_count(eps: float, log_odds: float, width: float = 1.0) -> int:
    """The least n with sqrt(width^2 ln(c/delta)/(2 n)) <= eps."""
    return max(1, math.ceil(width**2 * log_odds / (2 * eps**2) * (1 - ROUNDING)))


def hoeffding(
    *,
    n: int | None = None,
    eps: float | None = None,
    delta: float | None = None,
    width: ArrayLike = 1.0,
    two_sided: bool = True,
) -> Bound:
    """Hoeffding's bound: two of ``n``, ``eps`` and ``delta`` give the third.

    The mean of ``n`` independent observations is off its expectation by ``eps`` > 0 or more with
    probability at most ``delta``; as an answer n is rounded up. ``width`` is the range of each
    observation, a vector of them implies n; ``two_sided`` False bounds one side only.

    >>> round(float(hoeffding(n=100, eps=0.1)), 10)
    0.2706705665
    >>> round(hoeffding(n=100, delta=0.05, two_sided=False).eps, 10)
    0.1223873415
    >>> hoeffding(eps=0.1, delta=0.05).n
    185
    """
    check.boolean(two_sided=two_sided)
    widths = _widths(width)
    if widths.ndim:
        if n is not None and n != len(widths):
            raise ValueError(f"width gives {len(widths)} ranges, but n is {n!r}")
        n = len(widths)
    two_of_three("hoeffding (a vector width implies n)", n, eps, delta)
    c = 2.0 if two_sided else 1.0
    if n is None:
        assert eps is not None
        assert delta is not None
        return Bound(float(delta), hoeffding_count(eps, math.log(c / delta), float(widths)), eps)
    squares = float((widths**2).sum()) if widths.ndim else n * float(widths) ** 2
    if delta is not None:
        return Bound(float(delta), int(n), hoeffding_deviation(n, math.log(c / delta), squares))
    assert eps is not None
    return Bound(min(1.0, c * math.exp(-2 * (n * eps) ** 2 / squares)), int(n), float(eps))


def _widths(width: ArrayLike) -> Any:
    """A positive number or a vector of them."""
    if isinstance(width, Real | Integral):
        check.positive(width=width)
        return np.float64(width)
    widths = np.asarray(width, dtype=np.float64)
    if widths.ndim != 1 or not len(widths) or not (np.isfinite(widths) & (widths > 0)).all():
        raise ValueError(f"width must be a number > 0 or a vector of them, got {width!r}")
    return widths
