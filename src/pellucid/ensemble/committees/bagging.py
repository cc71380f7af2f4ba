r"""Bagging: the same learner on many bootstrap samples, averaged.

Answer        classes: argmax of the mean probability (soft) or the majority (hard);
              numbers: mean or median of the members
Why           the mean of B members of variance s^2 and correlation r has variance
              r s^2 + (1 - r) s^2 / B: unstable learners gain, stable ones hardly
Out of bag    each row judged by the members that have not seen it

With our trees as members the forest's grower is used: columns are prepared once for all.

References: Breiman (1996); ESL, section 8.7.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.metrics import r2_score
from sklearn.utils.metaestimators import available_if

from pellucid.base import Classifier, Regressor, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import fitted
from pellucid.core.records import Card
from pellucid.ensemble.committees.bagging_model import Bagging, take_columns
from pellucid.ensemble.committees.bootstrap import Bootstrap, Sampling, class_factor
from pellucid.ensemble.committees.constant import ConstantClassifier
from pellucid.tree.classifier import DecisionTreeClassifier
from pellucid.tree.growing import Classes
from pellucid.tree.regressor import DecisionTreeRegressor

__all__ = ["BaggingClassifier", "BaggingRegressor"]


def _members_decide(model: BaseEstimator) -> bool:
    """Whether every member says a score per class: a member that missed a class cannot."""
    members = getattr(model, "estimators_", None)
    if model.voting != "soft":
        return False
    if members is None:
        base = model.estimator if isinstance(model.estimator, list) else [model.estimator]
        return all(hasattr(one, "decision_function") for one in base)
    return all(
        hasattr(one, "decision_function")
        and not isinstance(one, ConstantClassifier)
        and np.array_equal(one.classes_, model.classes_)
        for one in members
    )


class BaggingClassifier(Bagging, Classifier):
    """Classifiers on resampled rows, joined by mean probability or by vote.

    ``sample_weight`` equals repetition; the same model for any ``n_jobs``.

    Parameters
    ----------
    estimator : estimator, list of estimators or None, default=None
        The base learner (None: ``DecisionTreeClassifier``); a list is used in turn.
    n_estimators : int, default=10
        Members.
    max_samples : int, float or None, default=None
        Rows that each member draws; None: as many as there are.
    max_features : int or float, default=1.0
        Features that each member sees.
    bootstrap : bool, default=True
        Draw rows with replacement.
    bootstrap_features : bool, default=False
        Draw features with replacement.
    oob_score : bool, default=False
        The out-of-bag attributes are there in any case; True warns where more than 5 % of the rows
        have no answer.
    warm_start : bool, default=False
        Keep the members of the fit before and add the missing ones.
    n_jobs : int, default=None
        Members fitted at a time (trees: threads).
    random_state : int, RandomState, Generator or None, default=None
        Seed of the draws and of the members.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    sampling : "bootstrap", Bootstrap, Disjoint or None, default="bootstrap"
        What each member sees; wins over ``bootstrap`` and ``max_samples`` when not the default.
    voting : {"soft", "hard"}, default="soft"
        Mean probability, or majority of the members' answers (the first of equals). Members
        without ``predict_proba`` vote in any case.

    Attributes
    ----------
    estimators_, estimators_samples_, estimators_features_ : list
        Members, the rows they saw (with repetition), the features they saw.
    estimator_ : the base learner
    oob_score_, oob_decision_function_
        Accuracy and mean probabilities (n, K) out of bag; NaN for rows that all members saw.
    oob_member_scores_ : ndarray of shape (n_estimators,)
        Accuracy of each member on its own out-of-bag rows.
    classes_, n_classes_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from pellucid import BaggingClassifier, GaussianNB
    >>> X, y = [[i] for i in range(20)], [0] * 10 + [1] * 10
    >>> model = BaggingClassifier(GaussianNB(), 20, random_state=0).fit(X, y)
    >>> model.predict([[2], [17]]).tolist(), len(model.estimators_)
    ([0, 1], 20)
    """

    def __init__(
        self,
        estimator: BaseEstimator | Sequence[BaseEstimator] | None = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        sampling: Sampling = "bootstrap",
        voting: str = "soft",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.sampling = sampling
        self.voting = voting

    def _default(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier()

    def _fast(self, y: Any) -> Any:
        return Classes(y.reshape(-1, 1), np.array([len(self.classes_)]))

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the members, each on its own draw of rows and features."""
        check.one_of(("soft", "hard"), voting=self.voting)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        rows = self._check_training(X, y, sample_weight)
        w = np.array(rows.w)
        self.n_classes_, self.n_outputs_ = len(self.classes_), 1
        self._codes = rows.y
        self._grow(rows.X, self.classes_[rows.y], rows.y, w)
        del self._codes
        self._judge(rows.X, rows.y, w)
        context.end()
        return self

    def _fit_member(
        self, model: BaseEstimator, X: np.ndarray, answers: NDArray[Any], params: dict[str, Any]
    ) -> Any:
        if (answers == answers[0]).all():
            return ConstantClassifier().fit(X, answers)
        return fitted(model, X, answers, **params)

    def _row_factor(self, target: Classes | Array | None, w: Array) -> Any:
        wanted = self.sampling.class_weight if isinstance(self.sampling, Bootstrap) else None
        if wanted is None or isinstance(wanted, str):
            return class_factor(wanted, self._codes.reshape(-1, 1), w)
        table = np.array([float(wanted.get(label, 1.0)) for label in self.classes_.tolist()])
        fixed = table[self._codes]
        return lambda counts: fixed

    def _member_shares(self, model: BaseEstimator, X: np.ndarray) -> Array:
        """Probabilities, or one vote, of one member in the order of ``classes_``."""
        shares = np.zeros((X.shape[0], len(self.classes_)))
        if self.voting == "hard" or not hasattr(model, "predict_proba"):
            answer = np.searchsorted(self.classes_, model.predict(X))
            shares[np.arange(len(shares)), answer] = 1.0
            return shares
        found = np.asarray(model.predict_proba(X))
        known = np.isin(model.classes_, self.classes_)
        places = np.searchsorted(self.classes_, model.classes_[known])
        shares[:, places] = found[:, known]
        return shares

    def _judge(self, X: np.ndarray, codes: IntArray, w: Array) -> None:
        """The out-of-bag attributes."""
        n, K = X.shape[0], len(self.classes_)
        total, votes = np.zeros((n, K)), np.zeros(n)
        scores = np.full(len(self.estimators_), np.nan)
        for b, (model, features) in enumerate(self._members()):
            rows = self._out_of_bag(b, w)
            if len(rows) == 0:
                continue
            shares = self._member_shares(model, take_columns(X[rows], features))
            scores[b] = np.average(shares.argmax(axis=1) == codes[rows], weights=w[rows])
            total[rows] += shares
            votes[rows] += 1
        seen = votes > 0
        self._warn_never(int(np.count_nonzero(~seen & (w > 0))))
        total[seen] /= votes[seen, None]
        total[~seen] = np.nan
        self.oob_member_scores_, self.oob_decision_function_ = scores, total
        right = total[seen].argmax(axis=1) == codes[seen]
        self.oob_score_ = float(np.average(right, weights=w[seen])) if seen.any() else float("nan")

    def predict_proba(self, X: ArrayLike) -> Array:
        """Mean probabilities of the members; with ``voting="hard"`` shares of their votes."""
        rows = self._check_input(X)
        total = np.zeros((rows.shape[0], len(self.classes_)))
        for model, features in self._members():
            total += self._member_shares(model, take_columns(rows, features))
        return total / len(self.estimators_)

    @available_if(_members_decide)
    def decision_function(self, X: ArrayLike) -> Array:
        """Mean score of the members; where all have one, saw all classes and vote softly."""
        rows = self._check_input(X)
        found = [m.decision_function(take_columns(rows, f)) for m, f in self._members()]
        return np.asarray(np.mean(found, axis=0))

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> Any:
        """The class of the largest probability, or of most votes; the first of equals."""
        answer = self.predict_proba(X).argmax(axis=1)  # before classes_: there may be none yet
        return self.classes_[answer]

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        how = "mean probability" if self.voting == "soft" else "majority vote"
        return self._card(how, "classifiers")


