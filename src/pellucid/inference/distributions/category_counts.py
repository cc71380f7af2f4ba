r"""Distributions of labels and of their counts.

    Categorical   P(label k) = p_k
    Multinomial   P(x) = n! / prod x_k!  prod p_k^x_k               counts of n draws
    Dirichlet     f(p) = Gamma(sum a) / prod Gamma(a_k)  prod p_k^(a_k - 1)

The multinomial counts orders (n!/prod x_k!); the likelihood of a sequence of labels does not.
E h of a Dirichlet vector breaks a stick: V_j ~ Beta(a_j, a_j+1 + ... ), integrated by products of
Gauss-Jacobi rules, exact for polynomials.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import digamma, gammaln, polygamma, xlogy

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Rng
from pellucid.core.readable import readable
from pellucid.inference.distributions import samples
from pellucid.inference.distributions.continuous import Beta, fit_dirichlet
from pellucid.inference.distributions.discrete import Binomial
from pellucid.inference.distributions.distribution import Multivariate, Whole
from pellucid.inference.distributions.samples import Counts, Sample, Sums, refuse_outside, rows_of

SIMPLEX = 1e-8  # how far from 1 a sum of probabilities may be
MOST = 1_000_000  # most terms of an expectation over count vectors
NODES = 32  # of a Gauss-Jacobi rule


def on_simplex(p: Any, name: str = "p") -> Array:
    """Probabilities that sum to one; raises ValueError otherwise."""
    p = np.array(p, dtype=np.float64, ndmin=1)
    if p.ndim != 1 or not (p >= 0).all() or not abs(p.sum() - 1) <= SIMPLEX:
        raise ValueError(f"{name} must be numbers >= 0 that sum to 1, got {p.tolist()}")
    return p / p.sum()


@readable
@dataclass(frozen=True, eq=False)
class Categorical(Whole):
    """One label of K.

    ``p`` are K probabilities that sum to 1, ``categories`` their labels; None: 0, 1, ..., K - 1.
    Mean, cdf and quantile need numbers.

    >>> from pellucid.inference import Categorical
    >>> law = Categorical([0.5, 0.3, 0.2], ["a", "b", "c"])
    >>> law.density(["b", "z"]), law.mode
    (array([0.3, 0. ]), 'a')
    """

    p: Any
    categories: Any = None
    free: ClassVar[tuple[str, ...]] = ("p",)

    def __post_init__(self) -> None:
        p = on_simplex(self.p)
        object.__setattr__(self, "p", p)
        if self.categories is not None:
            labels = tuple(np.asarray(self.categories).tolist())
            if len(labels) != len(p) or len(set(labels)) != len(p):
                raise ValueError(f"categories must be {len(p)} different labels, got {labels}")
            object.__setattr__(self, "categories", labels)

    @property
    def labels(self) -> tuple[Any, ...]:
        return tuple(range(len(self.p))) if self.categories is None else self.categories

    @property
    def _numbers(self) -> Array:
        values = np.array(self.labels)
        if values.dtype.kind not in "iufb":
            raise ValueError(f"the categories are labels, not numbers: {self.labels}")
        return values.astype(np.float64)

    @property
    def support(self) -> tuple[float, float]:
        return float(self._numbers.min()), float(self._numbers.max())

    @property
    def mean(self) -> float:
        return float(self.p @ self._numbers)

    @property
    def variance(self) -> float:
        return float(self.p @ (self._numbers - self.mean) ** 2)

    @property
    def mode(self) -> Any:
        """The first of the most probable labels."""
        return self.labels[int(np.argmax(self.p))]

    @property
    def entropy(self) -> float:
        return float(-xlogy(self.p, self.p).sum())

    def log_density(self, x: ArrayLike) -> Any:
        """The log probability of each label; -inf for a label that is no category."""
        values = np.asarray(x)
        place = {label: k for k, label in enumerate(self.labels)}
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise ValueError("x must be labels, got NaN")
        seen, back = np.unique(values, return_inverse=True)
        with np.errstate(divide="ignore"):
            table = np.append(np.log(self.p), -np.inf)
        out = table[[place.get(label, -1) for label in seen.tolist()]][back].reshape(values.shape)
        return float(out) if values.ndim == 0 else out

    def _log_mass(self, k: Array) -> Array:
        return np.asarray(self.log_density(k))

    def _values(self) -> Array:
        return self._numbers

    def expect(self, h: Callable[[Any], Any]) -> float:
        """sum_k p_k h(label k)."""
        return float(sum(q * float(h(v)) for q, v in zip(self.p, self.labels, strict=True) if q))

    def _cdf(self, x: Array) -> Array:
        return (self._numbers <= x[:, None]) @ self.p

    def _quantile(self, q: Array) -> Array:
        order = np.argsort(self._numbers)
        below = np.cumsum(self.p[order])
        k = np.minimum(np.searchsorted(below, q - 1e-15), len(order) - 1)
        return self._numbers[order][k]

    def _draw(self, n: int, rng: Rng) -> Any:
        return np.array(self.labels)[rng.choice(len(self.p), size=n, p=self.p)]

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Counts:
        """How often each label occurs."""
        values = np.asarray(x).reshape(-1)
        w = samples.weights_of(len(values), sample_weight)
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise ValueError("x must be labels, got NaN")
        labels, back = np.unique(values[w > 0], return_inverse=True)
        return Counts(tuple(labels.tolist()), np.bincount(back, w[w > 0]).astype(np.float64))

    @classmethod
    def from_statistics(cls, statistics: Counts) -> Self:
        """The share of each label."""
        return cls(statistics.values / statistics.n, statistics.labels)

    _unbiased = from_statistics

    @classmethod
    def _from_moments(cls, mean: ArrayLike, variance: Array, sample: Any) -> Self:
        return cls.from_statistics(sample)

    def _given(self, statistics: Counts) -> float:
        return float(statistics.values @ np.atleast_1d(self.log_density(list(statistics.labels))))

    def _errors(self, statistics: Counts) -> dict[str, Any]:
        return {"p": np.sqrt(self.p * (1 - self.p) / statistics.n)}

    def _boundary(self) -> str:
        return "" if len(self.p) > 1 else "only one label occurs: p = 1 lies on the boundary"


@readable
@dataclass(frozen=True, eq=False)
class Multinomial(Multivariate):
    """How often each of K labels occurs in ``n >= 0`` draws of probabilities ``p``.

    >>> from pellucid.inference import Multinomial
    >>> round(Multinomial(3, [0.5, 0.5]).density([1, 2]), 6), Multinomial(3, [0.5, 0.5]).mean
    (0.375, array([1.5, 1.5]))
    """

    n: int
    p: Any
    discrete: ClassVar[bool] = True
    free: ClassVar[tuple[str, ...]] = ("p",)

    def __post_init__(self) -> None:
        check.whole(at_least=0, n=self.n)
        object.__setattr__(self, "p", on_simplex(self.p))

    @property
    def mean(self) -> Array:
        return self.n * self.p

    @property
    def cov(self) -> Array:
        return self.n * (np.diag(self.p) - np.outer(self.p, self.p))

    @property
    def mode(self) -> Array:
        """By giving draws one by one to the label that gains most: log P is concave."""
        x = np.floor(self.n * self.p)
        with np.errstate(divide="ignore"):
            while x.sum() < self.n:
                x[np.argmax(self.p / (x + 1))] += 1
        return x

    @property
    def entropy(self) -> float:
        k = np.arange(self.n + 1)
        orders = sum(Binomial(self.n, float(q)).density(k) @ gammaln(k + 1) for q in self.p)
        return float(orders - gammaln(self.n + 1) - self.n * xlogy(self.p, self.p).sum())

    def _log_rows(self, X: Array) -> Array:
        inside = ((X >= 0) & (np.floor(X) == X)).all(axis=1) & (X.sum(axis=1) == self.n)
        counts = np.where(inside[:, None], X, 0.0)
        mass = gammaln(self.n + 1) + (xlogy(counts, self.p) - gammaln(counts + 1)).sum(axis=1)
        return np.where(inside, mass, -np.inf)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.multinomial(self.n, self.p, n).astype(np.float64)

    def marginal(self, index: int) -> Binomial:
        """The count of one label."""
        return Binomial(self.n, float(self.p[index]))

    def expect(self, h: Callable[[Array], Any]) -> float:
        """E h(X), summed over all vectors of counts."""
        size = comb(self.n + len(self.p) - 1, len(self.p) - 1)
        if size > MOST:
            raise ValueError(f"the sum has {size} terms, at most {MOST} are summed; use sample")
        rows = np.array(list(_compositions(self.n, len(self.p))), dtype=np.float64)
        mass = np.asarray(self.density(rows))
        return float(sum(q * float(h(x)) for q, x in zip(mass, rows, strict=True) if q))

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Sums:
        """The number of rows and the sum of their counts; all rows have the same total."""
        X, w = rows_of(x, sample_weight)
        refuse_outside(X, (X < 0) | (np.floor(X) != X), "a multinomial distribution needs counts")
        totals = X.sum(axis=1)
        if not (totals == totals[0]).all():
            raise ValueError("the rows of a multinomial sample must have the same total")
        base = float(w @ (gammaln(totals + 1) - gammaln(X + 1).sum(axis=1)))
        return Sums(float(w.sum()), w @ X, base, int(totals[0]))

    @classmethod
    def from_statistics(cls, statistics: Sums) -> Self:
        """The share of each label."""
        return cls(statistics.trials, statistics.values / statistics.values.sum())

    _unbiased = from_statistics

    @classmethod
    def _from_moments(cls, mean: ArrayLike, variance: Array, sample: Sample) -> Self:
        return cls.from_statistics(cls.statistics(*sample))

    def _given(self, statistics: Sums) -> float:
        return float(statistics.base + xlogy(statistics.values, self.p).sum())

    def _errors(self, statistics: Sums) -> dict[str, Any]:
        return {"p": np.sqrt(self.p * (1 - self.p) / (statistics.n * statistics.trials))}

    def _boundary(self) -> str:
        zero = np.flatnonzero(self.p == 0)
        return f"label {zero[0]} never occurs: p = 0 lies on the boundary" if len(zero) else ""


def _compositions(n: int, k: int) -> Iterator[tuple[int, ...]]:
    if k == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for rest in _compositions(n - first, k - 1):
            yield (first, *rest)


@readable
@dataclass(frozen=True, eq=False)
class Dirichlet(Multivariate):
    """A distribution of K probabilities that sum to one, with the numbers ``alpha > 0``.

    >>> from pellucid.inference import Dirichlet
    >>> Dirichlet([1.0, 2.0, 5.0]).mean, Dirichlet([1.0, 2.0, 5.0]).marginal(2)
    (array([0.125, 0.25 , 0.625]), Beta(alpha=5.0, beta=3.0))
    """

    alpha: Any
    free: ClassVar[tuple[str, ...]] = ("alpha",)

    def __post_init__(self) -> None:
        alpha = np.array(self.alpha, dtype=np.float64, ndmin=1)
        if alpha.ndim != 1 or not (np.isfinite(alpha) & (alpha > 0)).all():
            raise ValueError(f"alpha must be numbers > 0, got {alpha.tolist()}")
        object.__setattr__(self, "alpha", alpha)

    @property
    def mean(self) -> Array:
        return self.alpha / self.alpha.sum()

    @property
    def cov(self) -> Array:
        m = self.mean
        return (np.diag(m) - np.outer(m, m)) / (self.alpha.sum() + 1)

    @property
    def mode(self) -> Array:
        """(a_k - 1) / (sum a - K); numbers a_k < 1 leave their part at 0."""
        room = np.maximum(self.alpha - 1, 0.0)
        if room.sum() == 0:
            flat = (self.alpha == self.alpha[0]).all()
            room = np.ones(len(room)) if flat else (self.alpha == self.alpha.max()).astype(float)
        return room / room.sum()

    @property
    def _log_beta(self) -> float:
        return float(gammaln(self.alpha).sum() - gammaln(self.alpha.sum()))

    @property
    def entropy(self) -> float:
        a, total = self.alpha, self.alpha.sum()
        inner = (total - len(a)) * digamma(total) - (a - 1) @ digamma(a)
        return float(self._log_beta + inner)

    def _log_rows(self, X: Array) -> Array:
        inside = (X >= 0).all(axis=1) & (np.abs(X.sum(axis=1) - 1) <= SIMPLEX)
        values = xlogy(self.alpha - 1, np.where(inside[:, None], X, 0.5)).sum(axis=1)
        values = np.where(np.isnan(values), np.inf, values)  # a corner where parts pull both ways
        return np.where(inside, values - self._log_beta, -np.inf)

    def _draw(self, n: int, rng: Rng) -> Array:
        return rng.dirichlet(self.alpha, n)

    def marginal(self, index: int) -> Beta:
        """The distribution of one part."""
        own = float(self.alpha[index])
        return Beta(own, float(self.alpha.sum()) - own)

    def expect(self, h: Callable[[Array], Any]) -> float:
        """E h(p) of up to 4 parts, by products of Gauss-Jacobi rules."""
        from scipy.special import roots_jacobi

        K = len(self.alpha)
        if K > 4:
            raise ValueError(f"expect integrates up to 4 parts, got {K}; average over sample")
        rest = np.cumsum(self.alpha[::-1])[::-1]
        rules = [roots_jacobi(NODES, rest[j + 1] - 1, self.alpha[j] - 1) for j in range(K - 1)]
        total = 0.0
        for nodes in product(range(NODES), repeat=K - 1):
            sticks = np.array([(1 + rules[j][0][i]) / 2 for j, i in enumerate(nodes)] + [1.0])
            left = np.cumprod(np.append(1.0, 1 - sticks[:-1]))
            weight = np.prod([rules[j][1][i] / rules[j][1].sum() for j, i in enumerate(nodes)])
            total += float(weight) * float(h(sticks * left))
        return total

    @classmethod
    def statistics(cls, x: ArrayLike, sample_weight: ArrayLike | None = None) -> Sums:
        """n and sum log p."""
        X, w = rows_of(x, sample_weight)
        refuse_outside(X, X <= 0, "a Dirichlet distribution needs parts > 0")
        refuse_outside(X, np.abs(X.sum(axis=1) - 1) > SIMPLEX, "parts must sum to 1")
        return Sums(float(w.sum()), w @ np.log(X))

    @classmethod
    def from_statistics(cls, statistics: Sums) -> Self:
        """By Newton's method in the logarithms."""
        mean_log = statistics.values / statistics.n
        room = -float(np.logaddexp.reduce(mean_log))  # 0 where the rows do not vary
        samples.refuse_constant(room, float(np.exp(mean_log[0])), statistics.n, "Dirichlet")
        return cls(fit_dirichlet(mean_log))

    @classmethod
    def _from_moments(cls, mean: Array, variance: Array, sample: Sample) -> Self:
        return cls(mean * float((mean * (1 - mean)).sum() / variance.sum() - 1))

    def _given(self, statistics: Sums) -> float:
        return float((self.alpha - 1) @ statistics.values - statistics.n * self._log_beta)

    def _errors(self, statistics: Sums) -> dict[str, Any]:
        a = self.alpha
        J = statistics.n * (np.diag(polygamma(1, a)) - polygamma(1, a.sum()))
        return {"alpha": np.sqrt(np.diag(np.linalg.inv(J)))}
