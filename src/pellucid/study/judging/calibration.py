r"""Probabilities that mean what they say, from the learning rows alone.

    P'(k | x)  proportional to  pi_k (P(k | x) / pi_k)^beta        pi_k: share of class k

One number beta says how far a model is trusted: 1 leaves it as it is, less draws its probabilities
towards the shares of the classes, more sharpens them, 0 is guessing. It minimises the log loss of
the learning rows, each judged by a model of its fold that had not seen it; so there no model
is worse than guessing. One row of each class that looks like the usual row is added, which says
nothing of a model that gives the classes their shares on the whole, and keeps one from being
sharpened that was never asked about a class. It is used where that loss, with the beta of the other
folds, falls by one hundredth or more, or where a class was said to be impossible: no class ever is,
its probability is at least that of half a row.

Few rows can make a useless model look better than guessing. With d the mean gain of those rows over
guessing and s its standard error (blocks of rows left out in turn, its variance doubled, since the
folds teach one another), beta is multiplied by

    1 - s^2 / d^2           (at least 0.01, which keeps the order of the rows)

where that is below 0.9: the larger of the factors in log loss and in right labels, since rows that
show that the labels are better show that the model knows something. Log loss is convex in beta: a
model that is worse than guessing by e on new rows is then worse by at most that share of e, and one
that is better by d loses about (s / d)^4 of d.
"""

from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.records import Card
from pellucid.study.judging.jackknife import jackknife, make_blocks

if TYPE_CHECKING:  # a saved classifier is read without what trained it
    from pellucid.study.candidates.training import Outcome, Workshop

MOST, WORTH = 4.0, 0.01  # largest beta; share of the log loss that calibration must save
LEAST, SURE = 0.01, 0.9  # smallest factor; above the second one beta is left as it is


def tempered(P: Array, share: Array, beta: float, floor: float) -> Array:
    """The probabilities at this trust; ``floor`` keeps every class possible.

    >>> tempered(np.array([[0.9, 0.1]]), np.array([0.5, 0.5]), 0.0, 1e-3)
    array([[0.5, 0.5]])
    """
    score = beta * (np.log(np.maximum(P, floor)) - np.log(share)) + np.log(share)
    score -= score.max(axis=1, keepdims=True)
    weight = np.exp(score)
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def find_beta(P: Array, codes: Array, share: Array, floor: float) -> float:
    """The trust of least log loss; one usual row of each class is added.

    >>> P, share = np.tile([0.99, 0.01], (50, 1)), np.array([0.9, 0.1])
    >>> bool(find_beta(P, np.zeros(50, dtype=int), share, 1e-3) < 2)
    True
    """
    from scipy.optimize import minimize_scalar  # a saved classifier is read without it

    K = len(share)
    P = np.vstack([P, np.repeat(P.mean(axis=0, keepdims=True), K, axis=0)])
    codes = np.concatenate([codes, np.arange(K)])
    rows = np.arange(len(codes))

    def loss(beta: float) -> float:
        return float(-np.log(tempered(P, share, beta, floor)[rows, codes]).mean())

    return float(minimize_scalar(loss, bounds=(0.0, MOST), method="bounded").x)


class Trust(NamedTuple):
    """The beta of the kept model, and the one before weak evidence shrank it; None: as it is."""

    beta: float | None = None
    plain: float | None = None

    @property
    def shrunk(self) -> bool:
        return self.beta != self.plain


def calibration(shop: "Workshop", outcome: "Outcome") -> Trust:
    """How far to trust the probabilities of a candidate."""
    models = outcome.models
    if outcome.complexity == 0 or not hasattr(models[0], "predict_proba"):
        return Trust()
    parts = [shop.outer_part(i, outcome.tried.features) for i in range(len(models))]
    known = [part.y_learn for part in parts] + [part.y_judge for part in parts]
    classes, share = np.unique(np.concatenate(known), return_counts=True)
    share = share / share.sum()
    P = [aligned(m, p.Z_judge, classes) for m, p in zip(models, parts, strict=True)]
    codes = [np.searchsorted(classes, part.y_judge) for part in parts]
    floor = 0.5 / len(parts[0].y_learn)
    every, all_codes = np.vstack(P), np.concatenate(codes)
    beta = find_beta(every, all_codes, share, floor)
    parts_after = []
    for i in range(len(P)):
        one = beta
        if len(P) > 1:
            others = np.concatenate([c for j, c in enumerate(codes) if j != i])
            one = find_beta(np.vstack([p for j, p in enumerate(P) if j != i]), others, share, floor)
        parts_after.append(tempered(P[i], share, one, floor))
    after = np.vstack(parts_after)
    used = _losses(after, all_codes).mean() < (1 - WORTH) * _losses(every, all_codes).mean()
    if not used and (every < floor).any():
        used, beta, after = True, 1.0, tempered(every, share, 1.0, floor)
    factor = _factor(after if used else every, all_codes, share, _blocks(shop, len(P)), len(P) > 1)
    plain = beta if used else None
    return Trust(plain if factor > SURE else factor * (beta if used else 1.0), plain)


