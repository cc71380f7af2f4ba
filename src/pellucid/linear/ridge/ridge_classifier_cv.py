r"""Ridge classification that chooses its own penalty.

Targets      -1 and +1, as ``ridge_classifier.py``
Criterion    ``cv=None``: leave one out, exact, from one decomposition for all alphas
             (``leave_one_out.py``): mean squared error of the targets, or ``scoring`` of the class
             that each left-out row would get. Folds: accuracy or ``scoring`` of each test fold
             (``folds.py``: one pass for the sums of all folds, one eigendecomposition per fold)
Fit          the exact fit of ``RidgeClassifier`` at the best alpha
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Wide, gather
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Map, Numbers
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Source, is_unit
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.linear.linear_model import finite_moments
from pellucid.linear.ridge import leave_one_out as loo
from pellucid.linear.ridge.folds import take, training_fits, weighted_scorer
from pellucid.linear.ridge.ridge import fit_ridge, fit_ridge_wide
from pellucid.linear.ridge.ridge_classifier import ClassWeights, SignedTargets, of_ridge
from pellucid.linear.ridge.ridge_cv import (
    CELLS,
    Problem,
    every_error,
    get_metadata_routing,
    make_problem,
    read_folds,
    rowwise_criterion,
    splitter_parameters,
)


class GivenScores(ClassifierMixin, BaseEstimator):
    """What a scorer is handed: its "X" are the scores of the targets."""

    def __init__(self, classes: ArrayLike | None = None, multilabel: bool = False) -> None:
        self.classes, self.multilabel = classes, multilabel

    @property
    def classes_(self) -> Any:
        return self.classes

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        return self

    def decision_function(self, X: Array) -> Array:
        return X[:, 0] if X.shape[1] == 1 else X

    def predict(self, X: Array) -> Any:
        if self.multilabel:
            return (X > 0).astype(int)
        codes = (X[:, 0] > 0).astype(int) if X.shape[1] == 1 else X.argmax(axis=1)
        return np.asarray(self.classes)[codes]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class RidgeClassifierCV(SignedTargets):
    """Ridge classification with the penalty chosen by cross-validation.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,) or None, default=(0.1, 1.0, 10.0)
        Penalties to try, >= 0 (0 only where the columns are independent). None: 100 of them, from
        a hundredth of the smallest squared singular value to a hundred times the largest.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    scoring : str, callable or None, default=None
        A scikit-learn scorer of classes. None: mean squared error of the targets in leave-one-out,
        accuracy in folds. In leave-one-out the scorer sees the numbers of the classes, 0 .. K-1,
        as in scikit-learn; in folds their labels.
    cv : None, "gcv", int, splitter or iterable of (train, test), default=None
        None: exact leave-one-out. "gcv": generalised cross-validation, MSE/(1 - tr H/n)^2.
    class_weight : None, "balanced", dict or list of dict, default=None
        What a row of each class counts; "balanced" is N/(K n_k). A list: one for each label.
    store_cv_results : bool, default=False
        Keep the squared errors (with ``scoring``: the scores) of every row, target and alpha.

    Attributes
    ----------
    alpha_, best_score_ : the choice and its score
    alphas_, criterion_ : the penalties tried; mean squared error, or minus the score, of each
    cv_results_ : (n, n_targets, n_alphas), if asked for
    coef_, intercept_, classes_, rss_ : as ``RidgeClassifier`` at ``alpha_``

    Examples
    --------
    >>> from pellucid import RidgeClassifierCV
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [5.0], [6.0]], [0, 0, 0, 1, 1, 1]
    >>> model = RidgeClassifierCV(alphas=[0.1, 1.0, 10.0]).fit(X, y)
    >>> model.alpha_, model.criterion_.round(4), model.predict([[2.5], [3.5]])
    (1.0, array([0.2869, 0.271 , 0.3276]), array([0, 1]))
    """

    def __init__(
        self,
        alphas: Numbers | None = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: str | Callable[..., float] | None = None,
        cv: Folds | Literal["gcv"] = None,
        class_weight: ClassWeights = None,
        store_cv_results: bool = False,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.class_weight = class_weight
        self.store_cv_results = store_cv_results

    def _in_folds(self) -> bool:
        return self.cv is not None and not isinstance(self.cv, str)

    def _check_parameters(self) -> None:
        check.boolean(fit_intercept=self.fit_intercept, store_cv_results=self.store_cv_results)
        if isinstance(self.cv, str):
            check.one_of(("gcv",), cv=self.cv)
        if self._in_folds() and self.store_cv_results:
            raise ValueError("store_cv_results=True needs cv=None or cv='gcv'")

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Choose the penalty and fit all rows with it; routing sends ``params`` to the folds."""
        asked = splitter_parameters(self, params)
        rows = self._check_training(X, y, sample_weight)
        context = FitContext.of_one_step(self, rows.X, rows.y, sample_weight)
        self._fit_rows(rows, map_threads, asked)
        context.end()
        return self

    get_metadata_routing = get_metadata_routing

    def _fit_rows(
        self, rows: Source, map_: Map, asked: Mapping[str, Any] = MappingProxyType({})
    ) -> None:
        self._check_parameters()
        if rows.n_rows < 2:
            few = f"n_samples={rows.n_rows}"
            raise ValueError(f"RidgeClassifierCV needs at least 2 rows to leave one out, got {few}")
        plain = self.scoring is None and not self._in_folds() and not self.store_cv_results
        if not isinstance(rows, Rows) and not plain:
            raise ValueError("fit_blocks needs cv=None or 'gcv', scoring=None, no cv_results_")
        source = self._targets(rows, map_)
        if not plain:
            source = gather(source)
        p = self.n_features_in_
        total = None if rows.n_rows <= p else finite_moments(self, source, rows, map_)
        unknowns = "centred" if self.fit_intercept else "slopes"
        problem = make_problem(source, map_, total, p, self.alphas, unknowns)
        self.__dict__.pop("cv_results_", None)
        if plain:
            gcv = self.cv == "gcv"
            loss = rowwise_criterion(problem, svd=False, gcv=gcv, separate=False).mean
        elif self._in_folds():
            loss = self._loss_in_folds(problem, cast("Rows", rows), asked)
        else:
            loss = self._loss_of_rows(problem, cast("Rows", rows))
        self._finish(problem, loss)

    def _loss_of_rows(self, problem: Problem, rows: Rows) -> Array:
        """Leave-one-out where a scorer, or the caller, wants every row."""
        source = cast("Rows", problem.rows)
        labels = (rows.y > 0).astype(int) if self._multilabel else rows.y
        score = None
        if self.scoring is not None:
            scorer = check_scoring(estimator=self, scoring=self.scoring)
            score = weighted_scorer(scorer, not is_unit(source.w))
        (n, k), A = source.y.shape, len(problem.alphas)
        size = A if self.store_cv_results else max(1, CELLS // (n * k))
        judge, loss, kept = (
            GivenScores(np.arange(len(self.classes_)), self._multilabel),
            np.empty(A),
            [],
        )
        for start in range(0, A, size):
            part = slice(start, start + size)
            errors, w = every_error(problem, part, svd=False, gcv=self.cv == "gcv")
            if score is None:
                loss[part] = loo.criterion_of_errors(errors, w, separate=False).mean
                kept.append(errors**2)
                continue
            scores = source.y[:, :, None] - errors
            kept.append(scores)
            for j in range(scores.shape[2]):
                loss[start + j] = -score(judge, scores[:, :, j], labels, source.w)
        if self.store_cv_results:
            self.cv_results_ = np.concatenate(kept, axis=2)
        return loss

    def _loss_in_folds(self, problem: Problem, rows: Rows, asked: Mapping[str, Any]) -> Array:
        """Minus the mean score of the test folds, for every alpha."""
        source = cast("Rows", problem.rows)
        labels = (rows.y > 0).astype(int) if self._multilabel else self.classes_[rows.y]
        splitter = check_cv(self.cv, labels, classifier=True)
        folds = read_folds(splitter.split(source.X, labels, **asked), source.w)
        scorer = check_scoring(estimator=self, scoring=self.scoring or "accuracy")
        score = weighted_scorer(scorer, not is_unit(source.w))
        total = None if isinstance(problem.data, Wide) else problem.data.total
        judge = GivenScores(self.classes_, self._multilabel)
        table = np.empty((len(folds), len(problem.alphas)))
        for i, fold in enumerate(folds):
            coef, intercept = training_fits(source, total, fold, problem.alphas, problem.unknowns)
            test = take(source, fold.test)
            for j in range(len(problem.alphas)):
                scores = test.X @ coef[:, :, j] + intercept[:, j]
                table[i, j] = score(judge, scores, labels[fold.test], test.w)
        return -table.mean(axis=0)

    def _finish(self, problem: Problem, loss: Array) -> None:
        if not np.isfinite(loss).any():
            raise ValueError("no alpha has a finite score; look at scoring and at the data")
        chosen = int(np.nanargmin(np.where(np.isfinite(loss), loss, np.nan)))
        self.alphas_, self.criterion_ = problem.alphas, loss
        self.alpha_, self.best_score_ = float(problem.alphas[chosen]), float(-loss[chosen])
        best = np.full(problem.found.beta.shape[1], self.alpha_)
        if isinstance(problem.data, Wide):
            fit = fit_ridge_wide(problem.data, best, problem.unknowns, problem.found)
        else:
            fit = fit_ridge(problem.data, best, "auto", problem.found)
        self._set(of_ridge(fit), problem.rows.n_rows)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        how: dict[Any, str] = {None: "leave-one-out", "gcv": "generalised cross-validation"}
        name = "cross-validation in folds" if self._in_folds() else how[self.cv]
        first, last = self.alphas_.min(), self.alphas_.max()
        text = f"alpha by {name} over {len(self.alphas_)} values from {first:.3g} to {last:.3g}"
        numbers = {"classes": len(self.classes_), "alpha": self.alpha_, "rss": self.rss_}
        card = self._card(self.alpha_, text, {**numbers, "best_score": self.best_score_})
        if self.alpha_ in (first, last) and len(self.alphas_) > 1:
            edge = "the chosen alpha is at an end of the values tried: try further ones"
            card = card._replace(warnings=(*card.warnings, edge))
        return card
