r"""A belief about the probabilities of K labels.

    p ~ Dirichlet(a),  N_k labels of kind k:       p | data ~ Dirichlet(a + N)
    mean (N_k + a_k)/(N + sum a)                   also the probability that the next is k
    mode (N_k + a_k - 1)/(N + sum a - K)
    log p(sequence) = log B(a + N) - log B(a),     log B(a) = sum log G(a_k) - log G(sum a)

Pseudocounts c are a = c + 1: then the MODE is (N_k + c_k)/(N + sum c); c = 1 is Laplace smoothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.inference.beliefs.belief import Belief, Moments
from pellucid.inference.distributions.category_counts import Categorical, Dirichlet


@readable
@dataclass(frozen=True, eq=False)
class DirichletCategorical(Moments, Belief):
    """A Dirichlet belief about the probabilities of labels.

    A number ``alpha`` > 0 needs ``categories``, or takes them from the first labels seen; a vector
    without categories is about 0, ..., K - 1.

    >>> from pellucid.inference import DirichletCategorical
    >>> die = DirichletCategorical.from_pseudocounts(1, categories=range(1, 7))
    >>> die.update([1, 3, 5, 4, 4, 6]).mode.round(4)
    array([0.1667, 0.0833, 0.1667, 0.25  , 0.1667, 0.1667])
    """

    alpha: Any = 1.0
    categories: Any = None

    def __post_init__(self) -> None:
        alpha = np.array(self.alpha, dtype=np.float64)
        if alpha.ndim > 1 or not (np.isfinite(alpha) & (alpha > 0)).all():
            raise ValueError(f"alpha must be a number > 0 or a vector of them, got {self.alpha!r}")
        labels = None
        if self.categories is not None:
            labels = tuple(np.asarray(list(self.categories)).tolist())
            if len(set(labels)) != len(labels) or alpha.shape not in ((), (len(labels),)):
                got = f"got {labels} for {alpha}"
                raise ValueError(f"categories must be different, one for each alpha, {got}")
            alpha = np.broadcast_to(alpha, (len(labels),)).copy()
        elif alpha.ndim:
            labels = tuple(range(len(alpha)))
        object.__setattr__(self, "alpha", alpha if alpha.ndim else float(alpha))
        object.__setattr__(self, "categories", labels)

    @classmethod
    def from_pseudocounts(
        cls, counts: ArrayLike, categories: Sequence[Any] | Array | None = None
    ) -> "DirichletCategorical":
        """Dirichlet(c + 1), whose mode after N_k labels is (N_k + c_k)/(N + sum c)."""
        counts = np.asarray(counts, dtype=np.float64)
        if not (counts >= 0).all():
            raise ValueError(f"counts must be >= 0, got {counts}")
        return cls(counts + 1, categories)

    def _opened(
        self, data: Any, w: Any, counts: ArrayLike | None
    ) -> tuple["DirichletCategorical", Array]:
        """The belief with its labels, and the count of each."""
        if (data is None) == (counts is None):
            raise ValueError("give labels, or counts=")
        if counts is not None:
            belief = self
            if isinstance(counts, dict):
                belief = self if self.categories else DirichletCategorical(self.alpha, list(counts))
                return belief, belief._placed(tuple(counts), np.array(list(counts.values()), float))
            N = np.array(counts, dtype=np.float64, ndmin=1)
            if not self.categories:
                belief = DirichletCategorical(np.full(len(N), self.alpha))
            if N.shape != belief.alpha.shape or not (N >= 0).all():
                raise ValueError(f"counts must be {len(belief.alpha)} numbers >= 0, got {counts!r}")
            return belief, N
        seen = Categorical.statistics(data, w)
        belief = self if self.categories else DirichletCategorical(self.alpha, seen.labels)
        return belief, belief._placed(seen.labels, seen.values)

    def _placed(self, labels: tuple[Any, ...], values: Array) -> Array:
        place = {label: k for k, label in enumerate(self.categories)}
        unknown = [label for label in labels if label not in place]
        if unknown:
            raise ValueError(f"label {unknown[0]!r} is not among categories {self.categories}")
        N = np.zeros(len(place))
        N[[place[label] for label in labels]] = values
        return N

    def update(
        self, data: Any = None, sample_weight: ArrayLike | None = None, *, counts: Any = None
    ) -> "DirichletCategorical":
        """The belief after labels, or after counts (array or dict)."""
        belief, N = self._opened(data, sample_weight, counts)
        return DirichletCategorical(belief.alpha + N, belief.categories)

    @property
    def posterior(self) -> Dirichlet:
        if self.categories is None:
            raise ValueError("the categories are not known yet: give them, or labels")
        return Dirichlet(self.alpha)

    def _reading(self) -> str:
        if self.categories is None:
            return "categories not known yet."
        best = int(np.argmax(self.mean))
        return f"{self.categories[best]!r} is most probable: mean {self.mean[best]:.4g}."

    def predictive(self) -> Categorical:
        """The distribution of the next label."""
        return Categorical(self.mean, self.categories)

    def log_evidence(
        self, data: Any = None, sample_weight: ArrayLike | None = None, *, counts: Any = None
    ) -> float:
        """log p(sequence): an order is given, so no multinomial coefficient."""
        belief, N = self._opened(data, sample_weight, counts)
        a = belief.alpha
        own = gammaln(a + N).sum() - gammaln(a).sum()
        return float(own - gammaln((a + N).sum()) + gammaln(a.sum()))

    def maximum_likelihood(self, data: Any) -> Array:
        """The share of each label."""
        _, N = self._opened(data, None, None)
        return N / N.sum()