def _factor(P: Array, codes: IntArray, share: Array, blocks: IntArray, twice: bool) -> float:
    """The share of the trust that rows judged in their folds bear out."""
    surprise = -np.log(share[codes]) - _losses(P, codes)
    right = (P.argmax(axis=1) == codes).astype(float) - (share.argmax() == codes)
    return max(shrinkage(gain, blocks, twice=twice) for gain in (surprise, right))


def shrinkage(gain: Array, blocks: IntArray, *, twice: bool) -> float:
    """``1 - s^2 / d^2`` of the gains of rows in blocks, at least ``LEAST``.

    >>> shrinkage(np.array([0.3, 0.3, 0.4, 0.4]), np.arange(4), twice=True) > 0.98
    True
    >>> shrinkage(np.array([2.0, -1.0, 2.0, -2.0]), np.arange(4), twice=True)
    0.01
    """
    spread = jackknife(lambda rows: float(gain[rows].mean()), blocks)
    if not spread.estimate > 0 or not np.isfinite(spread.error):
        return LEAST
    return max(LEAST, 1 - (2 if twice else 1) * (spread.error / spread.estimate) ** 2)


def aligned(model: Any, Z: Any, classes: Array) -> Array:
    """What a model says of every class; 0 of those it has not met."""
    P = np.zeros((len(Z), len(classes)))
    P[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(Z)
    return P


def _blocks(shop: "Workshop", folds: int) -> IntArray:
    """The blocks of the rows that the first folds judge, in their order."""
    rows = np.concatenate([judge for _, judge in shop.folds[:folds]])
    ordered = shop.kind == "sequential"
    units = None if shop.groups is None or ordered else shop.groups[rows]
    return make_blocks(len(rows), units, ordered=ordered)


def _losses(P: Array, codes: IntArray) -> Array:
    """The log loss of every row; a probability of 0 is taken for what a float can still tell."""
    said = P[np.arange(len(codes)), codes]
    return np.asarray(-np.log(np.maximum(said, np.finfo(np.float64).eps)))


class TemperedClassifier(MetaEstimatorMixin, Classifier):
    """A classifier whose probabilities are trusted as far as ``beta`` says.

    >>> from pellucid import GaussianNB
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> sure = GaussianNB().fit(X, y).predict_proba([[0.0]])[0, 0]
    >>> less = TemperedClassifier(GaussianNB(), 0.5).fit(X, y).predict_proba([[0.0]])[0, 0]
    >>> bool(0.5 < less < sure)
    True
    """

    def __init__(self, estimator: BaseEstimator, beta: float) -> None:
        self.estimator = estimator
        self.beta = beta

    def fit(self, X: Any, y: Any) -> Self:
        self.estimator_: Any = clone(self.estimator).fit(X, y)
        self.classes_ = np.asarray(self.estimator_.classes_)
        self.n_features_in_ = np.shape(X)[1]
        counts = np.bincount(np.searchsorted(self.classes_, y), minlength=len(self.classes_))
        self.share_ = counts / counts.sum()
        self.floor_ = 0.5 / len(y)
        return self

    def predict_proba(self, X: Any) -> Array:
        check_is_fitted(self)
        P = np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)
        return tempered(P, self.share_, self.beta, self.floor_)

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def card(self) -> Card:
        """That of the classifier within, and how far it is trusted."""
        inner = self.estimator_.card()
        return inner._replace(numbers={**inner.numbers, "trust in its probabilities": self.beta})


def trusted(model: Any) -> TemperedClassifier | None:
    """The tempered classifier in a model, under its costs where there are such."""
    while model is not None and not isinstance(model, TemperedClassifier):
        model = getattr(model, "estimator_", None)
    return model
