r"""Several labels as one: every set of labels that occurs is a class.

    P(S | x)  by one multiclass classifier over the sets S seen in training
    P(l | x) = sum_{S contains l} P(S | x)          marginals

The joint distribution is modelled as it is, so relations between labels cost nothing extra; sets
that were never seen cannot be predicted, and there may be 2^L of them.

References: Boutell et al. (2004); Tsoumakas & Katakis (2007).
"""

from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from pellucid.base import encode_labels, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.meta import fitted
from pellucid.core.records import Card
from pellucid.ensemble.committees.constant import ConstantClassifier
from pellucid.ensemble.labels.label_matrix import (
    check_zero_one,
    open_label_matrix,
    top_labels,
    warn_constant,
)
from pellucid.ensemble.labels.meta_classifier import MetaClassifier
from pellucid.ensemble.labels.multi_output import multi_label_tags
from pellucid.ensemble.labels.one_vs_rest import inner_has

WORD = 31  # labels packed into one whole number


class LabelSets(NamedTuple):
    """The distinct rows of a 0/1 matrix, and which of them each row is."""

    sets: IntArray  # (S, L)
    codes: IntArray  # (n,)


def find_sets(Y: IntArray) -> LabelSets:
    """Distinct rows, sorted by their last label first.

    >>> find_sets(np.array([[1, 0], [0, 1], [1, 0]]))
    LabelSets(sets=array([[1, 0],
           [0, 1]]), codes=array([0, 1, 0]))
    """
    codes = np.zeros(len(Y), dtype=np.intp)
    for start in range(0, Y.shape[1], WORD):  # one word at a time, packed by rank
        part = Y[:, start : start + WORD]
        word = part @ (1 << np.arange(part.shape[1]))
        _, places = encode_labels(word)
        _, codes = encode_labels(places * (codes.max(initial=0) + 1) + codes)
    first = np.zeros(codes.max(initial=0) + 1, dtype=np.intp)
    first[codes[::-1]] = np.arange(len(Y))[::-1]
    return LabelSets(Y[first], codes)


class LabelPowersetClassifier(MetaClassifier):
    """Several 0/1 labels through one classifier of their sets.

    Parameters
    ----------
    estimator : classifier
        Multiclass; it sees each distinct row of y as one class.

    Attributes
    ----------
    estimator_ : fitted estimator
        Its classes are the row numbers of ``label_sets_``.
    label_sets_ : ndarray of shape (S, L)
        The sets seen in training, 0/1.
    classes_ : list of L ndarrays
        The values of each label.

    Examples
    --------
    >>> from pellucid import GaussianNB, LabelPowersetClassifier
    >>> X, Y = [[0.0], [0.4], [3.0], [3.5], [7.0], [8.0]], [[0, 0], [0, 0], [1, 1], [1, 1],
    ...                                                      [1, 0], [1, 0]]
    >>> model = LabelPowersetClassifier(GaussianNB()).fit(X, Y)
    >>> model.predict([[0.1], [3.2]]).tolist(), model.predict_proba([[7.5]]).round(2)
    ([[0, 0], [1, 1]], array([[1., 0.]]))
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self.estimator = estimator

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> Self:
        """Fit one classifier of the label sets that occur."""
        X, n, params, context = self._begin(X, y, sample_weight, fit_params)
        Y = check_zero_one(open_label_matrix(self, y, n), type(self).__name__)
        for j in np.flatnonzero(Y.min(axis=0) == Y.max(axis=0)):
            warn_constant(self, int(j), Y[0, j])
        self.label_sets_, codes = find_sets(Y)
        self.set_sizes_ = np.bincount(codes)
        if len(self.label_sets_) == 1:
            self.estimator_: Any = ConstantClassifier().fit(X, codes)
        else:
            self.estimator_ = fitted(clone(self.estimator), X, codes, **params)
        self.classes_ = [np.array([0, 1]) for _ in range(Y.shape[1])]
        context.end()
        return self

    def predict(self, X: ArrayLike) -> Any:
        """The most likely set of each row, (n, L)."""
        X = self._open(X, reset=False)
        return self.label_sets_[self.estimator_.predict(X)]

    def predict_sets(self, X: ArrayLike) -> Array:
        """P of every set seen in training, (n, S)."""
        X = self._open(X, reset=False)
        P = np.asarray(self.estimator_.predict_proba(X))
        return P[:, : len(self.label_sets_)]

    @inner_has("predict_proba")
    def predict_proba(self, X: ArrayLike) -> Array:
        """Marginals P(label = 1), (n, L): sums over the sets that hold the label."""
        return np.minimum(self.predict_sets(X) @ self.label_sets_, 1.0)

    def predict_top(self, X: ArrayLike, m: int) -> Any:
        """0/1 rows with exactly m labels: those of the greatest marginal."""
        return top_labels(self.predict_proba(X), m)

    def __sklearn_tags__(self) -> Any:
        tags = multi_label_tags(super().__sklearn_tags__())
        tags.classifier_tags.multi_class = False  # each label is 0 or 1
        return tags

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        S, L = self.label_sets_.shape
        return Card(
            representation=f"one {type(self.estimator).__name__} over {S} of 2^{L} sets of labels",
            evaluation="that of the inner estimator, for sets as classes",
            optimisation=f"one fit of {int(self.set_sizes_.sum())} rows; the rarest set has "
            f"{int(self.set_sizes_.min())}",
            numbers={"labels": L, "sets": S, "rows": int(self.set_sizes_.sum()), "fits": 1},
        )
