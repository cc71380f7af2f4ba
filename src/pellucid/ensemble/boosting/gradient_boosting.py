r"""Gradient boosting with exact trees: gradient descent in the space of functions.

Model        F(x) = F_0(x) + rate sum_t v_t[leaf of x in tree t]
Start        F_0 = the best constant: mean, median, quantile, log-odds
Round        r_i = -dl(y_i, F(x_i)) / dF;  a regression tree fits r by least squares;  every leaf
             then takes the step that is best for the loss itself, one Newton step where there is
             no formula (``gradient_losses``)
Classes      two: one score, the log-odds;  K > 2: K scores and K trees in every round
Subsample    each round on a share of the rows; the others tell what it gained (oob_improvement_)
Cost         one sort of every column, then O(n d depth) per tree

For many rows ``HistGradientBoosting*`` is several times faster: it puts the columns into bins.

References: Friedman (2001, 2002); ESL, section 10.10.
"""

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.base import Classifier, Regressor, check_labels, check_number_target, encode_labels
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Seed
from pellucid.core.loops.early_stopping import EarlyStopping
from pellucid.core.meta import check_inner
from pellucid.core.runtime.stand_ins import stands_for
from pellucid.ensemble.boosting import gradient_losses
from pellucid.ensemble.boosting.gradient_model import GradientBoosting

NUMBER_LOSSES = ("squared_error", "absolute_error", "huber", "quantile")


