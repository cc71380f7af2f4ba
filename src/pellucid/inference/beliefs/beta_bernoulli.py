r"""A belief about a probability.

    p ~ Beta(a, b),  s successes and f failures:   p | data ~ Beta(a + s, b + f)
    P(next success) = (a + s)/(a + b + s + f)      the posterior mean; a = b = 1: Laplace's rule
    log p(sequence) = log B(a + s, b + f) - log B(a, b)

a = b = 0 is the limit without a prior: the mean is the share of successes. It is no density, so
there is no evidence.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import betaln

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.inference.beliefs.belief import Belief, Moments
from pellucid.inference.distributions.continuous import Beta
from pellucid.inference.distributions.discrete import Bernoulli, BetaBinomial


@readable
@dataclass(frozen=True)
class BetaBernoulli(Moments, Belief):
    """A beta belief about the probability of success.

    ``alpha`` and ``beta`` are imagined successes and failures, >= 0.

    >>> from pellucid.inference import BetaBernoulli
    >>> belief = BetaBernoulli(1, 1).update(successes=7, failures=3)
    >>> round(belief.mean, 6), belief.interval().round(4)
    (0.666667, array([0.3903, 0.8907]))
    >>> print(belief)
    BetaBernoulli(alpha = 8.0, beta = 4.0): mean 0.6667, 95 % between 0.3903 and 0.8907.
    """

    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        check.non_negative(alpha=self.alpha, beta=self.beta)

    @staticmethod
    def _counts(
        data: ArrayLike, w: Array | None, successes: ArrayLike, failures: ArrayLike
    ) -> tuple[float, float]:
        if data is not None:
            sums = Bernoulli.statistics(data, w)
            return float(sums.values[0]), float(sums.n - sums.values[0])
        if successes is None or failures is None:
            raise ValueError("give 0/1 data, or both successes and failures")
        check.non_negative(successes=successes, failures=failures)
        return float(successes), float(failures)

    def update(
        self,
        data: Any = None,
        sample_weight: Any = None,
        *,
        successes: Any = None,
        failures: Any = None,
    ) -> "BetaBernoulli":
        """The belief after 0/1 data, or after counts."""
        s, f = self._counts(data, sample_weight, successes, failures)
        return BetaBernoulli(self.alpha + s, self.beta + f)

    @property
    def posterior(self) -> Beta:
        if self.alpha == 0 or self.beta == 0:
            at = f"alpha = {self.alpha:g}, beta = {self.beta:g}"
            raise ValueError(f"{at} is a limit, not a density")
        return Beta(self.alpha, self.beta)

    def _location(self) -> float:
        if self.alpha + self.beta == 0:
            raise ValueError("alpha = beta = 0 has no mean before data")
        return self.alpha / (self.alpha + self.beta)

    def _reading(self) -> str:
        if self.alpha == 0 or self.beta == 0:
            return "a limit without a density; the mean is the share of successes."
        if len(self.modes) == 1 and 0 < self.modes[0] < 1:
            return super()._reading()
        ends = ", ".join(f"{m:g}" for m in self.modes)
        highest = f"highest at the boundary: {ends}." if ends else "flat: no mode."
        return f"{super()._reading()} The density is {highest}"

    @property
    def modes(self) -> tuple[float, ...]:
        """Where the density is highest: inside, at an end, at both ends, or nowhere (flat)."""
        a, b = self.alpha, self.beta
        if a == b == 1:
            return ()
        if a > 1 and b > 1:
            return ((a - 1) / (a + b - 2),)
        if a < 1 and b < 1:
            return (0.0, 1.0)
        return (0.0,) if a < b else (1.0,)

    def predictive(self, n: int = 1) -> Bernoulli | BetaBinomial:
        """The distribution of the next trial, or of the number of successes in n."""
        check.whole(n=n)
        return Bernoulli(self._location()) if n == 1 else BetaBinomial(n, self.alpha, self.beta)

    def log_evidence(
        self,
        data: Any = None,
        sample_weight: Any = None,
        *,
        successes: Any = None,
        failures: Any = None,
    ) -> float:
        """log p(sequence): an order is given, so no binomial coefficient."""
        if self.alpha == 0 or self.beta == 0:
            raise ValueError("an improper prior (alpha or beta = 0) has no evidence")
        s, f = self._counts(data, sample_weight, successes, failures)
        return float(betaln(self.alpha + s, self.beta + f) - betaln(self.alpha, self.beta))

    def maximum_likelihood(self, data: ArrayLike) -> float:
        """The share of successes."""
        return float(np.mean(np.asarray(data, dtype=np.float64)))
