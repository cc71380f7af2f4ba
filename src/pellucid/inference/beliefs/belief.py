r"""Conjugate beliefs: a prior whose posterior is of its own kind.

    belief.update(data)        p(theta | data), again such a belief: today's posterior is
                               tomorrow's prior
    belief.log_evidence(data)  log p(data) = log integral p(data | theta) p(theta) dtheta

Beliefs are never changed. Laws: one batch or many in any order give the same belief, and the log
evidence of a split adds up along it.

    equal-tailed interval   quantiles (1 -/+ confidence)/2
    hpd interval            the shortest one: argmin_t  F^-1(t + confidence) - F^-1(t)
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Seed
from pellucid.core.records import text_table
from pellucid.inference.distributions.distribution import Univariate

KINDS = ("equal_tailed", "hpd")


def hpd_interval(law: Univariate, confidence: float) -> Array:
    """The shortest interval of probability ``confidence`` of the distribution ``law``.

    >>> from pellucid.inference import Exponential
    >>> hpd_interval(Exponential(1.0), 0.95).round(4)
    array([0.    , 2.9957])
    """
    from scipy.optimize import minimize_scalar

    check.fraction(confidence=confidence)

    def ends(t: float) -> Array:
        return np.asarray(law.quantile(np.array([t, min(t + confidence, 1.0)])))

    def width(t: float) -> float:
        return float(np.diff(ends(t))[0])

    room = 1 - confidence
    grid = np.linspace(0.0, room, 33)
    with np.errstate(invalid="ignore"):
        start = int(np.argmin([width(t) for t in grid]))
    low, high = grid[max(start - 1, 0)], grid[min(start + 1, 32)]
    found = minimize_scalar(width, bounds=(low, high), method="bounded", options={"xatol": 1e-12})
    best = min((0.0, room, float(found.x)), key=width)
    return ends(best)


def interval_of(law: Univariate, confidence: float, kind: str) -> Array:
    """The interval of a distribution of one number: "equal_tailed" or "hpd"."""
    check.fraction(confidence=confidence)
    check.one_of(KINDS, kind=kind)
    return law.interval(confidence) if kind == "equal_tailed" else hpd_interval(law, confidence)


@dataclass(frozen=True, eq=False)
class Trace:
    """The beliefs after each batch, the prior first."""

    beliefs: tuple[Any, ...]

    @property
    def mean(self) -> Array:
        """Posterior means, one per belief."""
        return np.array([belief.mean for belief in self.beliefs])

    @property
    def variance(self) -> Array:
        return np.array([belief.variance for belief in self.beliefs])

    @property
    def last(self) -> Any:
        return self.beliefs[-1]

    def __len__(self) -> int:
        return len(self.beliefs)

    def __str__(self) -> str:
        names = tuple(self.last.parameters)
        known = [[belief.parameters[name] for name in names] for belief in self.beliefs]
        return text_table(("batch", *names), [(i, *row) for i, row in enumerate(known)])


class Belief(ABC):
    """Base of conjugate beliefs: a subclass writes update, posterior, predictive, log_evidence."""

    @property
    def parameters(self) -> dict[str, Any]:
        """The numbers of the belief by name."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.repr}  # type: ignore[arg-type]

    @property
    @abstractmethod
    def posterior(self) -> Any:
        """The current distribution of the unknown."""

    @abstractmethod
    def update(self, *args: Any, **kwargs: Any) -> Self:
        """The belief after seeing data."""

    @abstractmethod
    def predictive(self, *args: Any, **kwargs: Any) -> Any:
        """The distribution of the next observation."""

    @abstractmethod
    def log_evidence(self, *args: Any, **kwargs: Any) -> float:
        """log p(data | this belief)."""

    def _location(self) -> Any:
        return self.posterior.mean

    def _peak(self) -> Any:
        return self.posterior.mode

    def _dispersion(self) -> Any:
        return self.posterior.variance

    def interval(self, confidence: float = 0.95, kind: str = "equal_tailed") -> Array:
        """Where the unknown lies with this probability; one row per coordinate of a vector."""
        law = self.posterior
        if np.ndim(law.mean) == 0:
            return interval_of(law, confidence, kind)
        parts = [law.marginal(i) for i in range(len(law.mean))]
        return np.array([interval_of(part, confidence, kind) for part in parts])

    def sample(self, n: int = 1, random_state: Seed = None) -> Array:
        """Draws of the unknown."""
        return self.posterior.sample(n, random_state)

    def trace(self, batches: Iterable[Any]) -> Trace:
        """The beliefs after each batch; a tuple or dict is spread over the arguments of update."""
        beliefs = [self]
        for batch in batches:
            if isinstance(batch, dict):
                beliefs.append(beliefs[-1].update(**batch))
            elif isinstance(batch, tuple):
                beliefs.append(beliefs[-1].update(*batch))
            else:
                beliefs.append(beliefs[-1].update(batch))
        return Trace(tuple(beliefs))

    def __str__(self) -> str:
        named = ", ".join(f"{name} = {_shown(v)}" for name, v in self.parameters.items())
        return f"{type(self).__name__}({named}): {self._reading()}"

    def _reading(self) -> str:
        low, high = self.interval()
        return f"mean {self._location():.4g}, 95 % between {low:.4g} and {high:.4g}."


def _shown(value: Any) -> Any:
    return np.round(value, 6) if isinstance(value, float | np.ndarray) else value


class Moments:
    """mean, mode and variance of the posterior, for beliefs without parameters of these names."""

    @property
    def mean(self) -> Any:
        return self._location()  # type: ignore[attr-defined]

    @property
    def mode(self) -> Any:
        return self._peak()  # type: ignore[attr-defined]

    @property
    def variance(self) -> Any:
        return self._dispersion()  # type: ignore[attr-defined]
