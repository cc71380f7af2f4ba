r"""Rademacher complexity: how well can a class follow pure noise on these points?

    R = E_sigma max_f (1/n) sum_i sigma_i f(x_i),     sigma_i = +1 or -1 with probability 1/2
    L <= L_train + 2 R + 4 sqrt((2/n) ln(4/delta))    R of the loss class

Since sigma and -sigma are equally likely, each pair gives (max - min)/2: half the signs are
enough, and a random draw has less variance. Up to 16 points all 2^n signs are summed.

For outputs -1 and +1 and zero-one loss the loss class has half the complexity of the class itself.

References: Bartlett & Mendelson (2002); Shalev-Shwartz & Ben-David (2014), chapter 26.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.evaluation.guarantees.risk_bounds import RiskBound, check_loss, risk_bound

EXACT_POINTS = 16
DRAWS = 4096
CELLS = 2**20  # of the (signs, functions) table at a time


@readable
class Rademacher(NamedTuple):
    """The complexity, its Monte Carlo error (0 when exact) and whether all signs were summed.

    >>> print(Rademacher(1 / 3, 0.0, True))
    Rademacher complexity 0.333333 (exact)
    """

    value: float  # the complexity
    standard_error: float  # of the draws
    exact: bool  # whether all signs were summed

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        how = "exact" if self.exact else f"standard error {self.standard_error:.2g}"
        return f"Rademacher complexity {self.value:.6g} ({how})"

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())


def rademacher_complexity(
    outputs: ArrayLike, *, n_draws: int | None = None, random_state: Seed = 0
) -> Rademacher:
    """The empirical Rademacher complexity of a class, given its outputs on n points.

    ``outputs`` (functions, points) is what every function of the class says of the points; for a
    bound the losses. ``n_draws`` random signs are each used with their opposite, None: all signs up
    to 16 points, else 4096; ``random_state`` is their seed.

    >>> thresholds = [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]
    >>> complexity = rademacher_complexity(thresholds)
    >>> round(complexity.value, 10), complexity.exact
    (0.3333333333, True)
    """
    F = np.asarray(outputs, dtype=np.float64)
    if F.ndim != 2 or F.size == 0:
        raise ValueError(f"outputs must have shape (functions, points), got {F.shape}")
    if not np.isfinite(F).all():
        raise ValueError("outputs must be finite numbers, got NaN or infinity")
    if n_draws is not None:
        check.whole(n_draws=n_draws, at_least=2)
    F = np.unique(F, axis=0)
    n = F.shape[1]
    if n_draws is None and n <= EXACT_POINTS:
        total = sum(part.sum() for part in _reach(F, None, 2 ** (n - 1)))
        return Rademacher(float(total / 2 ** (n - 1)), 0.0, True)
    draws = DRAWS if n_draws is None else n_draws
    seed = int(generator(random_state).integers(2**63))
    values = np.concatenate(list(_reach(F, seed, draws)))
    error = float(values.std(ddof=1) / math.sqrt(draws))
    return Rademacher(float(values.mean()), error, False)


def _reach(F: Array, seed: int | None, count: int) -> Any:
    """(max - min)/(2n) of F sigma for ``count`` signs: all of them, or random ones by block."""
    m, n = F.shape
    step = max(1, min(1024, CELLS // max(m, n)))

    def block(start: int) -> Array:
        rows = np.arange(start, min(start + step, count))
        if seed is None:  # the binary digits of the row number; the last sign stays +1
            sigma = 1.0 - 2.0 * ((rows[:, None] >> np.arange(n)) & 1)
        else:
            rng = np.random.default_rng([seed, start])
            sigma = 1.0 - 2.0 * rng.integers(2, size=(len(rows), n))
        S = sigma @ F.T  # (signs, functions)
        return (S.max(axis=1) - S.min(axis=1)) / (2 * n)

    return map_threads(block, range(0, count, step))


def rademacher_bound(
    train_loss: float, complexity: float | Rademacher, n: int, *, delta: float = 0.05
) -> RiskBound:
    """Bound the true loss by the training loss and the complexity of the loss class.

    ``train_loss`` in [0, 1] of ``n`` training rows; ``complexity`` is that of the loss class (for
    outputs -1 and +1: half of the class's own). The bound may fail with probability ``delta``.

    >>> round(rademacher_bound(0.1, 0.0, 1000).gap, 10)
    0.3744660897
    """
    check_loss(train_loss=train_loss)
    R = float(complexity)
    check.non_negative(complexity=R)
    check.whole(n=n)
    check.fraction(delta=delta)
    gap = 2 * R + 4 * math.sqrt(2 / n * math.log(4 / delta))
    return risk_bound(train_loss, gap, delta)
