"""Honest probabilities from any classifier: scores of unseen rows, mapped to observed shares.

See ``calibrators`` for the maps. With ``ensemble`` every fold keeps its own classifier and map, and
their probabilities are averaged; without, one classifier is fitted on all rows and one map on its
out-of-fold scores.
"""

import inspect
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import LeaveOneOut, check_cv, cross_val_predict
from sklearn.utils import Bunch, _safe_indexing, get_tags, indexable
from sklearn.utils import metadata_routing as routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, _num_samples, check_is_fitted

from pellucid.base import Classifier, check_labels, check_weights, encode_labels, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.reading import row_table
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.evaluation.calibration.calibrators import calibrated_probabilities, fit_calibrators

MAPS = {  # the map of each method and how it is fitted
    "sigmoid": ("p = 1 / (1 + exp(a f + b)) of its score f", "Newton in (a, b), convex"),
    "isotonic": ("a non-decreasing step curve of its score", "pool adjacent violators, exact"),
    "temperature": ("softmax(beta z) of its scores z", "Newton in beta inside a bracket, convex"),
}
METHODS = tuple(MAPS)


class CalibratedPair(NamedTuple):
    """A fitted classifier with the maps of its scores."""

    estimator: Any
    calibrators: list[Any]
    classes: Any
    method: str

    def predict_proba(self, X: ArrayLike) -> Array:
        """Calibrated probabilities, columns as ``classes``."""
        K = len(self.classes)
        values = raw_scores(self.estimator, X, K, self.method)
        places = np.searchsorted(self.classes, self.estimator.classes_)
        P = calibrated_probabilities(values, self.calibrators, places, K, self.method)
        P[(P > 1.0) & (P <= 1.0 + 1e-5)] = 1.0
        return P


def score_method(estimator: BaseEstimator) -> str:
    """decision_function where there is one, else predict_proba."""
    for name in ("decision_function", "predict_proba"):
        if hasattr(estimator, name):
            return name
    name = type(estimator).__name__
    raise AttributeError(f"{name} has neither decision_function nor predict_proba")


def raw_scores(estimator: BaseEstimator, X: ArrayLike, n_classes: int, method: str) -> Array:
    """(n, K) scores; (n, 1) for two classes."""
    return _shaped(getattr(estimator, score_method(estimator))(X), n_classes, method)


def _shaped(values: ArrayLike, n_classes: int, method: str) -> Array:
    values = np.asarray(values, dtype=np.float64)
    values = values.reshape(len(values), -1)
    two = n_classes == 2 and values.shape[1] == 2 and method != "temperature"
    return values[:, 1:] if two else values


def default_estimator() -> Any:
    """A linear support vector machine where the library has one, else Gaussian naive Bayes."""
    import pellucid

    if "LinearSVC" in pellucid._HOME:
        return pellucid.LinearSVC(random_state=0)
    return pellucid.GaussianNB()


