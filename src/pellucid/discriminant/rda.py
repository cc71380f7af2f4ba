r"""Regularised discriminant analysis: the ladder between QDA, LDA and the nearest mean.

    S_k(a) = a S_k + (1 - a) S                                a = 1: QDA,  a = 0: LDA
    target "class":   (1 - g) S_k(a) + g tr(S_k(a))/p I
    target "pooled":  a S_k + (1 - a) [(1 - g) S + g tr(S)/p I]

with the covariances whole ("full"), their diagonals ("diag": independent columns) or the mean of
these ("spherical"). The rungs:

    full, a = 1       QDA                       diag, a = 0        weighted Euclidean distance
    full, a = 0       LDA                       spherical, a = 0   Euclidean distance; with equal
    diag, a = 1       Gaussian naive Bayes                         priors the nearest mean

S_k has divisor n_k and S has N ("mle", as QDA, LDA and naive Bayes by default, so that the ladder
ends in them), or n_k - 1 and N - K ("unbiased"). gamma is the amount of shrinkage: a text that
writes gamma S + (1 - gamma) s^2 I means 1 - gamma here.

Algorithm    one pass for the class moments, then a sphere per class.    n p^2/2 + O(K p^3)

References: Friedman (1989), Regularized discriminant analysis; Hastie, Tibshirani, Friedman, ESL,
eq. 4.13 and 4.14.
"""

from typing import NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.discriminant.covariance import sphere
from pellucid.discriminant.moments import ClassScatter, pooled
from pellucid.discriminant.quadratic import QuadraticRule

TYPES = ("full", "diag", "spherical")
TARGETS = ("class", "pooled")
DIVISORS = ("unbiased", "mle")


class Covariances(NamedTuple):
    """Covariances of the classes and within all of them."""

    each: Array  # (K, p, p)
    within: Array  # (p, p)


def restricted(S: Array, covariance_type: str) -> Array:
    """Keep the whole of each matrix, its diagonal, or the mean of that.

    >>> restricted(np.array([[1.0, 2.0], [2.0, 3.0]]), "spherical")
    array([[2., 0.],
           [0., 2.]])
    """
    if covariance_type == "full":
        return S
    variances = np.diagonal(S, axis1=-2, axis2=-1)
    if covariance_type == "spherical":
        variances = np.broadcast_to(variances.mean(axis=-1, keepdims=True), variances.shape)
    return variances[..., None] * np.eye(S.shape[-1])


def class_covariances(stat: ClassScatter, divisor: str, covariance_type: str) -> Covariances:
    """S_k and S; a class whose divisor is 0 (one row, or none) has S in place of its own."""
    n, K = stat.weight, (stat.weight > 0).sum()
    unbiased = divisor == "unbiased"
    within = pooled(stat) / (n.sum() - (K if unbiased else 0))
    own = n - 1 if unbiased else n
    each = stat.scatter / np.where(own > 0, own, 1.0)[:, None, None]
    each[own <= 0] = within
    return Covariances(restricted(each, covariance_type), restricted(within, covariance_type))


def regularised(given: Covariances, alpha: float, gamma: float, target: str) -> Array:
    """S_k(alpha, gamma) of every class, (K, p, p)."""
    S, identity = given.within, np.eye(len(given.within))
    if target == "pooled":
        S = (1 - gamma) * S + gamma * (np.trace(S) / len(S)) * identity
        return alpha * given.each + (1 - alpha) * S
    blend = alpha * given.each + (1 - alpha) * S
    level = np.trace(blend, axis1=1, axis2=2) / len(S)
    return (1 - gamma) * blend + gamma * level[:, None, None] * identity


