r"""Bernstein's inequalities: sharper than Hoeffding's where the variance is small.

    Bernstein            P(|mean - mu| >= e) <= c exp(-n e^2 / (2 v + 2 w e / 3))      |X - mu| <= w
    empirical Bernstein  |mean - mu| <= sqrt(2 V ln(2c/delta) / n) + 7 w ln(2c/delta) / (3 (n - 1))
                         with probability at least 1 - delta, V the sample variance (n - 1), X in a
                         range of width w

c = 2, or 1 for one side. Solved for the deviation, with L = ln(c/delta):

    e = w L / (3 n) + sqrt((w L / (3 n))^2 + 2 v L / n),       n = 2 L (v + w e / 3) / e^2

References: Boucheron, Lugosi & Massart (2013), section 2.8; Maurer & Pontil (2009), theorem 4.
"""

import math

from pellucid.core.arrays import check
from pellucid.maths.chance.concentration import ROUNDING, Bound, two_of_three


def bernstein(
    *,
    variance: float,
    n: int | None = None,
    eps: float | None = None,
    delta: float | None = None,
    width: float = 1.0,
    two_sided: bool = True,
) -> Bound:
    """Bernstein's bound: two of ``n``, ``eps`` and ``delta`` give the third.

    ``variance`` of one observation, >= 0 and at most width^2; none is farther than ``width`` from
    its expectation (the range is enough). The mean of ``n`` independent ones is off by ``eps`` > 0
    or more with probability at most ``delta``; as an answer n is rounded up. ``two_sided`` False:
    one side.

    >>> from pellucid.maths import bernstein, hoeffding
    >>> bernstein(variance=0.01, n=1000, delta=0.05).eps < hoeffding(n=1000, delta=0.05).eps
    True
    """
    check.non_negative(variance=variance)
    check.positive(width=width)
    check.boolean(two_sided=two_sided)
    two_of_three("bernstein", n, eps, delta)
    if variance > width**2:
        raise ValueError(f"variance must be at most width^2 = {width**2:g}, got {variance!r}")
    c = 2.0 if two_sided else 1.0
    if delta is None:
        assert n is not None
        assert eps is not None
        exponent = n * eps**2 / (2 * variance + 2 * width * eps / 3)
        return Bound(min(1.0, c * math.exp(-exponent)), int(n), float(eps))
    L = math.log(c / delta)
    if n is None:
        assert eps is not None
        count = 2 * L * (variance + width * eps / 3) / eps**2
        return Bound(float(delta), max(1, math.ceil(count * (1 - ROUNDING))), float(eps))
    linear = width * L / (3 * n)
    return Bound(float(delta), int(n), linear + math.sqrt(linear**2 + 2 * variance * L / n))


def empirical_bernstein(
    *, variance: float, n: int, delta: float, width: float = 1.0, two_sided: bool = True
) -> Bound:
    """The deviation that the mean keeps to, from the variance of the sample itself.

    ``variance`` of the sample (divided by n - 1) of ``n`` >= 2 independent observations in a range
    of ``width``; ``delta`` is the probability that is left. ``two_sided`` False bounds one side
    only.

    >>> from pellucid.maths import empirical_bernstein
    >>> round(empirical_bernstein(variance=0.01, n=1000, delta=0.05).eps, 6)
    0.019597
    """
    check.non_negative(variance=variance)
    check.whole(at_least=2, n=n)
    check.fraction(delta=delta)
    check.positive(width=width)
    check.boolean(two_sided=two_sided)
    L = math.log((4.0 if two_sided else 2.0) / delta)
    eps = math.sqrt(2 * variance * L / n) + 7 * width * L / (3 * (n - 1))
    return Bound(float(delta), int(n), eps)
