r"""Which of several distributions a sample came from.

Given distributions are compared by their likelihood; families are fitted first, and a larger one
pays for its parameters:

    AIC = 2 k - 2 log L         weights  exp(-(AIC_i - min AIC) / 2), normalised
    BIC = k log n - 2 log L

The best of bad candidates is still bad: the Kolmogorov-Smirnov distance sup |F_n - F| is an
absolute check. For a GIVEN continuous distribution it exceeds 1.63 / sqrt(n) in 1 % of samples.

References: Akaike (1974); Burnham & Anderson (2002).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.records import text_table
from pellucid.inference.distributions.distribution import Distribution, Univariate
from pellucid.inference.distributions.samples import Sample, sample_of
from pellucid.inference.estimation import distribution_fit as fits

CRITERIA = ("likelihood", "aic", "bic")
POOR = 1.63  # times 1/sqrt(n): the 1 % point of Kolmogorov's distribution


@readable
@dataclass(frozen=True, eq=False)
class DistributionChoice:
    """The candidates side by side; ``best`` is the distribution itself.

    >>> from pellucid.inference import Normal
    >>> choice = choose_distribution([2.5, 3.0, 4.5, 5.0, 6.0], [Normal(4, 1), Normal(5, 1)])
    >>> choice.best, choice.log_likelihood.round(3)
    (Normal(mean=4, std=1), array([ -8.845, -10.345]))
    """

    best: Any
    names: tuple[str, ...]  # as given or of the families
    log_likelihood: Array  # of the sample
    aic: Array  # 2 k - 2 log-likelihood
    bic: Array  # k log n - 2 log-likelihood
    weights: Array  # relative support, adding up to 1
    ks: Array  # largest distance from the empirical cdf
    distributions: tuple[Any, ...]  # given or fitted
    criterion: str  # what ``best`` is best by
    n: float  # size of the sample, or sum of weights
    notes: tuple[str, ...] = ()  # what could not be fitted or cannot produce x

    @property
    def poor(self) -> bool:
        """Whether even the best is far from the sample."""
        return bool(self.ks[self._place()] > POOR / np.sqrt(self.n))

    def _place(self) -> int:
        return next(i for i, law in enumerate(self.distributions) if law is self.best)

    def __str__(self) -> str:
        columns = self.names, self.log_likelihood, self.aic, self.bic, self.weights, self.ks
        rows = list(zip(*columns, strict=True))
        table = text_table(("name", "log_likelihood", "aic", "bic", "weight", "ks"), rows)
        i = self._place()
        word = "best, but poor" if self.poor else "best"
        near = f"its cdf is at most {self.ks[i]:.3g} away from the sample's"
        line = f"{self.names[i]} is {word} by {self.criterion}: {near}."
        return "\n".join([table, line, *self.notes])


def ks_distance(law: Univariate, sample: Sample) -> float:
    """sup |F_n - F|; of a discrete law at the values only."""
    x, back = np.unique(sample.x, return_inverse=True)
    share = np.bincount(back, sample.w) / sample.n
    after = np.cumsum(share)
    F = np.asarray(law.cdf(x))
    if law.discrete:
        gaps = np.abs(after - F)
        before = np.abs(np.asarray(law.cdf(x - 1)) - (after - share))
        return float(max(gaps.max(), before.max()))
    return float(np.maximum(np.abs(after - F), np.abs(F - (after - share))).max())


def _candidate(candidate: object, sample: Sample) -> tuple[str, Any, int, str]:
    """Name, distribution, number of fitted parameters, and why it cannot be fitted."""
    family = fits.find_family(candidate) if isinstance(candidate, str | type) else candidate
    if not isinstance(family, type):
        return repr(family), family, 0, ""
    try:
        law = fits.fit_distribution(sample.x, family, sample_weight=sample.w).distribution
    except ValueError as error:
        return family.__name__, None, 0, str(error)
    return family.__name__, law, fits.count_parameters(law), ""


def _outside(name: str, law: Distribution, sample: Sample) -> str:
    values = np.asarray(law.log_density(sample.x))
    bad = np.flatnonzero(values == -np.inf)
    if not len(bad):
        return ""
    return f"{name} cannot produce {sample.x[bad[0]]:g} (value {bad[0]}): log-likelihood -inf."


def choose_distribution(
    x: ArrayLike,
    candidates: Sequence[Any],
    criterion: str | None = None,
    sample_weight: ArrayLike | None = None,
) -> DistributionChoice:
    """Compare distributions, or families fitted to the sample.

    ``x`` is the sample, ``sample_weight`` are numbers of repetitions. ``candidates`` are
    distributions as given (``Normal(0, 1)``), and names or classes of families to be fitted.
    ``criterion`` is "likelihood", "aic" or "bic"; None: likelihood where all are given, AIC where
    some are fitted.

    >>> import numpy as np
    >>> from pellucid.inference import choose_distribution
    >>> x = np.random.default_rng(0).gamma(2.0, 3.0, 300)
    >>> choose_distribution(x, ["normal", "gamma", "exponential"]).weights.round(4)
    array([0., 1., 0.])
    """
    candidates = list(candidates)
    if not candidates:
        raise ValueError("candidates must be one distribution or more, got none")
    sample = sample_of(x, sample_weight)
    found = [_candidate(candidate, sample) for candidate in candidates]
    if criterion is None:
        given = not any(isinstance(candidate, str | type) for candidate in candidates)
        criterion = "likelihood" if given else "aic"
    check.one_of(CRITERIA, criterion=criterion)
    laws = [law for _, law, _, _ in found]
    if len({law.discrete for law in laws if law is not None}) > 1:
        alike = "candidates must be all discrete or all continuous"
        raise ValueError(f"a probability cannot be compared with a density: {alike}")
    notes = [
        f"{name} cannot be fitted: {why}." if law is None else _outside(name, law, sample)
        for name, law, _, why in found
    ]
    value = np.array([-np.inf if law is None else law.log_likelihood(*sample) for law in laws])
    k = np.array([count for _, _, count, _ in found], dtype=np.float64)
    aic, bic = 2 * k - 2 * value, k * np.log(sample.n) - 2 * value
    score = {"likelihood": -2 * value, "aic": aic, "bic": bic}[criterion]
    if not np.isfinite(score).any():
        raise ValueError(f"no candidate can have produced x: {' '.join(n for n in notes if n)}")
    weights = np.exp(-(score - score.min()) / 2)
    ks = np.array([np.inf if law is None else ks_distance(law, sample) for law in laws])
    best, names = laws[int(np.argmin(score))], tuple(name for name, *_ in found)
    columns = value, aic, bic, weights / weights.sum(), ks, tuple(laws)
    said = tuple(note for note in notes if note)
    return DistributionChoice(best, names, *columns, criterion, sample.n, said)
