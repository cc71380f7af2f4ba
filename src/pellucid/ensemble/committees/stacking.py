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

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_is_fitted

from pellucid.base import (
    Classifier,
    Regressor,
    check_labels,
    check_number_target,
    encode_labels,
    with_callbacks,
)
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds
from pellucid.core.loops.iterate import FitContext
from pellucid.ensemble.committees.stacking_model import METHODS, Stacking
from pellucid.linear.logistic.logistic import LogisticRegression
from pellucid.linear.ridge.ridge_cv import RidgeCV


def _final_has(method: str) -> Any:
    def has(self: Any) -> bool:
        final = getattr(self, "final_estimator_", self.final_estimator)
        return hasattr(LogisticRegression() if final is None else final, method)

    return has


class StackingClassifier(Stacking, Classifier):
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
        Accepted without effect.

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

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the members and the meta-model; ``params`` go to the members."""
        check.one_of(("auto", *METHODS), stack_method=self.stack_method)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        final = self._open_final(LogisticRegression())
        X = self._open_training(X)
        self.classes_, codes = encode_labels(check_labels(y, _num_samples(X), self))
        self._fit_levels(X, codes, final, sample_weight, params)
        context.end()
        return self

    @available_if(_final_has("predict"))
    def predict(self, X: ArrayLike, **params: Any) -> Any:
        """The labels that the meta-model says; ``params`` go to its ``predict``."""
        check_is_fitted(self)
        said = self.final_estimator_.predict(self._meta(X), **self._final_params(params))
        return self.classes_[np.asarray(said).astype(np.intp)]

    @available_if(_final_has("predict_proba"))
    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the meta-model."""
        check_is_fitted(self)
        return self.final_estimator_.predict_proba(self._meta(X))

    @available_if(_final_has("decision_function"))
    def decision_function(self, X: ArrayLike) -> Array:
        """Scores of the meta-model."""
        check_is_fitted(self)
        return self.final_estimator_.decision_function(self._meta(X))


class StackingRegressor(Stacking, Regressor):
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

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Fit the members and the meta-model; ``params`` go to the members."""
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        final = self._open_final(RidgeCV())
        X = self._open_training(X)
        target = check_number_target(y, _num_samples(X), False, self)
        self._fit_levels(X, target, final, sample_weight, params)
        context.end()
        return self

    def predict(self, X: ArrayLike, **params: Any) -> Any:
        """What the meta-model says; ``params`` go to its ``predict``."""
        check_is_fitted(self)
        return self.final_estimator_.predict(self._meta(X), **self._final_params(params))
