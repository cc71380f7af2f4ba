r"""Semi-supervised learning through a representation of all rows.

Structure    phi learned from ALL inputs, labelled or not: components, clusters, responsibilities
Classifier   g learned from (phi(x_i), y_i) of the labelled rows only
Answer       g(phi(x))

It helps where the unlabelled rows show what the labels follow: few directions, or clusters.

References: Chapelle, Schoelkopf & Zien (2006), Semi-supervised learning, chapter 1.
"""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted, has_fit_parameter

from pellucid.base import Classifier, check_labels, check_weights, encode_labels, with_callbacks
from pellucid.core.arrays.reading import is_missing
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import check_inner, fitted, read_table
from pellucid.core.records import Card

UNLABELLED = -1


def is_labelled(y: np.ndarray) -> Any:
    """Which rows have a label: not -1, and for objects not None either.

    Other marks of a missing label count as labels here: reading the labels refuses them by row.

    >>> is_labelled(np.array([0, -1, 1])).tolist()
    [True, False, True]
    """
    if y.dtype.kind == "O":
        found = (v is not None and (is_missing(v) or v != UNLABELLED) for v in y)
        return np.fromiter(found, bool, len(y))
    if y.dtype.kind in "US":
        return y != str(UNLABELLED)
    if y.dtype.kind in "ub":
        return np.ones(len(y), bool)
    return y != UNLABELLED


def labelled_classes(labels: np.ndarray) -> tuple[Any, Any]:
    """The classes and codes of the labels that are given; at least two classes are needed."""
    if len(labels) == 0:
        raise ValueError("y has no labelled row (-1 means unlabelled); at least two are needed")
    classes, codes = encode_labels(labels)
    if len(classes) < 2:
        only = f"one class only ({classes[0]}); at least 2 classes are needed"
        raise ValueError(f"the labelled rows of y have {only}")
    return classes, codes


def weights_for(estimator: BaseEstimator, weights: Array | None, what: str) -> dict[str, Any]:
    """The keywords that hand weights to an inner fit, which must take them."""
    if weights is None:
        return {}
    if not has_fit_parameter(estimator, "sample_weight"):
        name = type(estimator).__name__
        raise ValueError(f"{name}, {what}, does not support sample weights")
    return {"sample_weight": weights}


def _inner_has(method: str) -> Any:
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)


class RepresentationClassifier(Classifier):
    """A classifier on a representation that was learned from all rows, labelled or not.

    Parameters
    ----------
    representation : estimator
        Learns from all rows and gives columns by ``transform``, else by ``predict_proba``.
    estimator : classifier
        Learns from the labelled rows of these columns.

    A row is unlabelled where y is -1 (None in an array of objects, "-1" among strings).

    Attributes
    ----------
    representation_, estimator_
        Fitted copies.
    classes_ : the labels that occur
    n_labelled_ : int
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import GaussianNB, PCA, RepresentationClassifier
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(40) % 2
    >>> X = rng.normal(size=(40, 3)) + 6 * group[:, None]
    >>> y = np.where(np.arange(40) < 6, group, -1)
    >>> model = RepresentationClassifier(PCA(1), GaussianNB()).fit(X, y)
    >>> model.score(X, group), model.n_labelled_
    (1.0, 6)
    """

    def __init__(self, representation: BaseEstimator, estimator: BaseEstimator) -> None:
        self.representation = representation
        self.estimator = estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.representation).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the representation from all rows, the classifier from the labelled ones."""
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        check_inner(self, self.representation, "fit")
        check_inner(self, self.estimator, "fit", "predict")
        if not any(hasattr(self.representation, m) for m in ("transform", "predict_proba")):
            name = type(self.representation).__name__
            raise ValueError(f"representation must have transform or predict_proba, got {name}")
        X = read_table(self, X, self.representation, reset=True)
        labels = check_labels(y, _num_samples(X), self)
        known = np.flatnonzero(is_labelled(labels))
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, np.empty(len(labels)))
            known = known[weights[known] > 0]
        self.classes_, _ = labelled_classes(labels[known])
        params = weights_for(self.representation, weights, "the representation")
        self.representation_ = fitted(clone(self.representation), X, **params)
        own = None if weights is None else weights[known]
        params = weights_for(self.estimator, own, "the underlying estimator")
        Z = self._columns(_safe_indexing(X, known))
        self.estimator_ = fitted(clone(self.estimator), Z, labels[known], **params)
        self.n_labelled_ = len(known)
        context.end()
        return self

    def _columns(self, X: ArrayLike) -> Any:
        model = self.representation_
        method = "transform" if hasattr(model, "transform") else "predict_proba"
        return getattr(model, method)(X)

    def _open(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        return self._columns(read_table(self, X, self.representation, reset=False))

    def predict(self, X: ArrayLike) -> Any:
        """The labels that the classifier says of the represented rows."""
        Z = self._open(X)
        return self.estimator_.predict(Z)

    @available_if(_inner_has("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the classifier."""
        Z = self._open(X)
        return self.estimator_.predict_proba(Z)

    @available_if(_inner_has("decision_function"))
    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of the classifier."""
        Z = self._open(X)
        return self.estimator_.decision_function(Z)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        inner, outer = type(self.representation_).__name__, type(self.estimator_).__name__
        return Card(
            representation=f"{outer} on the columns that {inner} makes of a row",
            evaluation=f"that of {inner} on all rows, that of {outer} on the labelled ones",
            optimisation=f"{inner} first, without labels; then {outer}, without unlabelled rows",
            numbers={"labelled rows": self.n_labelled_, "classes": len(self.classes_)},
        )
