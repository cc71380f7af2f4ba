r"""How probable is it that one model is better, worse, or practically the same?

The posterior of the mean difference of two models on k folds (Corani and Benavoli) is Student's

    mu | d  ~  t_{k-1}( dbar, (1/k + n_test/n_train) s^2 )

and the probabilities are its mass below -rope, within the region of practical equivalence
[-rope, rope], and above rope.

References: Corani & Benavoli (2015); Benavoli, Corani, Demšar & Zaffalon (2017).
"""

import math
from typing import Any, NamedTuple

from scipy.special import stdtr

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.evaluation.hypotheses.significance import ROUNDING, score_vector


@readable
class BayesianComparison(NamedTuple):
    """Probabilities that the mean difference is below, inside and above the region of equivalence.

    >>> print(BayesianComparison(0.1, 0.2, 0.7))
    The first model is worse with probability 0.100, practically equal 0.200, better 0.700.
    """

    worse: float  # P(mean difference < -rope)
    equivalent: float  # P(-rope <= mean difference <= rope)
    better: float  # P(mean difference > rope)

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        return plain(self._asdict())

    def __str__(self) -> str:
        first = f"The first model is worse with probability {self.worse:.3f}"
        return f"{first}, practically equal {self.equivalent:.3f}, better {self.better:.3f}."


def bayesian_comparison(
    differences: ArrayLike, *, test_ratio: float, rope: float = 0.01
) -> BayesianComparison:
    """The posterior probabilities (worse, equivalent, better) of the first of two models.

    ``differences`` are score of the first minus score of the second, fold by fold; greater scores
    are better. ``test_ratio`` is n_test / n_train of the folds, 0 for independent test sets. Mean
    differences of at most ``rope`` do not matter in practice.

    >>> worse, equivalent, better = bayesian_comparison(
    ...     [0.04, 0.01, 0.03, 0.04, 0.01], test_ratio=1 / 4)
    >>> round(worse, 4), round(equivalent, 4), round(better, 4)
    (0.012, 0.0834, 0.9046)
    """
    check.non_negative(test_ratio=test_ratio, rope=rope)
    d = score_vector(differences, "differences")
    k = len(d)
    if k < 2:
        raise ValueError(f"differences must be of at least 2 folds, got {k}")
    mean, scale = float(d.mean()), math.sqrt((1 / k + test_ratio) * float(d.var(ddof=1)))
    if scale <= ROUNDING * abs(mean):  # no spread beyond rounding
        return BayesianComparison(float(mean < -rope), float(abs(mean) <= rope), float(mean > rope))
    worse = float(stdtr(k - 1, (-rope - mean) / scale))
    better = float(stdtr(k - 1, (mean - rope) / scale))
    return BayesianComparison(worse, max(1 - worse - better, 0.0), better)
