r"""Stacking: a meta-model g on what different models say.

Level 0     members f_1..f_M;  z(x) = (f_1(x), .., f_M(x)): probabilities, decisions or answers
Level 1     g fitted to (z_i, y_i);  answer g(z(x))

What a member says of rows it was fitted to is too good, so z_i must come from elsewhere:

out of fold  z_i from the member fitted without the fold of row i, members refitted on all rows
one split    members on the train part, g on the separate part D', nothing refitted
prefit       members fitted before; g on the rows given now, which they should not have seen
same         z_i in-sample: the simple version, which trusts overfitted members (warned)

References: Wolpert (1992); Breiman (1996), Stacked regressions; ESL, section 8.8.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import hstack, issparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils._metadata_requests import _routing_enabled
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    _raise_for_params,
    process_routing,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    _check_feature_names_in,
    _num_samples,
    check_is_fitted,
    has_fit_parameter,
)

from pellucid import base
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.typing import Array, ArrayLike, Folds
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import fitted, rows_of
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.ensemble.committees.committee import Committee, class_columns, fit_member
from pellucid.linear.logistic.logistic import LogisticRegression
from pellucid.linear.ridge.ridge_cv import RidgeCV

METHODS = ("predict_proba", "decision_function", "predict")


class Level(NamedTuple):
    """Fitted members, and what they say of the rows that the meta-model learns from."""

    members: list[Any]
    said: list[Array]
    rows: Any  # indices of those rows, or None for all


def response_method(name: str, estimator: BaseEstimator, wanted: str) -> str:
    """The method by which a member speaks."""
    for method in METHODS if wanted == "auto" else (wanted,):
        if hasattr(estimator, method):
            return method
    raise ValueError(f"Underlying estimator {name} does not implement the method {wanted}.")


def check_partition(splits: list[Any], n: int) -> None:
    """Refuse folds that do not hold every row once."""
    tested = np.concatenate([np.zeros(0, int), *(np.asarray(test) for _, test in splits)])
    if len(tested) != n or len(np.unique(tested)) != n:
        found = f"{len(splits)} splits, {len(np.unique(tested))} of {n} rows, {len(tested)} places"
        raise ValueError(f"cv must be one split, or folds that hold every row once; got {found}")


class Stacking(Committee):
    """Members, then a meta-model on what they say; a leaf class says what y is."""

    def _wanted(self) -> str:
        return "predict"

    def _open_final(self, default: Any) -> Any:
        final = default if self.final_estimator is None else self.final_estimator
        right, kind = self._kind()
        if not hasattr(final, "fit") or not right(final):
            raise ValueError(f"final_estimator must be a {kind}, got {final!r}")
        return clone(final)

    def _open_training(self, X: ArrayLike) -> Any:
        check.boolean(passthrough=self.passthrough)
        if isinstance(self.cv, str):
            check.one_of(("prefit", "same"), cv=self.cv)
        self._members()
        return self._open(X, reset=True)

    def _fit_levels(
        self, X: Any, y: Any, final: Any, sample_weight: Any, params: dict[str, Any]
    ) -> None:
        """Fit the members, then the meta-model on what they say."""
        members = self._members()
        names = [name for name, _ in members]
        routed = self._routed(names, X, sample_weight, params)
        methods = [response_method(name, one, self._wanted()) for name, one in members]
        level = self._first_level(members, methods, X, y, routed)
        self.estimators_, self.stack_method_ = level.members, methods
        weights = {} if sample_weight is None else {"sample_weight": np.asarray(sample_weight)}
        if weights and not has_fit_parameter(final, "sample_weight"):
            name = type(final).__name__
            raise TypeError(f"Underlying estimator {name} does not support sample weights.")
        if level.rows is not None:
            weights = rows_of(weights, X, level.rows)
            X, y = _safe_indexing(X, level.rows), y[level.rows]
        Z = self._join(X, level.said)
        self.final_estimator_ = fitted(final, Z, y, **weights)

    def _first_level(
        self, members: Any, methods: list[str], X: ArrayLike, y: ArrayLike, routed: dict[str, Any]
    ) -> Level:
        if isinstance(self.cv, str) and self.cv == "prefit":
            for _, one in members:
                check_is_fitted(one)
            fitted = [one for _, one in members]
            return Level(fitted, self._say(fitted, methods, X), None)
        whole: list[Any] = [(fit_member, (one, X, y, routed[name])) for name, one in members]
        if isinstance(self.cv, str):
            warn(
                "cv='same': the meta-model learns from what members say of their own training "
                "rows, so it trusts overfitted ones; cv=5 does not leak"
            )
            fitted = self._all_fits(whole)
            return Level(fitted, self._say(fitted, methods, X), None)
        n = _num_samples(X)
        splits = list(check_cv(self.cv, y, classifier=is_classifier(self)).split(X, y))
        if len(splits) == 1:
            train, test = splits[0]
            if len(np.intersect1d(train, test)):
                raise ValueError("cv: the part for the meta-model must be separate from the other")
            fitted = self._all_fits(self._part(whole, train))
            return Level(fitted, self._say(fitted, methods, _safe_indexing(X, test)), test)
        check_partition(splits, n)
        found = self._all_fits(chain(whole, self._fold_jobs(whole, methods, splits)))
        M = len(members)
        said: list[Any] = [None] * M
        for at, part in enumerate(found[M:]):
            m, test = at % M, splits[at // M][1]
            if said[m] is None:
                said[m] = np.empty((n, *part.shape[1:]))
            said[m][test] = part
        return Level(found[:M], said, None)

    @staticmethod
    def _part(whole: list[Any], rows: Any) -> list[Any]:
        """The same fits on some of the rows, which are taken once for all members."""
        _, (_, X, y, _) = whole[0]
        part = _safe_indexing(X, rows), y[rows]
        return [(fit, (one, *part, rows_of(params, X, rows))) for fit, (one, _, _, params) in whole]

    def _fold_jobs(self, whole: list[Any], methods: list[str], splits: list[Any]) -> Iterator[Any]:
        """A fold after the other, so that the rows of few are held at once."""
        _, (_, X, _, _) = whole[0]
        for train, test in splits:
            unseen = _safe_indexing(X, test)
            for job, method in zip(self._part(whole, train), methods, strict=True):
                yield self._ask, (job, method, unseen)

    def _ask(self, job: Any, method: str, unseen: Any) -> Array:
        """What a member fitted to some rows says of others."""
        function, arguments = job
        return self._say([function(*arguments)], [method], unseen)[0]

    def _say(self, members: list[Any], methods: list[str], X: ArrayLike) -> list[Array]:
        """What each member says, (n, columns)."""
        K = len(getattr(self, "classes_", ()))
        said = []
        for model, method in zip(members, methods, strict=True):
            found = np.asarray(getattr(model, method)(X), dtype=np.float64)
            if method == "predict_proba" and K:
                found = class_columns(model, found, K)
                found = found[:, 1:] if K == 2 else found  # both columns say the same
            said.append(found.reshape(len(found), -1))
        return said

    def _join(self, X: ArrayLike, said: list[Array]) -> Any:
        """The columns of the meta-model."""
        self._widths = [part.shape[1] for part in said]
        if not self.passthrough:
            return np.hstack(said)
        if issparse(X):
            return hstack([*said, X], format="csr")
        return np.hstack([*said, frame_matrix(X) if is_frame(X) else np.asarray(X)])

    def _meta(self, X: ArrayLike) -> Any:
        X = self._open(X, reset=False)
        return self._join(X, self._say(self.estimators_, self.stack_method_, X))

    def _answer(self, method: str, X: ArrayLike, /, **params: Any) -> Any:
        """What the meta-model says of what the members say."""
        Z = self._meta(X)
        return getattr(self.final_estimator_, method)(Z, **params)

    def transform(self, X: ArrayLike) -> Any:
        """What the members say, and X itself with ``passthrough``."""
        return self._meta(X)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """Names of the columns of ``transform``."""
        check_is_fitted(self, "n_features_in_")
        inputs = _check_feature_names_in(self, input_features, generate_names=self.passthrough)
        own = type(self).__name__.lower()
        names = []
        for (name, _), width in zip(self._given(), self._widths, strict=True):
            parts = [""] if width == 1 else [str(k) for k in range(width)]
            names += [f"{own}_{name}{part}" for part in parts]
        return np.asarray([*names, *(inputs if self.passthrough else ())], dtype=object)

    def get_metadata_routing(self) -> MetadataRouter:
        """Which member asks for which metadata."""
        final = getattr(self, "final_estimator_", self.final_estimator)
        mapping = MethodMapping().add(caller="predict", callee="predict")
        return super().get_metadata_routing().add(final_estimator_=final, method_mapping=mapping)

    def _final_params(self, params: dict[str, Any]) -> dict[str, Any]:
        if not _routing_enabled():
            return params
        return dict(process_routing(self, "predict", **params).final_estimator_["predict"])

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        kinds = ", ".join(type(model).__name__ for model in self.estimators_)
        final = type(self.final_estimator_).__name__
        how = {
            "prefit": "on rows given after the members were fitted",
            "same": "on the members' own training rows (it leaks)",
        }.get(self.cv if isinstance(self.cv, str) else "", "on answers to rows not trained on")
        return Card(
            representation=f"{final} on what {len(self.estimators_)} models say ({kinds})",
            evaluation=f"whatever each member and {final} minimise",
            optimisation=f"the members first, then {final} {how}",
            numbers={"members": len(self.estimators_), "columns of level 1": sum(self._widths)},
        )


def _final_has(method: str) -> Any:
    def has(self: Any) -> bool:
        final = getattr(self, "final_estimator_", self.final_estimator)
        return callable(getattr(LogisticRegression() if final is None else final, method))

    return has  # the AttributeError of the meta-model is the cause of ours


class StackingClassifier(Stacking, base.Classifier):
    """A meta-classifier on what different classifiers say.

    The members are fitted to the codes 0..K-1 of the sorted labels.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; ``set_params(name="drop")`` leaves one out.
    final_estimator : classifier or None, default=None
        The meta-model; None: ``LogisticRegression()``.
    cv : int, splitter, iterable, "prefit", "same" or None, default=None
        Where the rows of the meta-model come from: out of folds (None: 5), from one separate part
        where the splitter gives one split, from members fitted before, or in-sample (warned).
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What the members say; "auto": the first of the three that they have.
    n_jobs : int or None, default=None
        Fits at a time, in threads.
    passthrough : bool, default=False
        Give the meta-model X too.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.

    Attributes
    ----------
    estimators_, named_estimators_, final_estimator_
        The fitted members and meta-model.
    stack_method_ : list of str
    classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import DecisionTreeClassifier, GaussianNB, StackingClassifier
    >>> X, y = [[i] for i in range(20)], ["a"] * 10 + ["b"] * 10
    >>> model = StackingClassifier([("bayes", GaussianNB()), ("tree", DecisionTreeClassifier())])
    >>> model.fit(X, y).predict([[2], [17]]).tolist(), model.stack_method_
    (['a', 'b'], ['predict_proba', 'predict_proba'])
    """

    def __init__(
        self,
        estimators: Sequence[tuple[str, BaseEstimator]],
        final_estimator: BaseEstimator | None = None,
        *,
        cv: Folds | Literal["prefit", "same"] = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    def _wanted(self) -> str:
        return self.stack_method

    def _check_member(self, name: str, one: object) -> None:
        if not hasattr(one, "fit"):  # a regressor of ordered labels may be one too
            raise ValueError(f"the estimator {name!r} must have fit, got {one!r}")

    @base.with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the members and the meta-model; ``params`` go to the members."""
        _raise_for_params(params, self, "fit")
        check.one_of(("auto", *METHODS), stack_method=self.stack_method)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        final = self._open_final(LogisticRegression())
        X = self._open_training(X)
        self.classes_, codes = base.encode_labels(base.check_labels(y, _num_samples(X), self))
        self._fit_levels(X, codes, final, sample_weight, params)
        context.end()
        return self

    @available_if(_final_has("predict"))
    def predict(self, X: ArrayLike, **params: Any) -> Any:
        """The labels that the meta-model says; ``params`` go to its ``predict``."""
        check_is_fitted(self)
        said = self._answer("predict", X, **self._final_params(params))
        return self.classes_[np.asarray(said).astype(np.intp)]

    @available_if(_final_has("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the meta-model."""
        return self._answer("predict_proba", X)

    @available_if(_final_has("decision_function"))
    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of the meta-model."""
        return self._answer("decision_function", X)


class StackingRegressor(Stacking, base.Regressor):
    """A meta-regressor on what different regressors say.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members by name; ``set_params(name="drop")`` leaves one out.
    final_estimator : regressor or None, default=None
        The meta-model; None: ``RidgeCV()``.
    cv, n_jobs, passthrough, verbose
        As in ``StackingClassifier``.

    Attributes
    ----------
    estimators_, named_estimators_, final_estimator_, stack_method_
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import DecisionTreeRegressor, Ridge, StackingRegressor
    >>> X, y = [[i] for i in range(20)], [2.0 * i for i in range(20)]
    >>> model = StackingRegressor([("line", Ridge(1e-6)), ("tree", DecisionTreeRegressor())])
    >>> model.fit(X, y).predict([[30]]).shape
    (1,)
    """

    _multi_output = False

    def __init__(
        self,
        estimators: Sequence[tuple[str, BaseEstimator]],
        final_estimator: BaseEstimator | None = None,
        *,
        cv: Folds | Literal["prefit", "same"] = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.n_jobs = n_jobs
        self.passthrough = passthrough
        self.verbose = verbose

    @base.with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the members and the meta-model; ``params`` go to the members."""
        _raise_for_params(params, self, "fit")
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        final = self._open_final(RidgeCV())
        X = self._open_training(X)
        target = base.check_number_target(y, _num_samples(X), False, self)
        self._fit_levels(X, target, final, sample_weight, params)
        context.end()
        return self

    def predict(self, X: ArrayLike, **params: Any) -> Any:
        """What the meta-model says; ``params`` go to its ``predict``."""
        check_is_fitted(self)
        return self._answer("predict", X, **self._final_params(params))
