r"""Any classifier with probabilities, deciding by its costs.

    predict(x) = argmin_d sum_k L[k, d] P(k | x)

The probabilities are those of the estimator; only the decision changes, for any number of
classes, without a search for thresholds. It is as good as the probabilities are: calibrate them
(CalibratedClassifierCV) if they are not.

References: Elkan (2001); O'Brien, Gupta & Gray (2008).
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.base import Classifier, check_labels, check_weights, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import check_inner, fitted, read_table, route
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.inference.decisions import decisions as rule


class LossMatrixClassifier(MetaEstimatorMixin, Classifier):
    """A classifier that decides by least expected loss.

    Parameters
    ----------
    estimator : classifier
        With ``predict_proba``; cloned and fitted. A model that is fitted already goes in as
        scikit-learn's ``FrozenEstimator(model)``.
    loss_matrix : array-like of shape (K, D) or None
        ``[truth, decision]``, rows in the order of ``classes_``; None is 0/1 loss. Columns are
        decisions for the classes in the same order, further columns further decisions (reject).
    tie : {"first", "last", "random"}, default="first"
        Which of equally good decisions.
    decisions : sequence of D labels, default=None
        What ``predict`` calls the decisions; None: ``classes_``, possible when D = K.
    random_state : int, RandomState, Generator or None, default=None
        For ``tie="random"``.

    Attributes
    ----------
    estimator_ : fitted estimator
    classes_ : ndarray of shape (K,)
    decisions_ : ndarray of shape (D,)
    loss_matrix_ : ndarray of shape (K, D)

    Examples
    --------
    >>> from pellucid import GaussianNB, LossMatrixClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [2.5], [3.5], [4.5]], [0, 0, 0, 1, 1, 1]
    >>> GaussianNB().fit(X, y).predict([[1.9], [2.2]])
    array([0, 0])
    >>> careful = LossMatrixClassifier(GaussianNB(), [[0, 1], [10, 0]]).fit(X, y)
    >>> careful.predict([[1.9], [2.2]])  # to miss a 1 costs ten times as much
    array([1, 1])
    >>> asks = [[0, 1, 0.1], [1, 0, 0.1]]
    >>> model = LossMatrixClassifier(GaussianNB(), asks, decisions=["no", "yes", "ask"]).fit(X, y)
    >>> model.predict([[0.0], [2.2], [5.0]]).tolist()
    ['no', 'ask', 'yes']
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        loss_matrix: ArrayLike | None,
        tie: str = "first",
        *,
        decisions: Sequence[Any] | Array | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.loss_matrix = loss_matrix
        self.tie = tie
        self.decisions = decisions
        self.random_state = random_state

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the wrapped classifier; ``fit_params`` are routed to its ``fit``."""
        check.one_of(rule.TIES, tie=self.tie)
        check_inner(self, self.estimator, "fit", "predict_proba")
        X = read_table(self, X, self.estimator, reset=True)
        labels = check_labels(y, _num_samples(X), self)
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, labels)
        context = FitContext(self, X=X, y=labels, sample_weight=sample_weight)
        params = route(self, "fit", sample_weight, fit_params)
        self.estimator_ = fitted(clone(self.estimator), X, labels, **params)
        self.classes_ = np.asarray(self.estimator_.classes_)
        self.loss_matrix_ = rule.check_losses(self.loss_matrix, len(self.classes_))
        self.decisions_ = self._decision_labels()
        context.end()
        return self

    def _decision_labels(self) -> Any:
        K, D = self.loss_matrix_.shape
        if self.decisions is not None:
            return rule.label_array(self.decisions, D)
        if K != D:
            have = f"loss_matrix has {D} decisions for {K} classes"
            raise ValueError(f"{have}: name them with decisions=[...]")
        return self.classes_

    def _decide(self, X: np.ndarray) -> tuple[IntArray, Array]:
        P = self.predict_proba(X)
        L = rule.check_losses(self.loss_matrix_, P.shape[1])
        D = len(self.decisions_)
        if L.shape[1] != D:
            raise ValueError(f"loss_matrix_ has {L.shape[1]} columns for {D} decisions")
        rng = generator(self.random_state) if self.tie == "random" else None
        return rule.decide(P, None if self.loss_matrix is None else L, self.tie, rng)

    def predict(self, X: Any) -> Any:
        """The decision of least expected loss."""
        found = self._decide(X)[0]
        return self.decisions_[found]

    def predict_proba(self, X: ArrayLike) -> Array:
        """The probabilities of the estimator, unchanged."""
        check_is_fitted(self)
        X = read_table(self, X, self.estimator, reset=False)
        return np.asarray(self.estimator_.predict_proba(X), dtype=np.float64)

    def expected_loss(self, X: ArrayLike) -> Array:
        """Expected loss of every decision, (n, D); the least is what ``predict`` takes."""
        return rule.expected_losses(self.predict_proba(X), self.loss_matrix_)

    def get_metadata_routing(self) -> Any:
        """Which metadata ``fit`` passes on to the wrapped classifier."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        return MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

    def card(self) -> Card:
        """Describe the wrapped classifier and the losses it decides by."""
        check_is_fitted(self)
        K, D = self.loss_matrix_.shape
        kind = "0/1 loss" if self.loss_matrix is None else f"the {K} x {D} losses [truth, decision]"
        return Card(
            f"argmin_d sum_k L[k, d] P(k | x), P from {type(self.estimator_).__name__}",
            f"expected loss under P, with {kind}",
            "the estimator's own fit; the decision is exact, one product per row",
            {"classes": K, "decisions": D, "largest loss": float(self.loss_matrix_.max())},
        )
