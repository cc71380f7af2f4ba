r"""A posterior over finitely many values.

    P(v | data) = p(v) L(v) / sum_u p(u) L(u)          in logarithms

The sum is the evidence; the value of largest likelihood is the MLE, of largest posterior the MAP:
with a flat prior they are the same.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import logsumexp

from pellucid.core.arrays.typing import Array, Seed
from pellucid.core.readable import readable
from pellucid.core.records import text_table
from pellucid.core.runtime.random import generator
from pellucid.inference.distributions.category_counts import on_simplex

TIE = 1e-12  # difference of logarithms below which two values tie


@readable
@dataclass(frozen=True, eq=False)
class DiscretePosterior:
    """A belief over a list of values.

    ``values`` are numbers or labels, each once, ``prior`` their probabilities; None: all equal.
    ``log_likelihood`` is what was seen so far, set by update.

    >>> import numpy as np
    >>> from pellucid.inference import DiscretePosterior
    >>> coin = DiscretePosterior([0.1, 0.5, 0.9], [0.1, 0.8, 0.1])
    >>> seen = coin.update(lambda p: 7 * np.log(p) + 3 * np.log(1 - p))
    >>> seen.map, seen.mle, seen.probability.round(4)
    (0.5, 0.5, array([0.    , 0.9423, 0.0577]))
    """

    values: Any
    prior: Any = None
    log_likelihood: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        values = np.asarray(self.values)
        size = len(values) if values.ndim else 0
        if values.ndim != 1 or size == 0 or len(np.unique(values)) != size:
            raise ValueError("values must be a list of different values")
        prior = np.full(size, 1 / size) if self.prior is None else on_simplex(self.prior, "prior")
        if len(prior) != size:
            raise ValueError(f"prior must have {size} probabilities, got {len(prior)}")
        seen = np.zeros(size) if self.log_likelihood is None else self.log_likelihood
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "log_likelihood", np.asarray(seen, dtype=np.float64))

    def update(self, log_likelihood: Callable[[Any], float] | Any) -> "DiscretePosterior":
        """The belief after evidence: a function of a value, or one number for each."""
        terms = log_likelihood
        if callable(log_likelihood):
            with np.errstate(divide="ignore"):
                terms = [float(log_likelihood(v)) for v in self.values.tolist()]
        terms = np.asarray(terms, dtype=np.float64)
        if terms.shape != self.prior.shape or np.isnan(terms).any() or (terms == np.inf).any():
            raise ValueError(f"log_likelihood must be {len(self.prior)} numbers below infinity")
        after = DiscretePosterior(self.values, self.prior, self.log_likelihood + terms)
        if after.log_evidence == -np.inf:
            raise ValueError("the evidence is zero: no value of positive prior explains the data")
        return after

    @property
    def _log_joint(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(self.prior) + self.log_likelihood

    @property
    def log_evidence(self) -> float:
        """log of the sum of prior times likelihood."""
        return float(logsumexp(self._log_joint))

    @property
    def probability(self) -> Array:
        return np.exp(self._log_joint - self.log_evidence)

    @property
    def maps(self) -> tuple[Any, ...]:
        """All values that share the largest posterior."""
        return self._best(self._log_joint)

    @property
    def mles(self) -> tuple[Any, ...]:
        """All values that share the largest likelihood."""
        return self._best(self.log_likelihood)

    def _best(self, scores: Array) -> tuple[Any, ...]:
        near = scores >= scores.max() - TIE * max(1.0, abs(float(scores.max())))
        return tuple(self.values[near].tolist())

    @property
    def map(self) -> Any:
        """The value of largest posterior; the first where several tie (``maps``)."""
        return self.maps[0]

    @property
    def mle(self) -> Any:
        """The value of largest likelihood; the first where several tie (``mles``)."""
        return self.mles[0]

    @property
    def mean(self) -> float:
        if self.values.dtype.kind not in "iufb":
            raise ValueError("the values are labels: they have no mean")
        return float(self.probability @ self.values)

    @property
    def variance(self) -> float:
        return float(self.probability @ (self.values - self.mean) ** 2)

    def expect(self, h: Callable[[Any], float]) -> float:
        """E h(value)."""
        pairs = zip(self.probability, self.values.tolist(), strict=True)
        return float(sum(p * float(h(v)) for p, v in pairs if p))

    def sample(self, n: int = 1, random_state: Seed = None) -> Any:
        """Draws of the value."""
        return generator(random_state).choice(self.values, size=n, p=self.probability)

    def __str__(self) -> str:
        columns = self.values.tolist(), self.prior, self.log_likelihood, self.probability
        rows = list(zip(*columns, strict=True))
        table = text_table(("value", "prior", "log_likelihood", "posterior"), rows)
        text = f"MAP {self.map}, MLE {self.mle}, log evidence {self.log_evidence:.6g}."
        if len(self.maps) > 1:
            text += f" Several values tie for the MAP: {self.maps}."
        return f"{table}\n{text}"
