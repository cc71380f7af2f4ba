r"""What several Markov chains say together, and whether to believe it.

Averages over all kept draws stand for expectations under the target,

    E h(theta) ~ 1/N sum_t h(theta_t),     Monte Carlo error sd / sqrt(effective sample size).

No diagnosis can prove that a chain has found its target: ``diagnose`` lists signs of failure, or
says that it saw none.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.core.records import Summary
from pellucid.core.runtime.warn import warn
from pellucid.inference.sampling.diagnostics import LEAST_DRAWS, effective_sample_size, rhat

RHAT_LIMIT = 1.01
FEW = 100  # effective draws below which intervals are rough


class Chains:
    """The draws of several chains with their diagnosis.

    Attributes
    ----------
    draws : ndarray of shape (chain, draw, d)
        The kept draws.
    warmup : ndarray of shape (chain, burn, d)
        The draws before those; not used in any answer.
    accepted : ndarray of shape (chain, draw)
        True where the draw is a new point, False where it repeats the one before.
    log_density : ndarray of shape (chain, draw)
        Of the target at each draw, up to a constant.
    proposals : ndarray of shape (chain, draw, d) or None
        Where the chain tried to go, with ``keep_proposals``.
    circular : bool
        Whether steps are equally long in every direction; ``diagnose`` then warns of correlation.
    most_accepted : float
        Acceptance rate above which ``diagnose`` calls the steps too short.
    n_nan : int
        Proposals whose density was NaN; they were rejected.
    acceptance_rate : ndarray of shape (chain,)
    mean, cov : ndarray of shape (d,) and (d, d)
        Over all draws, divisor N.
    rhat, ess, mcse : ndarray of shape (d,)
        By ranks; bulk effective sample size; Monte Carlo standard error of the mean.

    Examples
    --------
    >>> from pellucid.inference import metropolis_hastings
    >>> target = lambda x: -0.5 * float(x @ x)
    >>> chains = metropolis_hastings(target, [0.0], n_draws=2000, random_state=0)
    >>> chains.draws.shape, bool(abs(chains.mean[0]) < 0.2), bool(chains.rhat[0] < 1.05)
    ((4, 2000, 1), True, True)
    """

    def __init__(
        self,
        draws: Array,
        *,
        warmup: Array,
        accepted: BoolArray,
        log_density: Array,
        proposals: Array | None = None,
        circular: bool = False,
        n_nan: int = 0,
        most_accepted: float = 0.7,
    ) -> None:
        self.draws = draws
        self.warmup = warmup
        self.accepted = accepted
        self.log_density = log_density
        self.proposals = proposals
        self.circular = circular
        self.n_nan = n_nan
        self.most_accepted = most_accepted

    def __repr__(self) -> str:
        m, n, d = self.draws.shape
        rate = float(self.acceptance_rate.mean())
        return f"Chains({m} chains of {n} draws in {d} dimensions, acceptance {rate:.3g})"

    @property
    def acceptance_rate(self) -> Array:
        return self.accepted.mean(axis=1)

    @property
    def flat(self) -> Array:
        """All draws, (N, d)."""
        return self.draws.reshape(-1, self.draws.shape[2])

    @property
    def mean(self) -> Array:
        return self.flat.mean(axis=0)

    @property
    def cov(self) -> Array:
        gap = self.flat - self.mean
        return gap.T @ gap / len(gap)

    def marginal(self, i: int) -> Array:
        """All draws of coordinate i, (N,)."""
        return self.flat[:, i]

    def _each(self, function: Callable[..., Any], *args: Any, **options: Any) -> Array:
        """One number per coordinate, NaN where there are too few draws."""
        if self.draws.shape[1] < LEAST_DRAWS:
            return np.full(self.draws.shape[2], np.nan)
        return function(self.draws, *args, **options)

    @cached_property
    def rhat(self) -> Array:
        return self._each(rhat, rank=True)

    @cached_property
    def ess(self) -> Array:
        return self._each(effective_sample_size, "bulk")

    @cached_property
    def mcse(self) -> Array:
        return self.flat.std(axis=0) / np.sqrt(self._each(effective_sample_size))

    def predictive(self, f: Callable[[Array], Any]) -> Any:
        """The average of f over the draws: predictions are averaged, not parameters."""
        return np.mean([f(theta) for theta in self.flat], axis=0)

    def to_arviz(self, names: Sequence[str] | None = None) -> Any:
        """The chains as ArviZ's InferenceData: posterior, warm-up and sample statistics.

        ``names``: one per coordinate; x0, x1, ... else. Needs the package arviz.
        """
        try:
            import arviz
        except ImportError:
            raise ImportError("to_arviz needs the package arviz: pip install arviz") from None
        names = [f"x{j}" for j in range(self.draws.shape[2])] if names is None else list(names)
        if len(names) != self.draws.shape[2]:
            raise ValueError(f"names must be {self.draws.shape[2]} strings, got {len(names)}")
        groups: dict[str, Any] = {
            "posterior": {name: self.draws[:, :, j] for j, name in enumerate(names)},
            "sample_stats": {"accepted": self.accepted, "lp": self.log_density},
        }
        if self.warmup.shape[1]:
            groups["warmup_posterior"] = {n: self.warmup[:, :, j] for j, n in enumerate(names)}
        if int(arviz.__version__.split(".")[0]) > 0:
            return arviz.from_dict(groups)
        return arviz.from_dict(**groups, save_warmup=True)

    def summary(self, confidence: float = 0.95) -> Summary:
        """Mean, standard deviation and central interval of every coordinate."""
        low, high = np.quantile(self.flat, ((1 - confidence) / 2, (1 + confidence) / 2), axis=0)
        return Summary(
            title="Markov chains",
            names=tuple(f"x{j}" for j in range(self.draws.shape[2])),
            arrays={
                "estimate": self.mean,
                "standard_error": self.flat.std(axis=0),
                "low": low,
                "high": high,
                "mcse": self.mcse,
                "rhat": self.rhat,
                "ess": self.ess,
            },
            scalars={"chains": len(self.draws), "draws": self.draws.shape[1]},
            notes=tuple(self.diagnose()),
        )

    def diagnose(self) -> list[str]:
        """Signs of failure in words; never a proof that the chains converged."""
        found = [*self._disagreement(), *self._acceptance(), *self._shape()]
        if self.n_nan:
            found.append(f"{self.n_nan} proposals had the density NaN and were rejected")
        return found or ["no sign of failure"]

    def _warn_of_failure(self) -> None:
        """Warn where the chains disagree or hold few effective draws, with all that is wrong."""
        if self._disagreement():
            warn(f"do not trust these draws yet: {'; '.join(self.diagnose())}", ConvergenceWarning)

    def _disagreement(self) -> list[str]:
        found = []
        worst = self.rhat.max()
        if not worst <= RHAT_LIMIT:
            j = int(np.argmax(np.where(np.isnan(self.rhat), np.inf, self.rhat)))
            where = f"R-hat = {worst:.4g} > {RHAT_LIMIT} at coordinate {j}"
            found.append(f"the chains disagree: {where} (several modes, or run longer)")
            means, spread = self.draws.mean(axis=1), self.draws.std(axis=1)
            apart = np.ptp(means, axis=0) > 4 * np.maximum(spread.max(axis=0), 1e-300)
            if apart.any():
                where = f"along coordinate {int(np.argmax(apart))}"
                found.append(f"the chains sit in separate places {where}: separate modes")
        if not self.ess.min() >= FEW:
            draws = f"{self.ess.min():.3g} of {self.flat.shape[0]}"
            found.append(f"few effective draws: {draws}; run longer")
        return found

    def _acceptance(self) -> list[str]:
        rate = self.acceptance_rate
        found = []
        if rate.min() < 0.1:
            why = "correlated parameters or too long steps; a smaller or shaped step"
            found.append(f"acceptance {rate.min():.3g} < 0.1: {why}")
        if rate.max() > self.most_accepted:
            limit = f"acceptance {rate.max():.3g} > {self.most_accepted:g}"
            found.append(f"{limit}: the steps are short; larger ones")
        return found

    def _shape(self) -> list[str]:
        sd = self.flat.std(axis=0)
        if not self.circular or len(sd) < 2 or not (sd > 0).all():
            return []
        R = np.abs(self.cov / np.outer(sd, sd)) - np.eye(len(sd))
        i, j = np.unravel_index(int(np.argmax(R)), R.shape)
        if R[i, j] <= 0.9:
            return []
        pair = f"coordinates {i} and {j} have the correlation {R[i, j]:.3g} in size"
        return [f"{pair} and the steps are circular: give the covariance as scale"]
