r"""Would the model have made such data? Prior and posterior predictive checks.

For draws theta_t of the parameters a data set x_t of the same kind is simulated from each, and a
statistic T compared with that of the real data:

    p = P(T(x_t) > T(x)) + P(T(x_t) = T(x)) / 2

p near 0 or 1 says that the model hardly ever shows what was seen. Draws from the prior check the
prior before data, draws from the posterior the fitted model. p is not uniform under a true model
(the data were used to fit it): values in the middle are no proof.    O(draws) simulations

Reference: Rubin (1984); Gelman, Meng & Stern (1996); Gabry et al. (2019).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator
from pellucid.inference.estimation.predictive import draws_of

STATISTICS: dict[str, Callable[[Any], Any]] = {
    name: getattr(np, name) for name in ("mean", "median", "std", "min", "max")
}
EXTREME = 0.025


@readable
@dataclass(frozen=True, eq=False)
class PredictiveCheck:
    """The statistic of the data beside those of simulated data.

    >>> found = PredictiveCheck("max", 4.0, np.array([1.0, 2.0, 3.0, 5.0]), 0.25)
    >>> print(found)
    max of the data 4, of simulated data 1.08 to 4.85 (95 %): p = 0.25, nothing unusual.
    """

    statistic: str  # its name
    observed: float  # of the data
    simulated: Array  # (draws,)
    p_value: float  # share of simulations as extreme

    def interval(self, confidence: float = 0.95) -> Array:
        """Central interval of the simulated statistics."""
        check.fraction(confidence=confidence)
        return np.quantile(self.simulated, np.array([1 - confidence, 1 + confidence]) / 2)

    def __str__(self) -> str:
        low, high = self.interval()
        if self.p_value < EXTREME:
            verdict = "larger than the model explains"
        elif self.p_value > 1 - EXTREME:
            verdict = "smaller than the model explains"
        else:
            verdict = "nothing unusual"
        simulated = f"of simulated data {low:.3g} to {high:.3g} (95 %)"
        text = f"{self.statistic} of the data {self.observed:.4g}, {simulated}"
        return f"{text}: p = {self.p_value:.3g}, {verdict}."


def predictive_check(
    x: ArrayLike,
    draws: ArrayLike,
    simulate: Callable[[Any, np.random.Generator], Any],
    statistic: str | Callable[[Any], float] = "mean",
    *,
    n_draws: int = 1000,
    random_state: Seed = None,
) -> PredictiveCheck:
    """Compare a statistic of data with the same statistic of simulated data.

    ``x`` is any data that ``statistic`` takes: "mean", "median", "std", "min", "max" or a function.
    ``draws`` are parameters, as in ``posterior_predictive``: of a prior (prior check) or a
    posterior (posterior check); ``n_draws`` of them are used. ``simulate`` maps (theta, rng) to
    data like x; ``random_state`` is the seed.

    >>> import numpy as np
    >>> from pellucid.inference import GammaPoisson, predictive_check
    >>> counts = np.array([0, 0, 0, 9, 0, 0, 12, 0])
    >>> belief = GammaPoisson(1.0, 1.0).update(counts)
    >>> found = predictive_check(
    ...     counts, belief, lambda rate, rng: rng.poisson(rate, len(counts)), np.var,
    ...     random_state=0,
    ... )
    >>> found.p_value < 0.01  # counts that bunch are not Poisson
    True
    """
    check.whole(n_draws=n_draws)
    if isinstance(statistic, str):
        check.one_of(tuple(STATISTICS), statistic=statistic)
    name = statistic if isinstance(statistic, str) else getattr(statistic, "__name__", "statistic")
    T = STATISTICS[statistic] if isinstance(statistic, str) else statistic
    rng = generator(random_state)
    thetas = draws_of(draws, rng)
    chosen = rng.choice(len(thetas), n_draws, replace=n_draws > len(thetas))
    observed = _number(T(x), "the data")
    found = np.array([_number(T(simulate(thetas[i], rng)), "simulated data") for i in chosen])
    p = float(np.mean(found > observed) + np.mean(found == observed) / 2)
    return PredictiveCheck(name, observed, found, p)


def _number(value: Any, source: str) -> float:
    if np.ndim(value) or not np.isfinite(value):
        raise ValueError(f"the statistic of {source} must be one finite number, got {value!r}")
    return float(value)
