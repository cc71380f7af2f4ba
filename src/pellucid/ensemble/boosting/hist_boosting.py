r"""Histogram gradient boosting: many small trees, each correcting the sum of those before it.

Model        f(x) = F_0 + sum_t v_t[leaf of x in tree t];  classes: sigmoid or softmax of f
Objective    sum_i w_i loss(y_i, f(x_i)) + l2/2 sum of v^2 + min_gain per leaf
Round        g, h = loss' and loss'' at f;  a leaf with sums G, H gets v = -rate G / (H + l2);
             the split with the greatest gain 1/2 [GL^2/(HL+l2) + GR^2/(HR+l2) - G^2/(H+l2)]
             - min_gain is made first (leaf-wise), until max_leaf_nodes or nothing gains
Data         columns in at most 255 bins of one byte; missing cells go to the better side;
             categories are sorted by G/H and split like numbers
Cost         O(n p) for the bins, O(n p log leaves) per round; the smaller child's sums are added
             up, the larger's follow by subtraction

Sums are whole numbers (gradients scaled to 61 bits), so the model is the same for any number of
threads.

References: Friedman (2001); Chen & Guestrin (2016); Ke et al. (2017); Fisher (1958).
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np
import scipy

from pellucid.base import Classifier, Regressor, check_labels, encode_labels
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, ClassWeight, Seed
from pellucid.core.runtime.stand_ins import stands_for
from pellucid.ensemble.boosting.growth_limits import Growth, Interactions
from pellucid.ensemble.boosting.hist_losses import Loss
from pellucid.ensemble.boosting.hist_model import HistGradientBoosting
from pellucid.ensemble.boosting.kernels import derivatives as boosting
from pellucid.inference.decisions.linear_rule import class_weights

CODES = {"squared_error": boosting.SQUARED, "absolute_error": boosting.ABSOLUTE}
CODES |= {"quantile": boosting.QUANTILE, "poisson": boosting.POISSON, "gamma": boosting.GAMMA}


class HistGradientBoostingRegressor(Regressor, HistGradientBoosting):
    """Gradient boosting of trees on bins, for numbers.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "gamma", "poisson", "quantile"}
        What is minimised; see the module.
    quantile : float, optional
        The level of ``loss="quantile"``.
    learning_rate : float, default=0.1
        Every tree counts only so much.
    max_iter : int, default=100
        Rounds.
    max_leaf_nodes : int or None, default=31
        Leaves of a tree at most.
    max_depth : int, optional
        Levels of questions at most.
    min_samples_leaf : int, default=20
        Rows in a leaf, each counted by its weight.
    l2_regularization : float, default=0.0
        Penalty on the values of the leaves.
    max_features : float, default=1.0
        Share of the columns that a leaf may be split by, drawn anew for each.
    max_bins : int, default=255
        Bins of a column, 2 to 255; missing cells have one more.
    categorical_features : "from_dtype", mask, column numbers or names, default="from_dtype"
        Columns that are split as categories.
    monotonic_cst : array of -1, 0, 1, or dict of names, optional
        Columns along which the answer may only rise (1) or fall (-1).
    interaction_cst : "pairwise", "no_interactions" or groups of column numbers, optional
        Columns that may occur together on a path.
    warm_start : bool, default=False
        Go on from the trees there are, up to ``max_iter``.
    early_stopping : "auto" or bool, default="auto"
        Keep rows aside and stop when they no longer gain; auto: from 10,001 rows on.
    scoring : str, callable or None, default="loss"
        What early stopping looks at.
    validation_fraction : float, default=0.1
        Share (or number) of rows kept aside; None judges on the training rows.
    n_iter_no_change : int, default=10
        Rounds without gain before the stop.
    tol : float, default=1e-7
        A gain must be larger than this.
    verbose : int, default=0
        Above 0 prints the steps and the time of the fit.
    random_state : int, RandomState, Generator or None
        Seed of the rows kept aside, the bins and the drawn columns.
    growth : Growth, optional
        The limits of a tree in one object, ``min_gain`` among them.

    Attributes
    ----------
    trees_ : Trees, all nodes and leaves as flat arrays
    n_iter_, n_trees_per_iteration_, do_early_stopping_, train_score_, validation_score_
    is_categorical_ : mask of the columns split as categories, or None
    feature_importances_ : share of each column in the gains
    history_ : objective (mean training loss), and ``validation`` where rows were kept aside

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import HistGradientBoostingRegressor
    >>> x = np.arange(200.0)[:, None]
    >>> model = HistGradientBoostingRegressor().fit(x, (x[:, 0] > 100) * 5.0)
    >>> model.predict([[20.0], [180.0]]).round(3) + 0.0
    array([0., 5.])
    """

    def __init__(
        self,
        loss: str = "squared_error",
        *,
        quantile: float | None = None,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: ArrayLike | None = "from_dtype",
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        interaction_cst: Interactions = None,
        warm_start: bool = False,
        early_stopping: bool | Literal["auto"] = "auto",
        scoring: str | Callable[..., float] | None = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Seed = None,
        growth: Growth | None = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.growth = growth

    _multi_output = False

    def _loss(self) -> Loss:
        if self.loss == "quantile":
            return Loss(boosting.QUANTILE, float(self.quantile))  # type: ignore[arg-type]
        return Loss(CODES[self.loss])

    def _check_parameters(self) -> Growth:
        check.one_of(tuple(CODES), loss=self.loss)
        q = self.quantile
        if self.loss == "quantile" or q is not None:
            if q is None:
                raise ValueError("loss='quantile' needs quantile between 0 and 1, got None")
            check.non_negative(quantile=q)
            if q > 1:
                raise ValueError(f"quantile must be between 0 and 1, got {q!r}")
        return super()._check_parameters()

    def _n_scores(self) -> int:
        return 1

    def _targets(self, y: ArrayLike, n: int) -> Array:
        y = self._check_target(y, n)
        self._check_range(float(y.min()), np.inf)
        return y

    def _check_range(self, low: float, high: float) -> None:
        if self.loss == "gamma" and not low > 0:
            raise ValueError("loss='gamma' requires strictly positive y")
        if self.loss == "poisson" and not (low >= 0 and high > 0):
            raise ValueError("loss='poisson' requires non-negative y and sum(y) > 0")

    _known_targets = _targets

    def _present(self, y: Array) -> Array:
        self._check_range(float(y.min()), float(y.max()))
        return y

    def _factor(self, y: Array, w: Array) -> Array:
        return np.ones(len(y))

    def _class_factors(self, totals: Array) -> Array:
        return np.zeros(0)

    def _words(self, y: Array) -> Array:
        return y

    def _answer(self, F: Array) -> Array:
        return np.exp(F[0]) if self.loss in ("poisson", "gamma") else F[0]

    def predict(self, X: ArrayLike) -> Array:
        """Predict the target of each row."""
        return self._answer(self._raw(X))

    def staged_predict(self, X: ArrayLike) -> Any:
        """Yield the predictions after each round."""
        for F in self._staged(X):
            yield self._answer(F)


class HistGradientBoostingClassifier(Classifier, HistGradientBoosting):
    """Gradient boosting of trees on bins, for classes.

    Parameters
    ----------
    loss : "log_loss"
        The only one; accepted as in scikit-learn.
    class_weight : dict, "balanced" or None
        What the loss of each class is multiplied by.
    learning_rate, max_iter, max_leaf_nodes, max_depth, min_samples_leaf, l2_regularization, \