class GradientBoostingRegressor(GradientBoosting, Regressor):
    """Trees in turn, each fitted to what those before it left over, for numbers.

    ``sample_weight`` equals repetition; ties go to the lowest feature, then the lowest threshold;
    the same model for any number of threads.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile"}, Huber or Quantile
        ``Huber(alpha)`` and ``Quantile(alpha)`` say loss and level at once.
    learning_rate : float, default=0.1
        Every tree counts only so much.
    n_estimators : int, default=100
        Rounds.
    subsample : float, default=1.0
        Share of the rows that each round sees.
    min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_depth, \
min_impurity_decrease, max_features, max_leaf_nodes, ccp_alpha
        Limits of the trees, as in ``DecisionTreeRegressor``; ``max_depth`` is 3 by default.
    criterion : {"friedman_mse", "squared_error"}
        Deprecated, as in scikit-learn: both name the same splits.
    init : estimator, "zero" or None, default=None
        Where to start; None: the best constant.
    random_state : int, RandomState, Generator or None, default=None
        Seed of subsamples, drawn columns and rows kept aside.
    alpha : float, default=0.9
        Level of ``loss="huber"`` and ``loss="quantile"``.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    warm_start : bool, default=False
        Go on from the rounds of the fit before.
    validation_fraction, n_iter_no_change, tol : float, int or None, float
        scikit-learn's early stopping: active where ``n_iter_no_change`` is a number; all rounds
        are kept.
    early_stopping : EarlyStopping or None, default=None
        Rows kept aside, patience, and by default a return to the best round. It wins over the
        three keywords above. ``fit(.., X_val=, y_val=)`` gives one's own rows.

    Attributes
    ----------
    estimators_ : ndarray of shape (n_estimators_, 1) of DecisionTreeRegressor
    init_ : the start, an estimator or ``BestConstant``
    train_score_ : ndarray of shape (n_estimators_,)
        Loss of the rows in the bag after each round.
    validation_score_ : ndarray
        Loss of the rows kept aside after each round that was tried.
    oob_improvement_, oob_scores_ : ndarray of shape (n_estimators_,)
        With subsample < 1: what each round gained on the rows out of its bag, and their loss.
    n_estimators_, feature_importances_, max_features_, n_trees_per_iteration_, history_

    Examples
    --------
    >>> from pellucid import GradientBoostingRegressor
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [1, 2, 2, 6, 7, 9]
    >>> model = GradientBoostingRegressor(max_depth=1, learning_rate=0.5, n_estimators=1)
    >>> model.fit(X, y).predict([[2], [5]]).round(4)
    array([3.0833, 5.9167])
    """

    _squares_y = True

    _multi_output = False

    def __init__(
        self,
        *,
        loss: str | gradient_losses.Huber | gradient_losses.Quantile = "squared_error",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        criterion: str = "deprecated",
        init: BaseEstimator | Literal["zero"] | None = None,
        random_state: Seed = None,
        max_features: float | Literal["sqrt", "log2"] | None = None,
        alpha: float = 0.9,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        early_stopping: EarlyStopping | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.criterion = criterion
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.alpha = alpha
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.early_stopping = early_stopping

    def _make_loss(self) -> gradient_losses.GradientLoss:
        check.fraction(alpha=self.alpha)
        if isinstance(self.loss, gradient_losses.Huber | gradient_losses.Quantile):
            check.fraction(alpha=self.loss.alpha)
        else:
            check.one_of(NUMBER_LOSSES, loss=self.loss)
        return gradient_losses.number_loss(self.loss, self.alpha)

    def _rows(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Array, Array, Array]:
        rows = self._check_training(X, y, sample_weight)
        kept = rows.w > 0
        if kept.all():
            return rows.X, rows.y, rows.w
        return rows.X[kept], rows.y[kept], rows.w[kept]

    def _known_targets(self, y: ArrayLike, n: int) -> Array:
        return check_number_target(y, n, False, self)

    def _init_scores(
        self, loss: gradient_losses.GradientLoss, model: BaseEstimator, X: Array
    ) -> Array:
        check_inner(self, model, "predict")
        return np.asarray(model.predict(X), dtype=np.float64).reshape(1, -1)

    def predict(self, X: ArrayLike) -> Array:
        """The start plus the values of the leaves."""
        return self._raw(self._check_input(X))[0]

    def staged_predict(self, X: ArrayLike) -> Iterator[Array]:
        """``predict`` after every round."""
        for F in self._staged(X):
            yield F[0]

    def apply(self, X: ArrayLike) -> Any:
        """The leaf of every row in every tree, (n, n_estimators_)."""
        return self._leaves(X)[:, :, 0]


class GradientBoostingClassifier(GradientBoosting, Classifier):
    """Trees in turn, each fitted to what those before it left over, for classes.

    One score for two classes, K scores and K trees in every round for K > 2. One class in y: a
    constant answer with probability 1.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
        "exponential" is AdaBoost's loss, for two classes.
    learning_rate, n_estimators, subsample, min_samples_split, min_samples_leaf, \
min_weight_fraction_leaf, max_depth, min_impurity_decrease, criterion, init, random_state, \
max_features, verbose, max_leaf_nodes, warm_start, validation_fraction, n_iter_no_change, tol, \
ccp_alpha, early_stopping
        As in ``GradientBoostingRegressor``.

    Attributes
    ----------
    estimators_ : ndarray of shape (n_estimators_, 1 or K) of DecisionTreeRegressor
    classes_, n_classes_
    init_, train_score_, validation_score_, oob_improvement_, oob_scores_, n_estimators_
    feature_importances_, max_features_, n_trees_per_iteration_, history_
        As in ``GradientBoostingRegressor``.

    Examples
    --------
    >>> from pellucid import GradientBoostingClassifier
    >>> X, y = [[0], [1], [2], [3], [4], [5]], ["a", "a", "b", "b", "a", "a"]
    >>> model = GradientBoostingClassifier(n_estimators=20).fit(X, y)
    >>> model.predict([[0.5], [2.5]]).tolist(), model.predict_proba([[2.5]]).round(2).tolist()
    (['a', 'b'], [[0.09, 0.91]])
    """

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        criterion: str = "deprecated",
        init: BaseEstimator | Literal["zero"] | None = None,
        random_state: Seed = None,
        max_features: float | Literal["sqrt", "log2"] | None = None,
        verbose: int = 0,
        max_leaf_nodes: int | None = None,
        warm_start: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        early_stopping: EarlyStopping | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_depth = max_depth
        self.min_impurity_decrease = min_impurity_decrease
        self.criterion = criterion
        self.init = init
        self.random_state = random_state
        self.max_features = max_features
        self.verbose = verbose
        self.max_leaf_nodes = max_leaf_nodes
        self.warm_start = warm_start
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.ccp_alpha = ccp_alpha
        self.early_stopping = early_stopping

    def _make_loss(self) -> Any:
        check.one_of(("log_loss", "exponential"), loss=self.loss)
        return gradient_losses.class_loss(self.loss, self.n_classes_)

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> tuple[Array, Array, Array]:
        before = getattr(self, "classes_", None) if self.warm_start else None
        rows = self._check_training(X, y, sample_weight)
        kept = np.flatnonzero(rows.w > 0)
        self.classes_, codes = encode_labels(self.classes_[rows.y[kept]])
        self.n_classes_ = len(self.classes_)
        if before is not None and not np.array_equal(before, self.classes_):
            grown = f"the trees were grown for the classes {before}"
            raise ValueError(f"warm_start: {grown}, y has {self.classes_}")
        X = rows.X if len(kept) == len(rows.w) else rows.X[kept]
        return X, codes.astype(np.float64), rows.w[kept]

    def _known_targets(self, y: ArrayLike, n: int) -> Array:
        labels = check_labels(y, n, self)
        known = np.isin(labels, self.classes_)
        if not known.all():
            raise ValueError(f"y_val has the label {labels[~known][0]}, which y has not")
        return np.searchsorted(self.classes_, labels).astype(np.float64)

    def _init_scores(self, loss: Any, model: BaseEstimator, X: Array) -> Array:
        check_inner(self, model, "predict_proba")
        p = np.asarray(model.predict_proba(X), dtype=np.float64)
        return loss.link(p[:, 1:].T if self.n_classes_ == 2 else p.T)

    def _answers(self, F: Array) -> Array:
        """Codes from scores (K, n)."""
        return (F[0] > 0).astype(np.intp) if self.n_classes_ <= 2 else F.argmax(axis=0)

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores: (n,) for two classes, larger means ``classes_[1]``; else (n, K)."""
        F = self._raw(self._check_input(X))
        return F[0] if len(F) == 1 else np.ascontiguousarray(F.T)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities (n, K)."""
        rows = self._check_input(X)
        return self._make_loss().proba(self._raw(rows))

    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: ArrayLike) -> Any:
        """The class of the largest score; the first of equals."""
        rows = self._check_input(X)
        return self.classes_[self._answers(self._raw(rows))]

    def staged_decision_function(self, X: ArrayLike) -> Iterator[Array]:
        """``decision_function`` after every round."""
        for F in self._staged(X):
            yield F[0] if len(F) == 1 else np.ascontiguousarray(F.T)

    def staged_predict(self, X: ArrayLike) -> Iterator[Any]:
        """``predict`` after every round."""
        for F in self._staged(X):
            yield self.classes_[self._answers(F)]

    def staged_predict_proba(self, X: ArrayLike) -> Iterator[Array]:
        """``predict_proba`` after every round."""
        for F in self._staged(X):
            yield self._make_loss().proba(F)

    def apply(self, X: ArrayLike) -> Any:
        """The leaf of every row in every tree, (n, n_estimators_, trees per round)."""
        return self._leaves(X)


stands_for("sklearn.ensemble", GradientBoostingRegressor)
stands_for("sklearn.ensemble", GradientBoostingClassifier)
