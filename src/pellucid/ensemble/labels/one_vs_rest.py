r"""One class against the rest.

    K classes    K fits of class k (1) against all others (0); predict argmax_k s_k(x)
    2 classes    one fit
    (n, L) 0/1   one fit per label, each thresholded by itself (binary relevance)

s_k is the decision function, else P(1 | x), or the prediction of a regressor. Probabilities of
classes are P_k(1 | x) divided by their sum; those of labels are left as they are. Every fit reads
all n rows: cheap when the cost of a fit grows linearly in n.

References: Rifkin & Klautau (2004).
"""

from typing import Any, Self

import numpy as np
from scipy.sparse import csc_array
from sklearn.base import BaseEstimator, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.meta import binary_score, score_threshold
from pellucid.core.records import Card
from pellucid.ensemble.labels.meta_classifier import (
    MetaClassifier,
    fit_binary,
    n_classes,
    n_classifiers,
)
from pellucid.features.encoding.labels import LabelBinarizer


def inner_has(method: str) -> Any:
    """``available_if`` of a method of the inner estimators, whose AttributeError is the cause.

    Of all of them: a label that never varies has a constant, which can do more than others.
    """

    def check(owner: Any) -> bool:
        asked = getattr(owner, "estimators_", None) or [owner.estimator]
        return all(callable(getattr(model, method)) for model in asked)

    return available_if(check)