class CalibratedClassifierCV(MetaEstimatorMixin, Classifier):
    """Probabilities that mean what they say, from any classifier with scores.

    Parameters
    ----------
    estimator : classifier, default=None
        With ``decision_function`` or ``predict_proba``. None: ``LinearSVC(random_state=0)`` where
        the library has it, else ``GaussianNB()``. A ``FrozenEstimator`` is not fitted again.
    method : {"sigmoid", "isotonic", "temperature"}, default="sigmoid"
        Platt's curve (few rows), a free non-decreasing curve (about 1000 rows or more), or one
        temperature for all classes.
    cv : int, splitter, iterable or None, default=None
        None is 5 stratified folds.
    n_jobs : int or None, default=None
        Folds fitted at the same time, by joblib.
    ensemble : bool or "auto", default="auto"
        True: average the calibrated classifiers of the folds. False: one classifier fitted on all
        rows, one map fitted on out-of-fold scores. "auto": False for a ``FrozenEstimator``.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    calibrated_classifiers_ : list
        Of pairs with ``estimator``, ``calibrators`` and ``predict_proba``.
    n_features_in_, feature_names_in_ : as the estimator saw them

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import CalibratedClassifierCV, GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 100)
    >>> X = rng.normal(size=(200, 1)) + y[:, None]
    >>> X = np.hstack([X, X, X])  # one fact told three times: naive Bayes is too sure of itself
    >>> model = CalibratedClassifierCV(GaussianNB()).fit(X, y)
    >>> bool(GaussianNB().fit(X, y).predict_proba(X).max() > model.predict_proba(X).max())
    True
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        method: str = "sigmoid",
        cv: Folds = None,
        n_jobs: int | None = None,
        ensemble: bool | Literal["auto"] = "auto",
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.n_jobs = n_jobs
        self.ensemble = ensemble

    def _get_estimator(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        estimator = default_estimator()
        if routing._routing_enabled():
            estimator.set_fit_request(sample_weight=True)
        return estimator

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **fit_params: Any
    ) -> Self:
        """Fit the classifier and its calibration; ``fit_params`` go to the classifier."""
        check.one_of(METHODS, method=self.method)
        if self.ensemble != "auto":
            check.boolean(ensemble=self.ensemble)
        X, y = indexable(row_table(X), y)
        labels = check_labels(y, _num_samples(X), self)
        context = FitContext(self, X=X, y=labels, sample_weight=sample_weight)
        estimator = self._get_estimator()
        score_method(estimator)
        params = self._routed(estimator, sample_weight, fit_params)
        w = np.ones(len(labels))
        if sample_weight is not None:
            w = check_weights(sample_weight, labels)
        self.classes_, codes = encode_labels(labels)
        cv = self._splitter(labels, codes)
        ensemble = self.ensemble
        if ensemble == "auto":
            ensemble = not isinstance(estimator, FrozenEstimator)
        if ensemble:
            rest = self.classes_, self.method, params.estimator.fit
            self.calibrated_classifiers_ = Parallel(n_jobs=self.n_jobs)(
                delayed(fit_pair)(clone(estimator), X, labels, codes, w, split, *rest)
                for split in cv.split(X, labels, **params.splitter.split)
            )
        else:
            pair = self._fit_once(estimator, X, labels, codes, w, cv, params)
            self.calibrated_classifiers_ = [pair]
        first = self.calibrated_classifiers_[0].estimator
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(first, name):
                setattr(self, name, getattr(first, name))
        context.end()
        return self

    def _routed(
        self, estimator: BaseEstimator, sample_weight: ArrayLike | None, fit_params: dict[str, Any]
    ) -> Any:
        """What goes to the estimator's fit and to the splitter."""
        if routing._routing_enabled():
            return routing.process_routing(self, "fit", sample_weight=sample_weight, **fit_params)
        takes = "sample_weight" in inspect.signature(estimator.fit).parameters
        options = dict(fit_params)
        if sample_weight is not None and takes:
            options["sample_weight"] = sample_weight
        elif sample_weight is not None:
            name = type(estimator).__name__
            warn(f"{name} takes no sample_weight: the weights are used for the calibration only")
        return Bunch(estimator=Bunch(fit=options), splitter=Bunch(split={}))

    def _splitter(self, labels: NDArray[Any], codes: IntArray) -> Any:
        if isinstance(self.cv, LeaveOneOut):
            why = "does not allow all classes to be present in test splits"
            raise ValueError(f"LeaveOneOut cross-validation {why}; use one such as StratifiedKFold")
        n_folds = self.cv if isinstance(self.cv, int) else getattr(self.cv, "n_splits", None)
        rarest = int(np.bincount(codes).min())
        if n_folds and rarest < n_folds:
            few = f"provided less than {n_folds} examples for at least one class"
            asked = f"Requesting {n_folds}-fold cross-validation but {few}"
            raise ValueError(f"{asked}: the rarest has {rarest}")
        return check_cv(self.cv, labels, classifier=True)

    def _fit_once(
        self,
        estimator: BaseEstimator,
        X: ArrayLike,
        y: ArrayLike,
        codes: IntArray,
        w: Array,
        cv: Folds,
        params: Any,
    ) -> CalibratedPair:
        """One classifier on all rows, one map on out-of-fold scores."""
        model = clone(estimator)
        how, fit = score_method(model), params.estimator.fit
        values = cross_val_predict(model, X, y, cv=cv, method=how, n_jobs=self.n_jobs, params=fit)
        model.fit(X, y, **fit)
        K = len(self.classes_)
        values = _shaped(values, K, self.method)
        places = np.searchsorted(self.classes_, model.classes_)
        maps = fit_calibrators(values, codes, w, places, K, self.method)
        return CalibratedPair(model, maps, self.classes_, self.method)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Calibrated probabilities, columns as ``classes_``."""
        check_is_fitted(self)
        X = row_table(X)
        parts = [pair.predict_proba(X) for pair in self.calibrated_classifiers_]
        return np.sum(parts, axis=0) / len(parts)

    def predict(self, X: ArrayLike) -> Any:
        """The class of the largest calibrated probability."""
        codes = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[codes]

    def get_metadata_routing(self) -> Any:
        """What ``fit`` passes on to the classifier and to the splitter."""
        fit = routing.MethodMapping().add(caller="fit", callee="fit")
        split = routing.MethodMapping().add(caller="fit", callee="split")
        router = routing.MetadataRouter(owner=self).add_self_request(self)
        router.add(estimator=self._get_estimator(), method_mapping=fit)
        return router.add(splitter=self.cv, method_mapping=split)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._get_estimator()).input_tags
        tags.input_tags.sparse, tags.input_tags.allow_nan = inner.sparse, inner.allow_nan
        return tags

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        pairs = self.calibrated_classifiers_
        shape, how = MAPS[self.method]
        loss = "squared error" if self.method == "isotonic" else "log loss"
        return Card(
            f"{type(pairs[0].estimator).__name__}, then {shape}",
            f"{loss} of the map on rows that the classifier has not seen",
            how,
            {"classifiers": len(pairs), "classes": len(self.classes_)},
        )


def fit_pair(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    codes: IntArray,
    w: Array,
    split: tuple[IntArray, IntArray],
    classes: NDArray[Any],
    method: str,
    params: dict[str, Any],
) -> CalibratedPair:
    """Fit the classifier on the training rows and its map on the test rows."""
    train, test = split
    options = _check_method_params(X, params=params, indices=train)
    estimator.fit(_safe_indexing(X, train), _safe_indexing(y, train), **options)
    values = raw_scores(estimator, _safe_indexing(X, test), len(classes), method)
    places = np.searchsorted(classes, estimator.classes_)
    maps = fit_calibrators(values, codes[test], w[test], places, len(classes), method)
    return CalibratedPair(estimator, maps, classes, method)
