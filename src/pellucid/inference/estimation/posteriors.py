r"""One door to a posterior: mode, normal approximation, grid or draws.

log p(theta | data) = log p(data | theta) + log p(theta) - log evidence

"map"      the mode only: a point, as if theta were known
"laplace"  N(mode, (-Hessian)^-1): one symmetric peak
"grid"     sums over a grid: exact up to its spacing, 1 to 4 unknowns
"sample"   Metropolis-Hastings: any dimension and shape, up to Monte Carlo error
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.inference.estimation.estimates import maximum_a_posteriori
from pellucid.inference.estimation.grid_posterior import GridPosterior
from pellucid.inference.estimation.laplace import LaplaceApproximation, laplace_approximation
from pellucid.inference.estimation.predictive import DRAWS, Predictive, posterior_predictive
from pellucid.inference.sampling.proposals import GaussianWalk
from pellucid.inference.sampling.walks import metropolis_hastings

METHODS = {  # what each is, how it is found, what it gives up
    "map": (
        "the mode of the posterior",
        "step-halved Newton",
        "all uncertainty: predictions take the mode for the truth; no evidence",
    ),
    "laplace": (
        "a normal density at the mode",
        "step-halved Newton",
        "skewness, heavy tails and further modes; exact only for normal posteriors",
    ),
    "grid": (
        "masses on a grid",
        "trapezoid rule in logarithms",
        "more than four unknowns, and mass outside the grid",
    ),
    "sample": (
        "draws of Markov chains",
        "Metropolis-Hastings",
        "exactness: Monte Carlo error, no evidence, and no proof of convergence",
    ),
}
REACH = 8.0  # standard deviations of the Laplace approximation that a grid covers by default


@readable
@dataclass(frozen=True, eq=False)
class Posterior:
    """A posterior by one of four methods, with one set of questions.

    >>> found = posterior(lambda t: -((t[0] - 1.0) ** 2), lambda t: -(t[0] ** 2), [0.0])
    >>> found.mean.round(6), found.cov.round(6)
    (array([0.5]), array([[0.25]]))
    """

    method: str  # "map", "laplace", "grid" or "sample"
    result: Any  # Estimate, LaplaceApproximation, GridPosterior or Chains
    seed: Any = None  # of draws taken later

    @property
    def mean(self) -> Array:
        if self.method == "map":
            return self.result.estimate
        return self.result.mode if self.method == "laplace" else self.result.mean

    @property
    def cov(self) -> Array:
        """Zero for "map": a point does not vary."""
        if self.method == "map":
            return np.zeros((len(self.mean), len(self.mean)))
        return self.result.cov

    @property
    def log_evidence(self) -> float:
        """log p(data), of "laplace" and "grid"."""
        if self.method in ("map", "sample"):
            raise ValueError(f"method={self.method!r} gives no evidence; use 'laplace' or 'grid'")
        return self.result.log_evidence

    def interval(self, i: int = 0, confidence: float = 0.95) -> Array:
        """The central interval of coordinate i; a point for "map"."""
        if self.method == "map":
            return np.repeat(self.mean[i], 2)
        if self.method == "laplace":
            return self.result.distribution.marginal(i).interval(confidence)
        if self.method == "grid":
            return self.result.interval(i, confidence)
        check.fraction(confidence=confidence)
        return np.quantile(self.result.marginal(i), [(1 - confidence) / 2, (1 + confidence) / 2])

    def sample(self, n: int = 1, random_state: Seed = None) -> Array:
        """Draws (n, d)."""
        if self.method == "map":
            return np.tile(self.mean, (n, 1))
        if self.method == "sample":
            return generator(random_state).choice(self.result.flat, size=n)
        source = self.result.distribution if self.method == "laplace" else self.result
        return source.sample(n, random_state)

    def _draws(self) -> Array:
        if self.method == "sample":
            return self.result.flat
        return self.mean[None] if self.method == "map" else self.sample(DRAWS, self.seed)

    def expect(self, h: Callable[[Array], Any]) -> Any:
        """E h(theta)."""
        if self.method == "grid":
            return self.result.expect(h)
        value = np.mean([h(theta) for theta in self._draws()], axis=0)
        return float(value) if np.ndim(value) == 0 else value

    def predictive(
        self, predict: Callable[[Array], Any], noise_std: ArrayLike | None = 0.0
    ) -> Predictive:
        """Predictions averaged over the posterior."""
        seed = self.seed
        return posterior_predictive(self._draws(), predict, noise_std=noise_std, random_state=seed)

    def card(self) -> Card:
        """What was computed, how, and what the method gives up."""
        kind, how, loss = METHODS[self.method]
        numbers = {"d": len(self.mean), "mean": np.round(self.mean, 6).tolist()}
        if self.method in ("laplace", "grid"):
            numbers["log evidence"] = round(self.log_evidence, 6)
        notes = tuple(self.result.diagnose()) if self.method == "sample" else ()
        target, scales = "log likelihood + log prior", (f"gives up: {loss}",)
        return Card(kind, target, how, numbers, scales, notes)

    def __str__(self) -> str:
        return str(self.card())


def _laplace(log_joint: Callable[[Array], Any], start: ArrayLike, rng: Rng) -> LaplaceApproximation:
    return laplace_approximation(log_joint, start, random_state=rng)


def _grid(
    log_joint: Callable[[Array], Any], start: ArrayLike, rng: Any, options: dict[str, Any]
) -> GridPosterior:
    if "low" not in options or "high" not in options:
        peak = _laplace(log_joint, start, rng)
        half = REACH * np.sqrt(np.diag(peak.cov))
        options = {"low": peak.mode - half, "high": peak.mode + half, **options}
    return GridPosterior(log_joint, **options)


def _sample(
    log_joint: Callable[[Array], Any], start: ArrayLike, rng: Any, options: dict[str, Any]
) -> Any:
    if "proposal" not in options:
        peak = _laplace(log_joint, start, rng)
        start = peak.mode
        options = {**options, "proposal": GaussianWalk(2.38**2 / len(start) * peak.cov)}
    return metropolis_hastings(log_joint, start, random_state=rng, **options)


def posterior(
    log_likelihood: Callable[[Array], float],
    log_prior: Callable[[Array], float],
    start: ArrayLike,
    method: str = "laplace",
    *,
    random_state: Seed = None,
    **options: Any,
) -> Posterior:
    """The posterior of any model, by the method of choice.

    Parameters
    ----------
    log_likelihood, log_prior : callable
        theta (d,) -> log p(data | theta), log p(theta).
    start : array of shape (d,)
        A point of positive density.
    method : {"map", "laplace", "grid", "sample"}, default="laplace"
        How: mode only, normal approximation, sums over a grid, or Markov chains.
    random_state : None, int, RandomState or Generator, default=None
        Seed of the search and of the chains.
    **options
        Of ``maximum_a_posteriori``, ``laplace_approximation``, ``GridPosterior`` (low, high: 8
        standard deviations of the normal approximation where not given) or
        ``metropolis_hastings`` (the proposal is shaped by the normal approximation).

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.inference import posterior
    >>> def log_likelihood(t):  # 7 of 10, in log odds
    ...     return 7 * t[0] - 10 * np.logaddexp(0, t[0])
    >>> found = posterior(log_likelihood, lambda t: -0.5 * t[0] ** 2, [0.0], "grid")
    >>> round(float(found.mean[0]), 3), found.interval().round(2)
    (0.612, array([-0.47,  1.75]))
    """
    check.one_of(tuple(METHODS), method=method)

    def log_joint(t: Array) -> float:
        prior = float(log_prior(t))
        return prior + float(log_likelihood(t)) if prior > -np.inf else -np.inf

    seed = int(generator(random_state).integers(2**62))
    if method == "map":
        options = {"log_prior": log_prior, "random_state": seed, **options}
        result: Any = maximum_a_posteriori(log_likelihood, start, **options)
    elif method == "laplace":
        result = laplace_approximation(log_joint, start, random_state=seed, **options)
    elif method == "grid":
        result = _grid(log_joint, start, seed, options)
    else:
        result = _sample(log_joint, start, seed, options)
    return Posterior(method, result, seed)