class OneVsRestClassifier(MetaClassifier):
    """Any binary classifier for K classes or L labels: each against all others.

    Parameters
    ----------
    estimator : classifier or regressor
        With ``fit``; it is cloned for each class.
    n_jobs : int or None, default=None
        Fits at the same time, by joblib; the model is the same for any number.
    verbose : int, default=0
        Passed to joblib.

    Attributes
    ----------
    estimators_ : list of fitted estimators
        One per class; one alone for two classes. A label that never varies gets a constant.
    classes_ : ndarray of shape (n_classes,)
    n_classes_, n_classifiers_ : int
    label_binarizer_ : LabelBinarizer
    multilabel_ : bool
        Whether y was a 0/1 matrix.

    Examples
    --------
    >>> from pellucid import GaussianNB, OneVsRestClassifier
    >>> X, y = [[0, 1], [1, 0], [4, 1], [5, 0], [2, 4], [3, 6]], list("aabbcc")
    >>> model = OneVsRestClassifier(GaussianNB()).fit(X, y)
    >>> model.predict([[0, 0], [4, 2], [2, 5]]).tolist(), model.n_classifiers_
    (['a', 'b', 'c'], 3)
    """

    def __init__(
        self, estimator: BaseEstimator, *, n_jobs: int | None = None, verbose: int = 0
    ) -> None:
        self.estimator = estimator
        self.n_jobs = n_jobs
        self.verbose = verbose

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> Self:
        """Fit one classifier per class or label; ``fit_params`` go to each."""
        X, self.n_rows_, params, context = self._begin(X, y, sample_weight, fit_params)
        Y = self._indicators(X, y)
        names = [str(label) for label in self.classes_[-Y.shape[1] :]]
        self.estimators_ = Parallel(n_jobs=self.n_jobs, verbose=self.verbose)(
            delayed(fit_binary)(self.estimator, X, column(Y, k), params, (f"not {name}", name))
            for k, name in enumerate(names)
        )
        context.end()
        return self

    def _indicators(self, X: Any, y: Any) -> Any:
        """(n, K) 0/1 in columns; (n, 1) for two classes."""
        if y is None:
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None")
        self.label_binarizer_ = LabelBinarizer(sparse_output=True)
        y = np.asarray(y) if isinstance(y, list) else y
        if getattr(y, "ndim", 1) == 1 or y.shape[1] == 1:
            codes = self._open_labels(X, y)
            self.label_binarizer_.fit(self.classes_)
            K = len(self.classes_)
            hit = (codes[:, None] == np.arange(K)) if K > 2 else (codes == 1)[:, None]
            return csc_array(hit.astype(np.int64))
        Y = self.label_binarizer_.fit_transform(y).tocsc()
        n, m = _num_samples(X), Y.shape[0]
        if m != n:
            raise ValueError(f"X and y need the same number of rows (n_samples), got {n} and {m}")
        self.classes_ = self.label_binarizer_.classes_
        return Y

    @inner_has("partial_fit")
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        """Go on fitting with more rows; the first call names all ``classes``."""
        first = _check_partial_fit_first_call(self, classes)
        if first:
            K = len(self.classes_)
            self.estimators_ = [clone(self.estimator) for _ in range(1 if K == 2 else K)]
            self.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(self.classes_)
            self.n_rows_ = 0
        X = self._open(X, reset=first)
        params = self._route("partial_fit", sample_weight, params, _num_samples(X))
        unknown = np.setdiff1d(y, self.classes_).tolist()
        if unknown:
            known = self.classes_.tolist()
            raise ValueError(
                f"Mini-batch contains {unknown} while classes must be subset of {known}"
            )
        Y = self.label_binarizer_.transform(y).tocsc()
        self.n_rows_ += Y.shape[0]
        self.estimators_ = Parallel(n_jobs=self.n_jobs)(
            delayed(go_on_binary)(model, X, column(Y, k), params)
            for k, model in enumerate(self.estimators_)
        )
        return self

    def _scores(self, X: ArrayLike) -> Array:
        X = self._open(X, reset=False)
        return np.column_stack([binary_score(model, X) for model in self.estimators_])

    def predict(self, X: ArrayLike) -> Any:
        """The class of the largest score, or the labels above their threshold."""
        S = self._scores(X)
        if self.label_binarizer_.y_type_ == "multiclass":
            return self.classes_[S.argmax(axis=1)]
        above = np.array([score_threshold(model) for model in self.estimators_]) < S
        return self.label_binarizer_.inverse_transform(above.astype(np.int64))

    @inner_has("predict_proba")
    def predict_proba(self, X: ArrayLike) -> Array:
        """P(class), rows summing to 1; of labels the probability of each, (n, L)."""
        X = self._open(X, reset=False)
        P = np.column_stack([model.predict_proba(X)[:, 1] for model in self.estimators_])
        if self.multilabel_:
            return P
        if P.shape[1] == 1:
            return np.hstack([1.0 - P, P])
        total = P.sum(axis=1, keepdims=True)
        return np.divide(P, total, out=np.full_like(P, 1.0 / P.shape[1]), where=total > 0)

    @inner_has("decision_function")
    def decision_function(self, X: ArrayLike) -> Array:
        """The scores, (n, K); (n,) for two classes."""
        X = self._open(X, reset=False)
        S = np.column_stack([np.ravel(model.decision_function(X)) for model in self.estimators_])
        return S[:, 0] if S.shape[1] == 1 else S

    @property
    def multilabel_(self) -> bool:
        """Whether y was a 0/1 matrix."""
        return self.label_binarizer_.y_type_.startswith("multilabel")

    n_classes_ = n_classes
    n_classifiers_ = n_classifiers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        what, K = "label" if self.multilabel_ else "class", self.n_classes_
        rule = "each thresholded by itself" if self.multilabel_ else "the largest score wins"
        return Card(
            representation=f"one {type(self.estimator).__name__} per {what}; {rule}",
            evaluation=f"that of the inner estimator, each {what} against all others",
            optimisation=f"{self.n_classifiers_} independent fits of all {self.n_rows_} rows "
            "(cheaper than one-vs-one unless the cost of a fit grows faster than its rows)",
            numbers={"classes": K, "fits": self.n_classifiers_, "rows per fit": self.n_rows_},
        )


def column(Y: csc_array, k: int) -> IntArray:
    """Column k of a sparse indicator matrix, dense."""
    out = np.zeros(Y.shape[0], dtype=np.int64)
    hit = slice(Y.indptr[k], Y.indptr[k + 1])
    out[Y.indices[hit]] = Y.data[hit]
    return out


def go_on_binary(model: BaseEstimator, X: ArrayLike, y: IntArray, params: dict[str, Any]) -> Any:
    """One more batch."""
    return model.partial_fit(X, y, classes=np.array([0, 1]), **params)
