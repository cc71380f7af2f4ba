r"""A belief about the rate of counts.

r ~ Gamma(k, s),  n counts:    r | data ~ Gamma(k + sum x, s/(1 + n s))
next count ~ negative binomial (a Poisson whose rate is gamma)
log p(data) = log G(k') - log G(k) + k' log s' - k log s - sum log x!
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.readable import readable
from pellucid.inference.beliefs.belief import Belief, Moments
from pellucid.inference.distributions.continuous import Gamma
from pellucid.inference.distributions.discrete import NegativeBinomial, Poisson


@readable
@dataclass(frozen=True)
class GammaPoisson(Moments, Belief):
    """A gamma belief about a Poisson rate; its mean is ``shape * scale``, both > 0.

    >>> from pellucid.inference import GammaPoisson
    >>> GammaPoisson(1.0, 1.0).update([2, 4, 3]).posterior
    Gamma(shape=10.0, scale=0.25)
    """

    shape: float = 1.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        check.positive(shape=self.shape, scale=self.scale)

    @property
    def posterior(self) -> Gamma:
        return Gamma(self.shape, self.scale)

    def update(self, data: ArrayLike, sample_weight: ArrayLike | None = None) -> "GammaPoisson":
        """The belief after counts."""
        seen = Poisson.statistics(data, sample_weight)
        total = float(seen.values[0])
        return GammaPoisson(self.shape + total, self.scale / (1 + seen.n * self.scale))

    def predictive(self) -> NegativeBinomial:
        """The distribution of the next count."""
        return NegativeBinomial(self.shape, self.scale)

    def log_evidence(self, data: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """log p(data)."""
        seen = Poisson.statistics(data, sample_weight)
        after = self.update(data, sample_weight)
        before = gammaln(self.shape) + self.shape * np.log(self.scale)
        return float(gammaln(after.shape) + after.shape * np.log(after.scale) - before + seen.base)

    def maximum_likelihood(self, data: ArrayLike) -> float:
        """The mean."""
        return float(np.mean(np.asarray(data, dtype=np.float64)))