class BaggingRegressor(Bagging, Regressor):
    """Regressors on resampled rows, joined by their mean or median.

    Parameters
    ----------
    estimator : estimator, list of estimators or None, default=None
        The base learner (None: ``DecisionTreeRegressor``); a list is used in turn.
    combine : {"mean", "median"}, default="mean"
        How the members' answers are joined.
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features, oob_score, warm_start, \
n_jobs, random_state, verbose, sampling
        As in ``BaggingClassifier``.

    Attributes
    ----------
    estimators_, estimators_samples_, estimators_features_, estimator_
    oob_score_, oob_prediction_, oob_member_scores_
        R squared and answers out of bag, R squared of each member on its own out-of-bag rows.

    Examples
    --------
    >>> from pellucid import BaggingRegressor, Ridge
    >>> X, y = [[0], [1], [2], [3]], [1, 3, 5, 7]
    >>> model = BaggingRegressor(Ridge(1e-9), random_state=0).fit(X, y)
    >>> model.predict([[4]]).round(6).tolist()
    [9.0]
    """

    _squares_y = True

    def __init__(
        self,
        estimator: BaseEstimator | Sequence[BaseEstimator] | None = None,
        n_estimators: int = 10,
        *,
        max_samples: float | None = None,
        max_features: float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Seed = None,
        verbose: int = 0,
        sampling: Sampling = "bootstrap",
        combine: str = "mean",
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.sampling = sampling
        self.combine = combine

    def _default(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor()

    def _fast(self, y: Any) -> Any:
        return y.reshape(len(y), -1)

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the members, each on its own draw of rows and features."""
        check.one_of(("mean", "median"), combine=self.combine)
        context = FitContext(self, X=X, y=y, sample_weight=sample_weight)
        rows = self._check_training(X, y, sample_weight)
        w = np.array(rows.w)
        self.n_outputs_ = rows.y.reshape(len(rows.y), -1).shape[1]
        self._grow(rows.X, rows.y, None, w)
        self._judge(rows.X, rows.y, w)
        context.end()
        return self

    def _judge(self, X: np.ndarray, y: Array, w: Array) -> None:
        """The out-of-bag attributes."""
        answers = np.full((len(self.estimators_), *y.shape), np.nan)
        scores = np.full(len(self.estimators_), np.nan)
        for b, (model, features) in enumerate(self._members()):
            rows = self._out_of_bag(b, w)
            if len(rows) == 0:
                continue
            found = np.asarray(model.predict(take_columns(X[rows], features)))
            answers[b, rows] = found.reshape(answers[b, rows].shape)
            if len(rows) > 1:
                scores[b] = r2_score(y[rows], answers[b, rows], sample_weight=w[rows])
        flat = answers.reshape(len(answers), len(y), -1)
        seen = ~np.isnan(flat[:, :, 0]).all(axis=0)
        self._warn_never(int(np.count_nonzero(~seen & (w > 0))))
        joined = np.full(y.shape, np.nan)
        join = np.nanmedian if self.combine == "median" else np.nanmean
        if seen.any():
            joined[seen] = join(answers[:, seen], axis=0)
        self.oob_member_scores_, self.oob_prediction_ = scores, joined
        self.oob_score_ = float("nan")
        if np.count_nonzero(seen) > 1:
            self.oob_score_ = float(r2_score(y[seen], joined[seen], sample_weight=w[seen]))

    def predict(self, X: ArrayLike) -> Any:
        """The mean (or median) of the members' answers."""
        rows = self._check_input(X)
        found = [np.asarray(m.predict(take_columns(rows, f))) for m, f in self._members()]
        return (np.median if self.combine == "median" else np.mean)(found, axis=0)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        return self._card(self.combine, "regressors")
