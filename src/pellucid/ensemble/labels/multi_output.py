r"""Several labels, one classifier each.

    p(y_1 .. y_L | x)  modelled as  prod_l p(y_l | x)

The labels are learnt independently (binary relevance): right when they are independent given x,
and always right for the marginal of each label. Relations between labels: ClassifierChain,
LabelPowersetClassifier.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, Matrix
from pellucid.core.meta import binary_score, fitted, rows_of
from pellucid.core.records import Card
from pellucid.ensemble.committees.constant import ConstantClassifier
from pellucid.ensemble.labels.label_matrix import (
    check_ranked,
    open_label_matrix,
    top_labels,
    warn_constant,
)
from pellucid.ensemble.labels.meta_classifier import MetaClassifier
from pellucid.ensemble.labels.one_vs_rest import inner_has


class MultiOutputClassifier(MetaClassifier):
    """Several labels at once, each by its own copy of a classifier.

    Parameters
    ----------
    estimator : classifier
        Cloned for each column of y.
    n_jobs : int or None, default=None
        Fits at the same time, by joblib; the model is the same for any number.

    Attributes
    ----------
    estimators_ : list of fitted estimators
        One per label; a label that never varies gets a constant, with a warning.
    classes_ : list of ndarray
        The classes of each label.

    Examples
    --------
    >>> from pellucid import GaussianNB, MultiOutputClassifier
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> Y = [[0, 1], [0, 1], [1, 1], [1, 0]]
    >>> model = MultiOutputClassifier(GaussianNB(var_smoothing=0.1)).fit(X, Y)
    >>> model.predict([[0.5], [3.0]]), model.predict_top([[0.5]], 1)
    (array([[0, 1],
           [1, 0]]), array([[0, 1]]))
    """

    def __init__(self, estimator: BaseEstimator, *, n_jobs: int | None = None) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs

    @with_callbacks
    def fit(
        self, X: ArrayLike, Y: Matrix, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> Self:
        """Fit one classifier per column of Y; ``fit_params`` go to each."""
        X, n, params, context = self._begin(X, Y, sample_weight, fit_params, open_door=True)
        params = rows_of(params, X, np.arange(n)) if fit_params else params
        Y = open_label_matrix(self, Y, n)
        self.n_rows_ = n
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(fit_label)(self.estimator, X, np.ascontiguousarray(Y[:, j]), params)
            for j in range(Y.shape[1])
        )
        for j, model in enumerate(self.estimators_):
            if isinstance(model, ConstantClassifier):
                warn_constant(self, j, model.constant_)
        self.classes_ = [model.classes_ for model in self.estimators_]
        context.end()
        return self

    @inner_has("partial_fit")
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: Sequence[ArrayLike] | None = None,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Go on fitting; the first call names the ``classes`` of every label."""
        first = not hasattr(self, "estimators_")
        X = self._open(X, reset=first)
        n = _num_samples(X)
        params = self._route("partial_fit", sample_weight, params, n)
        Y = open_label_matrix(self, y, n)
        known = self.classes_ if classes is None and not first else classes
        if known is None or len(known) != Y.shape[1]:
            if known is None:
                need = f"those of each of {Y.shape[1]} labels"
                raise ValueError(f"classes must be passed on the first call to partial_fit: {need}")
            raise ValueError(f"classes must list those of {Y.shape[1]} labels, got {known}")
        self.n_rows_ = n + (0 if first else self.n_rows_)
        before = [clone(self.estimator) for _ in known] if first else self.estimators_
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(model.partial_fit)(X, Y[:, j], classes=np.asarray(known[j]), **params)
            for j, model in enumerate(before)
        )
        self.classes_ = [model.classes_ for model in self.estimators_]
        return self

    def predict(self, X: ArrayLike) -> Any:
        """The labels of each row, (n, L)."""
        X = self._open(X, reset=False)
        asked = (delayed(model.predict)(X) for model in self.estimators_)
        return np.asarray(Parallel(n_jobs=self.n_jobs)(asked)).T

    @inner_has("predict_proba")
    def predict_proba(self, X: ArrayLike) -> list[Array]:
        """The class probabilities of each label: a list of (n, K_l)."""
        X = self._open(X, reset=False)
        return [model.predict_proba(X) for model in self.estimators_]

    def label_scores(self, X: ArrayLike) -> Array:
        """(n, L): P(label = 1), or the decision function where there are no probabilities."""
        check_is_fitted(self)
        check_ranked(self.classes_)
        X = self._open(X, reset=False)
        if all(hasattr(model, "predict_proba") for model in self.estimators_):
            return np.column_stack([model.predict_proba(X)[:, 1] for model in self.estimators_])
        return np.column_stack([binary_score(model, X) for model in self.estimators_])

    def predict_top(self, X: ArrayLike, m: int) -> Any:
        """0/1 rows with exactly m labels: those of the greatest probability."""
        return top_labels(self.label_scores(X), m)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of rows with every label right."""
        check_is_fitted(self)
        Y = open_label_matrix(self, y, _num_samples(X))
        if Y.shape[1] != len(self.estimators_):
            raise ValueError(f"y has {Y.shape[1]} labels, the fit saw {len(self.estimators_)}")
        right = (self.predict(X) == Y).all(axis=1)
        return float(np.average(right, weights=sample_weight))

    def __sklearn_tags__(self) -> Any:
        return multi_label_tags(super().__sklearn_tags__())

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        L = len(self.estimators_)
        return Card(
            representation=f"one {type(self.estimator).__name__} per label, independent given x",
            evaluation="that of the inner estimator, for each label by itself",
            optimisation=f"{L} independent fits of all {self.n_rows_} rows",
            numbers={"labels": L, "fits": L, "rows per fit": self.n_rows_},
        )


def multi_label_tags(tags: Any) -> Any:
    """The tags of a classifier whose y is always a matrix."""
    tags.target_tags.single_output = False
    tags.target_tags.multi_output = True
    # The common checks for classifiers compare predictions with a vector; scikit-learn's own
    # classes of this kind leave them out as well. tests/ensemble runs those that do apply.
    tags._skip_test = True
    return tags


def fit_label(
    estimator: BaseEstimator, X: np.ndarray, y: np.ndarray, params: dict[str, Any]
) -> Any:
    """A copy fitted to one label; a constant where it never varies."""
    if (y == y[0]).all():
        return ConstantClassifier().fit(X, y)
    return fitted(clone(estimator), X, y, **params)