def rule_parameters(K: int, p: int, covariance_type: str, alpha: float) -> int:
    """Numbers in the K - 1 differences of discriminants; linear where the covariance is shared.

    >>> rule_parameters(3, 10, "full", 0.0), rule_parameters(3, 10, "full", 1.0)
    (22, 132)
    """
    squares = {"full": p * (p + 1) // 2, "diag": p, "spherical": 1}[covariance_type]
    return (K - 1) * (p + 1 + (squares if alpha > 0 else 0))


class RegularizedDiscriminantAnalysis(QuadraticRule):
    """Gaussian classes whose covariances are pulled to the common one and to a sphere.

    ``fit``, ``partial_fit`` (exact) and ``fit_blocks`` give the same model; ``sample_weight`` of
    ``fit`` equals repetition.

    Parameters
    ----------
    alpha : float in [0, 1], default=0.5
        Share of the class's own covariance: 1 is QDA, 0 is LDA.
    gamma : float in [0, 1], default=0.0
        Amount of shrinkage towards tr(S)/p I.
    covariance_type : {"full", "diag", "spherical"}, default="full"
        What is kept of the covariances.
    target : {"class", "pooled"}, default="class"
        Whether gamma shrinks the blended covariance of each class or the pooled one.
    priors : array-like of shape (n_classes,), default=None
        Class probabilities; None: the shares of the classes.
    divisor : {"mle", "unbiased"}, default="mle"
        n_k and N, with which alpha = 1 is ``QuadraticDiscriminantAnalysis()`` and alpha = 0 is
        ``LinearDiscriminantAnalysis()``; or n_k - 1 and N - K.

    Attributes
    ----------
    means_, priors_, class_count_ : ndarray
        Means (n_classes, n_features), probabilities and weights of the classes.
    covariance_ : list of ndarray of shape (n_features, n_features)
        The covariances used.
    whitening_ : ndarray of shape (n_classes, n_features, n_features)
        T_k with T_k'S_k T_k = I.
    n_parameters_ : int
        Numbers in the K - 1 differences of discriminants.

    Examples
    --------
    >>> from pellucid import RegularizedDiscriminantAnalysis
    >>> X = [[0, 0], [1, 0], [0, 1], [1, 2], [3, 3], [4, 3], [3, 5], [5, 4], [4, 4], [6, 5]]
    >>> y = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    >>> RegularizedDiscriminantAnalysis(0.5).fit(X, y).decision_function([[2, 1]]).round(4)
    array([-4.7847])
    >>> RegularizedDiscriminantAnalysis(0.5, 0.5).fit(X, y).decision_function([[2, 1]]).round(4)
    array([-5.3828])
    """

    def __init__(
        self,
        alpha: float = 0.5,
        gamma: float = 0.0,
        *,
        covariance_type: str = "full",
        target: str = "class",
        priors: ArrayLike | None = None,
        divisor: str = "mle",
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.covariance_type = covariance_type
        self.target = target
        self.priors = priors
        self.divisor = divisor

    def _check_parameters(self) -> None:
        check.non_negative(alpha=self.alpha, gamma=self.gamma)
        for name, value in (("alpha", self.alpha), ("gamma", self.gamma)):
            if value > 1:
                raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
        check.one_of(TYPES, covariance_type=self.covariance_type)
        check.one_of(TARGETS, target=self.target)
        check.one_of(DIVISORS, divisor=self.divisor)

    def _not_yet(self, stat: ClassScatter) -> str | None:
        present = stat.weight > 0
        if self.alpha > 0 and (stat.weight[present] <= 1).any():
            return "a class has one row"
        p = stat.mean.shape[1]
        full = all(sphere(S, 0.0).whitening.shape[1] == p for S in self._blended(stat))
        return None if full else "a covariance is singular"

    def _blended(self, stat: ClassScatter) -> Array:
        given = class_covariances(stat, self.divisor, self.covariance_type)
        return regularised(given, self.alpha, self.gamma, self.target)

    def _covariances(
        self, stat: ClassScatter, priors: Array, rows: Source | None, map_: Map
    ) -> Array:
        alone = (stat.weight > 0) & (stat.weight <= 1)
        if self.alpha > 0 and alone.any():
            what = f"class {self.classes_[np.argmax(alone)]} has one row and no covariance"
            cure = f"set alpha to 0 (now {self.alpha:g}) or give it more rows"
            raise np.linalg.LinAlgError(f"{what} of its own; {cure}")
        return self._blended(stat)

    def _singular(self, stat: ClassScatter, k: int, free: tuple[int, ...]) -> str:
        given = class_covariances(stat, self.divisor, self.covariance_type)
        p = len(given.within)
        common = sphere(given.within, 0.0).whitening.shape[1] == p  # S itself has an inverse
        lower, higher = f"lower alpha (now {self.alpha:g})", f"raise gamma (now {self.gamma:g})"
        if not np.trace(given.within) > 0:
            cure = "no alpha or gamma helps: no column varies within the classes"
        elif self.target == "pooled" and self.alpha == 1:
            cure = f"{lower}: with target='pooled' gamma acts on the pooled covariance only"
            cure += "" if common else f"; and {higher}, since the pooled covariance is singular too"
        elif common and self.alpha > 0:
            cure = f"{lower} or {higher}"
        else:
            cure = f"{higher}; alpha cannot help, the pooled covariance is singular itself"
        if self.covariance_type == "spherical" and not common:
            cure = "no alpha or gamma helps: no column varies within the classes"
        return (
            f"the covariance of class {self.classes_[k]} ({stat.weight[k]:g} rows, {p} columns) "
            f"is singular in columns {self._columns(free)}: {cure}"
        )

    def _report(self, covariances: Array) -> None:
        K, p = covariances.shape[:2]
        self.covariance_ = list(covariances)
        self.n_parameters_ = rule_parameters(K, p, self.covariance_type, self.alpha)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        blend = {
            "class": "(1 - gamma) (alpha S_k + (1 - alpha) S) + gamma tr/p I",
            "pooled": "alpha S_k + (1 - alpha) ((1 - gamma) S + gamma tr(S)/p I)",
        }[self.target]
        return Card(
            representation="argmax_k -log|C_k|/2 - (x - m_k)'C_k^-1(x - m_k)/2 + log pi_k with "
            f"C_k = {blend}, {self.covariance_type}",
            evaluation=f"likelihood of Gaussian classes, regularised by alpha = {self.alpha:g} and "
            f"gamma = {self.gamma:g}; divisor {self.divisor}; {self._prior_words()}",
            optimisation="closed form: one pass for the class moments, a sphere per class",
            numbers={
                **self._numbers(),
                "alpha": self.alpha,
                "gamma": self.gamma,
                "parameters": self.n_parameters_,
            },
            scales=(
                "gamma is the amount of shrinkage: where a text writes gamma S + (1 - gamma) s^2 I "
                f"its gamma is {1 - self.gamma:g}",
                "divisors n_k and N here; the course's n_k - 1 and N - K are divisor='unbiased'"
                if self.divisor == "mle"
                else "divisors n_k - 1 and N - K; those of QDA and LDA are divisor='mle'",
            ),
        )
