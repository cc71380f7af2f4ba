r"""The law of large numbers and the central limit theorem, seen in simulation.

For means of n independent draws, repeated many times:

    frequency     share of repeats with |mean - mu| >= eps       -> 0
    Chebyshev     sigma^2 / (n eps^2)                            always above it
    Hoeffding     2 exp(-2 n eps^2 / width^2)                    always above it, bounded draws
    distance      sup_z |P(Z_n <= z) - Phi(z)|,  Z_n = sqrt(n) (mean - mu)/sigma      -> 0

A distance below 0.87 / sqrt(repeats) is the noise of the simulation itself. Without a finite
variance Chebyshev and the central limit theorem do not apply; without a mean nothing does.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, IntArray, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.records import text_table
from pellucid.core.runtime.random import generator
from pellucid.maths.chance.concentration import chebyshev, hoeffding
from pellucid.maths.wording import folded, number, one_line

DRAWS = 2**20  # numbers drawn at a time


@readable
class LimitTheorems(NamedTuple):
    """One entry per n; a column is None where its theorem does not apply.

    >>> class Coin:
    ...     mean, variance, support = 0.5, 0.25, (0.0, 1.0)
    ...     def sample(self, n, random_state):
    ...         return random_state.integers(0, 2, n).astype(float)
    >>> print(limit_theorems(Coin(), n=(1, 100), repeats=1000, random_state=0))
    mean 0.5, variance 0.25. Frequency: of 1000 samples, how often the mean of n values is 0.1
    or more off; then bounds on it.
    n    frequency  Chebyshev  Hoeffding  distance to N(0,1)
    1            1          1          1            0.378345
    100      0.064       0.25   0.270671           0.0517403
    """

    n: IntArray  # sizes of the samples
    frequency: Array | None  # share of means that are ``eps`` or more off
    chebyshev: Array | None  # bound on the frequency
    hoeffding: Array | None  # bound on the frequency
    distance: Array | None  # of the standardised mean from N(0, 1)
    mean: float | None  # of the distribution
    variance: float | None  # of the distribution
    eps: float  # deviation that is counted
    repeats: int  # samples of each size

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        named = {
            "frequency": self.frequency,
            "Chebyshev": self.chebyshev,
            "Hoeffding": self.hoeffding,
            "distance to N(0,1)": self.distance,
        }
        shown = {name: column for name, column in named.items() if column is not None}
        rows = [(str(n), *(c[i] for c in shown.values())) for i, n in enumerate(self.n)]
        mean, variance = ("none" if v is None else number(v) for v in (self.mean, self.variance))
        lines = [
            folded(
                f"mean {mean}, variance {variance}. Frequency: of {self.repeats} samples, how "
                f"often the mean of n values is {number(self.eps)} or more off; then bounds on it."
            ),
            text_table(("n", *shown), rows),
        ]
        if self.frequency is None:
            lines.append("There is no finite mean: the law of large numbers does not apply.")
        elif self.variance is None:
            without = "Chebyshev and the central limit theorem do not apply."
            lines.append(f"The variance is infinite: {without}")
        elif self.distance is None:
            lines.append("The variance is 0: the central limit theorem does not apply.")
        return "\n".join(lines)


def limit_theorems(
    distribution: Any,
    n: int | Sequence[int] = (1, 10, 100, 1000),
    eps: float = 0.1,
    repeats: int = 10_000,
    random_state: Seed = None,
) -> LimitTheorems:
    """Simulate means of n draws beside the bounds and the normal limit.

    Parameters
    ----------
    distribution : object
        Of ``pellucid.inference`` (``sample``, ``mean``, ``variance``), or frozen of ``scipy.stats``
        (``rvs``, ``mean``, ``var``). Hoeffding's bound needs a bounded ``support``, or quantiles 0
        and 1 that are finite.
    n : whole numbers, default=(1, 10, 100, 1000)
        Sizes of the samples.
    eps : float, default=0.1
        The deviation of the mean that is counted.
    repeats : int, default=10_000
        Samples of each size.
    random_state : int, Generator, RandomState or None
        Seed of the samples.

    Examples
    --------
    >>> from pellucid.inference import Normal
    >>> from pellucid.maths import limit_theorems
    >>> found = limit_theorems(Normal(0.0, 1.0), n=(100,), repeats=2000, random_state=0)
    >>> bool(found.frequency[0] <= found.chebyshev[0]), found.hoeffding is None
    (True, True)
    """
    check.positive(eps=eps)
    check.whole(repeats=repeats)
    sizes = np.atleast_1d(np.asarray(n))
    for size in sizes.tolist():
        check.whole(n=size)
    rng = generator(random_state)
    mu, variance = _finite(distribution, "mean"), _finite(distribution, "variance", "var")
    if mu is None:
        nothing = (None, None, None, None)
        return LimitTheorems(sizes, *nothing, None, None, float(eps), int(repeats))
    deviations = [_deviations(distribution, int(size), repeats, mu, rng) for size in sizes]
    frequency = np.array([(np.abs(d) >= eps).mean() for d in deviations])
    low, high = _support(distribution)
    bounded = math.isfinite(low) and math.isfinite(high) and low < high
    cheb = hoef = distance = None
    if variance is not None:
        cheb = np.array([chebyshev(variance=variance, eps=eps, n=int(s)).delta for s in sizes])
    if bounded:
        width = high - low
        hoef = np.array([hoeffding(n=int(s), eps=eps, width=width).delta for s in sizes])
    if variance:
        scaled = zip(deviations, np.sqrt(sizes / variance), strict=True)
        distance = np.array([kolmogorov(d * root) for d, root in scaled])
    laws = frequency, cheb, hoef, distance, mu, variance
    return LimitTheorems(sizes, *laws, float(eps), int(repeats))


def kolmogorov(z: Array) -> float:
    """sup |F(z) - Phi(z)| of the empirical distribution of z.

    >>> kolmogorov(np.zeros(3))
    0.5
    """
    z = np.sort(z)
    below = ndtr(z)
    steps = np.arange(len(z) + 1) / len(z)
    return float(max((steps[1:] - below).max(), (below - steps[:-1]).max()))


def _deviations(distribution: Any, n: int, repeats: int, mu: float, rng: Rng) -> Array:
    """mean - mu of each repeat, drawn a few at a time."""
    draw = getattr(distribution, "sample", None) or getattr(distribution, "rvs", None)
    if draw is None:
        raise ValueError("distribution must have sample(n, random_state) or be of scipy.stats")
    out = np.empty(repeats)
    step = max(1, DRAWS // n)
    for start in range(0, repeats, step):
        k = min(step, repeats - start)
        draws = np.asarray(draw(k * n, random_state=rng), dtype=np.float64)
        out[start : start + k] = (draws - mu).reshape(k, n).mean(axis=1)
    return out


def _finite(distribution: Any, *names: str) -> float | None:
    """An attribute or method of the distribution; None where it is infinite or undefined."""
    for name in names:
        found = getattr(distribution, name, None)
        if found is not None:
            value = float(found() if callable(found) else found)
            return value if math.isfinite(value) else None
    raise ValueError(f"distribution must have {' or '.join(names)}")


def _support(distribution: Any) -> tuple[float, float]:
    found = getattr(distribution, "support", None)
    if found is not None:
        low, high = found() if callable(found) else found
        return float(low), float(high)
    quantile = getattr(distribution, "quantile", None)
    if quantile is None:
        return -math.inf, math.inf
    return float(quantile(0.0)), float(quantile(1.0))
