r"""Probabilities that mean what they say, from the learning rows alone.

    P'(k | x)  proportional to  pi_k (P(k | x) / pi_k)^beta        pi_k: share of class k

One number beta says how far a model is trusted: 1 leaves it as it is, less draws its probabilities
towards the shares of the classes, more sharpens them, 0 is guessing. It minimises the log loss of
the learning rows, each judged by a model of its fold that had not seen it; so there no model
is worse than guessing. It is used where that loss, with the beta of the other folds, falls by one
hundredth or more.
"""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier
from pellucid.core.arrays.typing import Array
from pellucid.core.records import Card

if TYPE_CHECKING:  # a saved classifier is read without what trained it
    from pellucid.study.candidates.training import Outcome, Workshop

MOST, WORTH = 4.0, 0.01  # largest beta; share of the log loss that calibration must save


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
    """The trust of least log loss."""
    rows = np.arange(len(codes))

    def loss(beta: float) -> float:
        return float(-np.log(tempered(P, share, beta, floor)[rows, codes]).mean())

    return float(minimize_scalar(loss, bounds=(0.0, MOST), method="bounded").x)


def calibration(shop: "Workshop", outcome: "Outcome") -> float | None:
    """How far to trust the probabilities of a candidate; None: as they are."""
    models = outcome.models
    if outcome.complexity == 0 or not hasattr(models[0], "predict_proba"):
        return None
    classes = models[0].classes_
    if any(not np.array_equal(classes, model.classes_) for model in models):
        return None
    parts = [shop.outer_part(i, outcome.tried.features) for i in range(len(models))]
    P = [np.asarray(m.predict_proba(part.Z_judge)) for m, part in zip(models, parts, strict=True)]
    codes = [np.searchsorted(classes, part.y_judge) for part in parts]
    if any(not np.isin(part.y_judge, classes).all() for part in parts):
        return None
    every, all_codes = np.vstack(P), np.concatenate(codes)
    share = np.bincount(all_codes, minlength=len(classes)) / len(all_codes)
    if (share == 0).any():
        return None
    floor = 0.5 / len(parts[0].y_learn)
    before = _log_loss(every, all_codes, floor)
    if len(P) == 1:
        beta = find_beta(every, all_codes, share, floor)
        after = _log_loss(tempered(every, share, beta, floor), all_codes, floor)
    else:
        losses = []
        for i in range(len(P)):
            others = np.concatenate([c for j, c in enumerate(codes) if j != i])
            rest = np.vstack([p for j, p in enumerate(P) if j != i])
            beta = find_beta(rest, others, share, floor)
            said = tempered(P[i], share, beta, floor)
            losses.append(len(codes[i]) * _log_loss(said, codes[i], floor))
        after = sum(losses) / len(all_codes)
        beta = find_beta(every, all_codes, share, floor)
    return beta if after < (1 - WORTH) * before else None


def _log_loss(P: Array, codes: Array, floor: float) -> float:
    said = P[np.arange(len(codes)), codes]
    return float(-np.log(np.maximum(said, max(floor, 1e-12))).mean())


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
