r"""The losses of gradient boosting: start, residual, step in a leaf, mean.

Residual r = -dl/dF at the scores F; the value of a leaf with rows i and weights w:

    squared_error   (y - F)^2                       r = y - F            mean of r
    absolute_error  |y - F|                         r = sign(y - F)      median of y - F
    quantile        pinball at level a              r = a or a - 1       a-quantile of y - F
    huber           r^2/2, beyond delta linear      r = clip(y - F)      m + mean clip(y - F - m)
    log_loss        -log p(y)                       r = y - p            sum w r / sum w p (1 - p)
    exponential     exp(-(2y - 1) F)                r = (2y - 1) l       sum w r / sum w l

huber: delta is the a-quantile of |y - F| in every round, m the median of the leaf. log_loss: for
K > 2 classes one tree each, p = softmax(F), the Newton step times (K - 1)/K. The losses of squared
error and log_loss are reported as mean squared error and mean deviance (2 classes: twice the log
loss), as scikit-learn does.

References: Friedman (2001), Greedy function approximation, algorithms 1 to 6.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit, logsumexp, softmax

from pellucid.core.arrays.quantiles import weighted_quantiles
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.readable import readable

SMALL = 1e-150  # a curvature below this gives no step


@readable
class Huber(NamedTuple):
    """Squared error up to the ``alpha``-quantile of the absolute errors, linear beyond.

    >>> from pellucid.ensemble import Huber
    >>> Huber()
    Huber(alpha=0.9)
    """

    alpha: float = 0.9


@readable
class Quantile(NamedTuple):
    """The pinball loss: the answer is the ``alpha``-quantile of y.

    >>> from pellucid.ensemble import Quantile
    >>> Quantile(0.5)
    Quantile(alpha=0.5)
    """

    alpha: float = 0.9


class Leaves(NamedTuple):
    """Which node each row is in; rows that the tree did not see have weight 0."""

    node: IntArray  # (n,)
    w: Array  # (n,)
    n_nodes: int

    def sums(self, x: Array) -> Array:
        """Weighted sum of x in every node."""
        return np.asarray(np.bincount(self.node, self.w * x, self.n_nodes), dtype=np.float64)

    def ratio(self, top: Array, bottom: Array) -> Array:
        """sum w top / sum w bottom in every node; 0 where there is nothing to divide by."""
        a, b = self.sums(top), self.sums(bottom)
        flat = np.abs(b) < SMALL
        return np.where(flat, 0.0, a / np.where(flat, 1.0, b))

    def quantiles(self, r: Array, q: float) -> Array:
        """The least value in each node up to which a share q of the weight lies."""
        seen = np.flatnonzero(self.w > 0)
        seen = seen[np.lexsort((r[seen], self.node[seen]))]
        node, total = self.node[seen], np.cumsum(self.w[seen])
        out = np.zeros(self.n_nodes)
        first = np.flatnonzero(np.diff(node, prepend=-1))
        last = np.append(first[1:], len(node)) - 1
        before = np.where(first > 0, total[first - 1], 0.0)
        place = np.searchsorted(total, before + q * (total[last] - before))
        out[node[first]] = r[seen[np.clip(place, first, last)]]
        return out


class GradientLoss(ABC):
    """What a loss says; scores F and residuals are (K, n)."""

    K = 1

    @abstractmethod
    def start(self, y: Array, w: Array) -> Array:
        """The best constant scores (K,)."""

    @abstractmethod
    def mean(self, y: Array, F: Array, w: Array) -> float:
        """The mean loss."""

    @abstractmethod
    def residual(self, y: Array, F: Array, w: Array) -> Array:
        """The negative gradient of every row."""

    @abstractmethod
    def values(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array | None:
        """The values of the leaves of tree k; None: the mean residual, which the tree has."""


class SquaredLoss(GradientLoss):
    def start(self, y: Array, w: Array) -> Array:
        return np.array([np.average(y, weights=w)])

    def mean(self, y: Array, F: Array, w: Array) -> float:
        return float(np.average((y - F[0]) ** 2, weights=w))

    def residual(self, y: Array, F: Array, w: Array) -> Array:
        return (y - F[0])[None]

    def values(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array | None:
        return None


class Pinball(GradientLoss):
    """``scale`` 2 and level 1/2 is the absolute error."""

    def __init__(self, level: float, scale: float = 1.0) -> None:
        self.level, self.scale = level, scale

    def start(self, y: Array, w: Array) -> Array:
        return start_quantile(y, w, self.level)

    def mean(self, y: Array, F: Array, w: Array) -> float:
        r = y - F[0]
        return float(np.average(self.scale * r * (self.level - (r < 0)), weights=w))

    def residual(self, y: Array, F: Array, w: Array) -> Array:
        return (self.scale * np.where(y >= F[0], self.level, self.level - 1))[None]

    def values(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array | None:
        return leaves.quantiles(y - F[0], self.level)


class HuberLoss(GradientLoss):
    """delta is set by ``residual``, once in a round."""

    def __init__(self, level: float) -> None:
        self.level, self.delta = level, np.inf

    def start(self, y: Array, w: Array) -> Array:
        return start_quantile(y, w, 0.5)

    def mean(self, y: Array, F: Array, w: Array) -> float:
        error, delta = np.abs(y - F[0]), self.delta
        if not np.isfinite(delta):
            delta = self._delta(y, F, w)
        far = delta * (error - delta / 2)
        return float(np.average(np.where(error <= delta, error**2 / 2, far), weights=w))

    def _delta(self, y: Array, F: Array, w: Array) -> float:
        all_rows = Leaves(np.zeros(len(y), np.intp), w, 1)
        return float(all_rows.quantiles(np.abs(y - F[0]), self.level)[0])

    def residual(self, y: Array, F: Array, w: Array) -> Array:
        self.delta = self._delta(y, F, w)
        return np.clip(y - F[0], -self.delta, self.delta)[None]

    def values(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array | None:
        middle = leaves.quantiles(y - F[0], 0.5)
        rest = np.clip(y - F[0] - middle[leaves.node], -self.delta, self.delta)
        return middle + leaves.ratio(rest, np.ones(len(y)))


class LogLoss(GradientLoss):
    """Two classes, y in {0, 1}."""

    def start(self, y: Array, w: Array) -> Array:
        return self.link(np.array([[np.average(y, weights=w)]]))[:, 0]

    def link(self, p: Array) -> Array:
        """Scores (1, n) of the probability of the second class."""
        return logit(clipped(p))

    def mean(self, y: Array, F: Array, w: Array) -> float:
        return 2 * float(np.average(np.logaddexp(0, F[0]) - y * F[0], weights=w))

    def residual(self, y: Array, F: Array, w: Array) -> Array:
        return (y - expit(F[0]))[None]

    def values(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array | None:
        p = y - r
        return leaves.ratio(r, p * (1 - p))

    def proba(self, F: Array) -> Array:
        """Probabilities (n, K)."""
        p = expit(F[0])
        return np.stack([1 - p, p], axis=1)


class MultinomialLoss(GradientLoss):
    """K > 2 classes, y their codes."""

    def __init__(self, K: int) -> None:
        self.K = K

    def start(self, y: Array, w: Array) -> Array:
        share = np.bincount(y.astype(np.intp), w, self.K) / w.sum()
        return self.link(share[:, None])[:, 0]

    def link(self, p: Array) -> Array:
        """Scores (K, n) of the probabilities, with the sum 0."""
        log_p = np.log(clipped(p))
        return log_p - log_p.mean(axis=0)

    def mean(self, y: Array, F: Array, w: Array) -> float:
        own = F[y.astype(np.intp), np.arange(len(y))]
        return float(np.average(logsumexp(F, axis=0) - own, weights=w))

    def residual(self, y: Array, F: Array, w: Array) -> Array:
        return (y == np.arange(self.K)[:, None]) - softmax(F, axis=0)

    def values(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array | None:
        p = (y == k) - r
        return (self.K - 1) / self.K * leaves.ratio(r, p * (1 - p))

    def proba(self, F: Array) -> Array:
        return softmax(F, axis=0).T


class ExponentialLoss(LogLoss):
    """AdaBoost's loss for y in {0, 1}; F is half the log-odds."""

    def link(self, p: Array) -> Array:
        return logit(clipped(p)) / 2

    def mean(self, y: Array, F: Array, w: Array) -> float:
        return float(np.average(np.exp((1 - 2 * y) * F[0]), weights=w))

    def residual(self, y: Array, F: Array, w: Array) -> Array:
        return ((2 * y - 1) * np.exp((1 - 2 * y) * F[0]))[None]

    def values(self, y: Array, F: Array, r: Array, leaves: Leaves, k: int) -> Array | None:
        return leaves.ratio(r, np.abs(r))

    def proba(self, F: Array) -> Array:
        return super().proba(2 * F)