max_features, max_bins, categorical_features, monotonic_cst, interaction_cst, warm_start, \
early_stopping, scoring, validation_fraction, n_iter_no_change, tol, verbose, random_state, \
growth
        As in ``HistGradientBoostingRegressor``.

    Attributes
    ----------
    classes_ : the labels, sorted
    trees_, n_iter_, n_trees_per_iteration_, train_score_, validation_score_, is_categorical_,
    do_early_stopping_, feature_importances_, history_ : as of ``HistGradientBoostingRegressor``

    With K > 2 classes there are K trees a round. ``decision_function`` gives the scores.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import HistGradientBoostingClassifier
    >>> x = np.arange(200.0)[:, None]
    >>> model = HistGradientBoostingClassifier().fit(x, np.where(x[:, 0] > 100, "late", "early"))
    >>> model.predict([[20.0], [180.0]]).tolist()
    ['early', 'late']
    """

    def __init__(
        self,
        loss: str = "log_loss",
        *,
        learning_rate: float = 0.1,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: float = 1.0,
        max_bins: int = 255,
        categorical_features: ArrayLike | None = "from_dtype",
        monotonic_cst: ArrayLike | Mapping[str, int] | None = None,
        interaction_cst: Interactions = None,
        warm_start: bool = False,
        early_stopping: bool | Literal["auto"] = "auto",
        scoring: str | Callable[..., float] | None = "loss",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        verbose: int = 0,
        random_state: Seed = None,
        class_weight: ClassWeight = None,
        growth: Growth | None = None,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.scoring = scoring
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.class_weight = class_weight
        self.growth = growth

    def _loss(self) -> Loss:
        return Loss(boosting.LOGISTIC if len(self.classes_) == 2 else boosting.SOFTMAX)

    def _check_parameters(self) -> Growth:
        check.one_of(("log_loss",), loss=self.loss)
        return super()._check_parameters()

    def _n_scores(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _targets(self, y: ArrayLike, n: int) -> Array:
        return self._check_target(y, n).astype(np.float64)

    def _present(self, y: Array) -> Array:
        counts = np.bincount(y.astype(np.intp), minlength=len(self.classes_))
        if (counts == 0).any():
            place = np.cumsum(counts > 0) - 1
            self.classes_, y = self.classes_[counts > 0], place[y.astype(np.intp)].astype(float)
        if len(self.classes_) < 2:
            only = f"y has one class: {self.classes_[0]}"
            raise ValueError(f"{type(self).__name__} needs at least two classes, {only}")
        return y

    def _known_targets(self, y: ArrayLike, n: int) -> Array:
        """Labels of rows kept aside: they must be among the classes."""
        known = self.classes_
        labels, codes = encode_labels(check_labels(y, n, self))
        place = np.searchsorted(known, labels).clip(max=len(known) - 1)
        if not (known[place] == labels).all():
            new = labels[known[place] != labels]
            raise ValueError(f"y_val holds labels that y does not: {new}")
        return place[codes].astype(np.float64)

    def _words(self, y: Array) -> Any:
        return self.classes_[y.astype(np.intp)]

    def _factor(self, y: Array, w: Array) -> Array:
        if self.class_weight is None:
            return np.ones(len(y))
        totals: Any = np.bincount(y.astype(np.intp), w, len(self.classes_))
        return self._class_factors(totals)[y.astype(np.intp)]

    def _class_factors(self, totals: Array) -> Array:
        if self.class_weight is None:
            return np.zeros(0)
        return class_weights(self.class_weight, self.classes_, totals)

    def _check_range(self, low: float, high: float) -> None:
        """Classes have none."""

    def decision_function(self, X: ArrayLike) -> Array:
        """Scores: (n,) for two classes, positive for the second; else (n, K)."""
        return _shaped(self._raw(X))

    def predict_proba(self, X: ArrayLike) -> Array:
        """The probability of each class."""
        return _probabilities(self._raw(X))

    def predict(self, X: ArrayLike) -> Any:
        """The likeliest class of each row."""
        F = self._raw(X)  # before the classes are looked at: there may be none yet
        return _likeliest(self.classes_, F)

    def staged_decision_function(self, X: ArrayLike) -> Any:
        """Yield the scores after each round."""
        for F in self._staged(X):
            yield _shaped(F)

    def staged_predict_proba(self, X: ArrayLike) -> Any:
        """Yield the probabilities after each round."""
        for F in self._staged(X):
            yield _probabilities(F)

    def staged_predict(self, X: ArrayLike) -> Any:
        """Yield the predicted classes after each round."""
        for F in self._staged(X):
            yield _likeliest(self.classes_, F)


def _shaped(F: Array) -> Array:
    return F[0] if len(F) == 1 else np.ascontiguousarray(F.T)


def _probabilities(F: Array) -> Array:
    if len(F) == 1:
        return np.column_stack([scipy.special.expit(-F[0]), scipy.special.expit(F[0])])
    return np.exp(F - scipy.special.logsumexp(F, axis=0)).T


def _likeliest(classes: np.ndarray, F: Array) -> Any:
    return classes[(F[0] > 0).astype(np.intp) if len(F) == 1 else F.argmax(axis=0)]


stands_for("sklearn.ensemble", HistGradientBoostingRegressor)
stands_for("sklearn.ensemble", HistGradientBoostingClassifier)
