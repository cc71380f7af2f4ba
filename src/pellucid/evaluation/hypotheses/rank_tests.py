r"""Several models over several data sets: Friedman's test and Nemenyi's critical distance.

Rank the m models on each of N data sets (1 = best, ties share); with mean ranks R_j

    chi2 = 12 N / (m (m + 1)) sum_j (R_j - (m + 1)/2)^2 / (1 - sum (t^3 - t)/(N m (m^2 - 1)))

with m - 1 degrees of freedom, t the sizes of the ties. Two models differ when their mean ranks do
by more than CD = q_alpha sqrt(m (m + 1)/(6 N)), q_alpha the quantile of the studentized range for
infinite degrees of freedom, divided by sqrt 2.

References: Friedman (1937); Nemenyi (1963); Demšar (2006).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, chdtri
from scipy.stats import rankdata, studentized_range

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.core.readable import readable
from pellucid.core.records import plain, show


@readable
class FriedmanTest(NamedTuple):
    """A test over ranks, with the mean ranks and Nemenyi's comparison of pairs.

    >>> friedman_test([[3.0, 1.0], [5.0, 2.0], [4.0, 1.0]]).ranks
    array([1., 2.])
    """

    statistic: float  # chi2
    p_value: float  # of the whole test
    df: int  # m - 1
    critical: float  # what chi2 must pass
    reject: bool  # whether it does
    ranks: Array  # (m,) mean rank, 1 is best
    critical_distance: float  # of two mean ranks
    pair_p_values: Array  # (m, m) Nemenyi
    different: BoolArray  # (m, m)
    method: str = "Friedman's test with Nemenyi's distance"  # in words

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def to_frame(self) -> Any:
        """Mean ranks, one row per model, as a Polars frame."""
        import polars

        return polars.DataFrame({"model": np.arange(len(self.ranks)), "mean_rank": self.ranks})

    def __str__(self) -> str:
        verdict = "the models differ" if self.reject else "no difference is shown"
        numbers = f"{show(self.statistic)}, df {self.df}, p = {show(self.p_value)}"
        ranks = ", ".join(f"{rank:.3g}" for rank in self.ranks)
        apart = f"differ when their ranks do by more than {self.critical_distance:.3g}"
        head = f"Friedman's test: {numbers}: {verdict}."
        return f"{head} Mean ranks {ranks}; two models {apart}."


def friedman_test(
    scores: ArrayLike, *, alpha: float = 0.05, greater_is_better: bool = True
) -> FriedmanTest:
    """Test that m models rank alike over N data sets.

    ``scores`` (N, m) have one row per data set and one column per model; ``greater_is_better`` is
    False for losses. ``alpha`` is the level of the test.

    >>> test = friedman_test([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8], [0.7, 0.6, 0.5]])
    >>> round(test.statistic, 4), test.ranks, round(test.critical_distance, 4)
    (6.5, array([1.  , 2.25, 2.75]), 1.6572)
    """
    check.fraction(alpha=alpha)
    check.boolean(greater_is_better=greater_is_better)
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise ValueError(f"scores must be (data sets, models), at least (2, 2), got {table.shape}")
    if not np.isfinite(table).all():
        raise ValueError("scores must be finite numbers, got NaN or infinity")
    N, m = table.shape
    placed = rankdata(-table if greater_is_better else table, axis=1)
    R = placed.mean(axis=0)
    # sum (t^3 - t) = 12 (the squares without ties - the squares there are)
    room = 12 * float(((placed - (m + 1) / 2) ** 2).sum()) / (N * m * (m**2 - 1))
    spread = 12 * N / (m * (m + 1)) * float(((R - (m + 1) / 2) ** 2).sum())
    chi2 = spread / room if room > 0 else 0.0  # all scores tied
    critical, error = float(chdtri(m - 1, alpha)), math.sqrt(m * (m + 1) / (12 * N))
    gaps = np.abs(R[:, None] - R[None, :])
    pairs, upper = np.ones((m, m)), np.triu_indices(m, 1)
    pairs[upper] = np.clip(studentized_range.sf(gaps[upper] / error, m, np.inf), 0.0, 1.0)
    pairs = np.minimum(pairs, pairs.T)
    distance = float(studentized_range.ppf(1 - alpha, m, np.inf)) * error
    overall = chi2, float(chdtrc(m - 1, chi2)), m - 1, critical, chi2 > critical
    return FriedmanTest(*overall, R, distance, pairs, gaps > distance)