class OneClass(SquaredLoss):
    """Nothing to learn: the score is 0 and the probability 1."""

    def link(self, p: Array) -> Array:
        return np.zeros(p.shape)

    def proba(self, F: Array) -> Array:
        return np.ones((F.shape[1], 1))


def start_quantile(y: Array, w: Array, q: float) -> Array:
    """The q-quantile of y, (1,): interpolated as NumPy does where weights are repetitions."""
    if (w == np.floor(w)).all():
        return weighted_quantiles(y, np.array([q]), w)
    return Leaves(np.zeros(len(y), np.intp), w, 1).quantiles(y, q)


def clipped(p: Array) -> Array:
    """Probabilities away from 0 and 1."""
    eps = np.finfo(np.float64).eps
    return np.clip(p, eps, 1 - eps)


def number_loss(loss: str | Huber | Quantile, alpha: float) -> GradientLoss:
    """The loss of numbers that a word or value object names."""
    if isinstance(loss, Huber) or loss == "huber":
        return HuberLoss(loss.alpha if isinstance(loss, Huber) else alpha)
    if isinstance(loss, Quantile) or loss == "quantile":
        return Pinball(loss.alpha if isinstance(loss, Quantile) else alpha)
    return Pinball(0.5, 2.0) if loss == "absolute_error" else SquaredLoss()


def class_loss(loss: str, K: int) -> GradientLoss:
    """The loss of K classes."""
    if K == 1:
        return OneClass()
    if loss == "exponential":
        if K > 2:
            only = "loss='exponential' is only suitable for a binary classification problem"
            raise ValueError(f"{only}, y has {K} classes; use loss='log_loss'")
        return ExponentialLoss()
    return LogLoss() if K == 2 else MultinomialLoss(K)
