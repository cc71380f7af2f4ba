r"""Random forests: bagged trees that see a random part of the features at every node.

Model        mean of B trees; each on N rows drawn with replacement from N, every split the best
             among ``max_features`` columns drawn anew at its node
Why          trees of small bias and large variance s^2, correlation r: the variance of the mean
             is r s^2 + (1 - r) s^2 / B; drawing columns lowers r (``variance_of_average``)
Classes      probability = mean of the trees' leaf shares, answer its argmax; ``predict_vote`` =
             majority of the trees' own answers
Out of bag   row i is judged by the trees that have not seen it: an error estimate without a
             second fit
Algorithm    ``forest_growing``: columns coded once, trees in threads. O(B n log n max_features)

References: Breiman (2001); ESL, chapter 15.
"""

from typing import Any, Self

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Classifier, Regressor, with_callbacks
from pellucid.core import check
from pellucid.core.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.typing import Array, ArrayLike
from pellucid.ensemble.bootstrap import Bootstrap
from pellucid.ensemble.class_factors import class_factor
from pellucid.ensemble.forest_base import CAUTION, ForestEstimator, fingerprint, jobs
from pellucid.ensemble.forest_intervals import ForestCalibration, fit_calibration
from pellucid.ensemble.forest_reading import forest_quantiles, jackknife_std
from pellucid.tree.classifier import DecisionTreeClassifier
from pellucid.tree.growing import Classes
from pellucid.tree.regressor import DecisionTreeRegressor

__all__ = ["ForestClassifier", "ForestRegressor", "RandomForestClassifier", "RandomForestRegressor"]
NOTHING = np.zeros(0)


class ForestClassifier(ForestEstimator, Classifier):
    """What forests of classification trees share."""

    _labels = DecisionTreeClassifier._labels
    _check_target = DecisionTreeClassifier._check_target
    _class_lists = DecisionTreeClassifier._class_lists

    def _member(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier()

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> Self:
        context = FitContext(
            self, X=X, y=y, sample_weight=sample_weight, attributes=lambda _: self._fitted()
        )
        before = getattr(self, "classes_", None) if self.warm_start else None
        rows = self._check_training(X, y, sample_weight)
        self._check_same_classes(before)
        w, codes = np.array(rows.w), rows.y.reshape(len(rows.y), -1)
        self.n_outputs_ = codes.shape[1]
        sizes = [len(c) for c in self._class_lists()]
        self.n_classes_ = sizes[0] if rows.y.ndim == 1 else np.array(sizes)
        with jobs(self.n_jobs):
            self._grow(
                rows.X, Classes(codes, np.array(sizes)), w,
                codes[:, 0] if self.n_outputs_ == 1 else None, self._factor(y, codes, w),
            )  # fmt: skip
            self.training_rows_ = fingerprint(rows.X, NOTHING)
            self.training_target_ = fingerprint(np.ascontiguousarray(rows.y), NOTHING)
            if self.oob_score:
                self._oob(codes, w, rows.X)
        context.end()
        return self

    def _check_same_classes(self, before: Any) -> None:
        lists = before if isinstance(before, list) else [before]
        same = before is None or (
            len(lists) == len(self._class_lists())
            and all(np.array_equal(a, b) for a, b in zip(lists, self._class_lists(), strict=True))
        )
        if not same:
            raise ValueError("warm_start=True needs the same classes as the fit before")

    def _factor(self, y: Any, codes: Any, w: Array) -> Any:
        """The factors of the classes: those of ``sampling`` win."""
        wanted = self.class_weight
        if isinstance(self.sampling, Bootstrap) and self.sampling.class_weight is not None:
            wanted = self.sampling.class_weight
        if isinstance(wanted, str) or wanted is None:
            return class_factor(wanted, codes, w)
        fixed = compute_sample_weight(wanted, self._labels(y))
        return lambda counts: fixed

    def _oob(self, codes: Any, w: Array, X: Array) -> None:
        n, forest = len(codes), self.forest_
        o, K = self.n_outputs_, forest.width
        shares, votes = np.zeros((n, o * K)), np.zeros(n)
        wrong = np.zeros((n, o), bool)
        curve = np.full(forest.n_trees, np.nan)
        for t, rows, leaves in self._oob_leaves(X, w):
            shares[rows] += forest.leaf_values(t)[leaves]
            votes[rows] += 1
            found = shares[rows].reshape(-1, o, K).argmax(axis=2)
            wrong[rows] = found != codes[rows]
            seen = votes > 0
            if seen.any():
                curve[t] = np.average(wrong[seen].mean(axis=1), weights=w[seen])
        seen = votes > 0
        self._warn_never(int(np.count_nonzero(~seen & (w > 0))))
        shares[seen] /= votes[seen, None]
        shares[~seen] = np.nan
        parts = [shares[:, j * K : j * K + len(c)] for j, c in enumerate(self._class_lists())]
        width = max(part.shape[1] for part in parts)
        stacked = np.full((n, width, o), np.nan)
        for j, part in enumerate(parts):
            stacked[:, : part.shape[1], j] = part
        self.oob_decision_function_ = stacked[:, :, 0] if o == 1 else stacked
        self.oob_curve_ = curve
        if not seen.any():
            self.oob_score_ = float("nan")
        elif callable(self.oob_score):
            truth, answer = codes[seen], np.nan_to_num(stacked[seen], nan=-1.0).argmax(axis=1)
            labels = [c[truth[:, j]] for j, c in enumerate(self._class_lists())]
            found = [c[answer[:, j]] for j, c in enumerate(self._class_lists())]
            both = [labels[0], found[0]] if o == 1 else [np.stack(v, 1) for v in (labels, found)]
            self.oob_score_ = float(self.oob_score(*both))
        else:
            self.oob_score_ = 1.0 - float(np.average(wrong[seen].mean(axis=1), weights=w[seen]))

    def _shares(self, X: ArrayLike) -> list[Array]:
        rows = self._check_input(X)
        forest = self.forest_
        with jobs(self.n_jobs):
            total = forest.sum_values(rows) / forest.n_trees
        K = forest.width
        return [total[:, j * K : j * K + len(c)] for j, c in enumerate(self._class_lists())]

    def predict_proba(self, X: ArrayLike) -> Any:
        """Mean of the trees' class shares, (n, K); a list of these for several outputs."""
        found = self._shares(X)
        return found[0] if self.n_outputs_ == 1 else found

    def predict_log_proba(self, X: ArrayLike) -> Any:
        """Logarithms of the class shares."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(p) for p in shares] if isinstance(shares, list) else np.log(shares)

    def predict(self, X: ArrayLike) -> Any:
        """The class of the largest mean share; the first of equals."""
        return self._answers([p.argmax(axis=1) for p in self._shares(X)])

    def vote_counts(self, X: ArrayLike) -> Any:
        """How many trees answer each class, (n, K); a list of these for several outputs."""
        rows = self._check_input(X)
        with jobs(self.n_jobs):
            found = [
                self.forest_.count_votes(rows, j, len(c)) for j, c in enumerate(self._class_lists())
            ]
        return found[0] if self.n_outputs_ == 1 else found

    def predict_vote(self, X: ArrayLike) -> Any:
        """The class that most trees answer; the first of equals."""
        votes = self.vote_counts(X)
        parts = votes if isinstance(votes, list) else [votes]
        return self._answers([v.argmax(axis=1) for v in parts])

    def _answers(self, codes: list[Any]) -> Any:
        found = [c[k] for c, k in zip(self._class_lists(), codes, strict=True)]
        return found[0] if self.n_outputs_ == 1 else np.stack(found, axis=1)

    def _known_target(self, y: Any, n: int) -> Any:
        labels = self._labels(y)
        columns = labels.reshape(len(labels), -1).T
        codes = []
        for classes, column in zip(self._class_lists(), columns, strict=True):
            place = np.minimum(np.searchsorted(classes, column), len(classes) - 1)
            if len(column) != n or (classes[place] != column).any():
                raise ValueError("y must be the training targets, in the order of the rows")
            codes.append(place)
        return np.ascontiguousarray(codes[0] if labels.ndim == 1 else np.stack(codes, axis=1))

    def _errors(self, target: Any) -> Any:
        codes = target.reshape(len(target), -1)
        o, K = self.n_outputs_, self.forest_.width
        start, value = self.forest_.start, self.forest_.value.reshape(-1, o, K)
        label = value.argmax(axis=2)  # (nodes, o)

        def errors(t: int, leaves: Any, rows: Any) -> float:
            return float((label[start[t] + leaves] != codes[rows]).mean())

        return errors

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "forest_"):
            sizes = [len(classes) for classes in self._class_lists()]
            if self.forest_.value.shape[1] != len(sizes) * max(sizes):
                raise ValueError(f"forest_ must have shares of {sizes} classes")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        return Card(
            representation="the mean of the class shares of many deep trees: smooth votes over "
            "axis-parallel boxes; no scaling, no assumption on the form",
            evaluation=f"{self.criterion} in the nodes; the forest is judged out of bag",
            optimisation=self._optimisation(),
            numbers=self._numbers(),
            warnings=(CAUTION,),
        )


class ForestRegressor(ForestEstimator, Regressor):
    """What forests of regression trees share."""

    def _member(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor()

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> Self:
        context = FitContext(
            self, X=X, y=y, sample_weight=sample_weight, attributes=lambda _: self._fitted()
        )
        rows = self._check_training(X, y, sample_weight)
        w, targets = np.array(rows.w), rows.y.reshape(len(rows.y), -1)
        self.n_outputs_ = targets.shape[1]
        if self.criterion == "poisson":
            self._member()._check_counts(targets, w)
        with jobs(self.n_jobs):
            old: Any = vars(self).get("leaf_rows_") if self.warm_start else None
            added = self._grow(rows.X, targets, w)
            if not np.isfinite(self.forest_.impurity).all():
                raise ValueError("y holds numbers too large to be squared; divide it by a constant")
            self.leaf_rows_ = np.concatenate([*([] if old is None else [old]), *added])
            self.training_rows_ = fingerprint(rows.X, NOTHING)
            self.training_target_ = fingerprint(rows.y, NOTHING)
            self.targets_ = rows.y.copy()
            if self.oob_score:
                self._oob(targets, w, rows.X)
        context.end()
        return self

    def _oob(self, y: Array, w: Array, X: Array) -> None:
        forest, n = self.forest_, len(y)
        total, votes = np.zeros(y.shape), np.zeros(n)
        error, curve = np.zeros(n), np.full(forest.n_trees, np.nan)
        for t, rows, leaves in self._oob_leaves(X, w):
            total[rows] += forest.leaf_values(t)[leaves]
            votes[rows] += 1
            gap = total[rows] / votes[rows, None] - y[rows]
            error[rows] = (gap * gap).mean(axis=1)
            seen = votes > 0
            if seen.any():
                curve[t] = np.average(error[seen], weights=w[seen])
        seen = votes > 0
        self._warn_never(int(np.count_nonzero(~seen & (w > 0))))
        total[seen] /= votes[seen, None]
        total[~seen] = np.nan
        self.oob_prediction_ = total[:, 0] if self.n_outputs_ == 1 else total
        self.oob_curve_ = curve
        if np.count_nonzero(seen) < 2:
            self.oob_score_ = float("nan")
        elif callable(self.oob_score):
            one = self.n_outputs_ == 1
            truth, found = (y[seen, 0], total[seen, 0]) if one else (y[seen], total[seen])
            self.oob_score_ = float(self.oob_score(truth, found))
        else:
            self.oob_score_ = float(r2_score(y[seen], total[seen], sample_weight=w[seen]))

    def predict(self, X: ArrayLike, return_std: bool = False) -> Any:
        """The mean of the trees; with ``return_std`` also its standard error.

        The standard error is that of the forest's mean as an estimate (how much it would move
        with another training set), by the infinitesimal jackknife; it needs drawn rows.
        """
        rows = self._check_input(X)
        forest = self.forest_
        with jobs(self.n_jobs):
            mean = forest.sum_values(rows) / forest.n_trees
            mean = mean[:, 0] if self.n_outputs_ == 1 else mean
            if not return_std:
                return mean
            if self.sampler_.kind != "bootstrap":
                raise ValueError(
                    "return_std needs trees that draw their rows (bootstrap=True): the standard "
                    "error is read from the draws"
                )
            std = jackknife_std(forest, self.sampler_, rows)
        return mean, std[:, 0] if self.n_outputs_ == 1 else std

    def predict_quantiles(self, X: ArrayLike, quantiles: Any = (0.1, 0.5, 0.9)) -> Array:
        """Quantiles of the targets that share leaves with each row, (n, quantiles).

        Parameters
        ----------
        X : array-like of shape (n, d)
        quantiles : float or sequence of float in [0, 1]
        """
        rows = self._check_input(X)
        if self.n_outputs_ > 1:
            raise ValueError(f"quantiles need one target, got {self.n_outputs_}")
        asked = np.atleast_1d(np.asarray(quantiles, np.float64))
        if asked.ndim != 1 or not ((asked >= 0) & (asked <= 1)).all():
            raise ValueError(f"quantiles must be numbers in [0, 1], got {quantiles!r}")
        order = np.argsort(asked, kind="stable")
        with jobs(self.n_jobs):
            found = forest_quantiles(
                self.forest_, self.leaf_rows_, self.sampler_, self.targets_.ravel(), rows,
                asked[order],
            )  # fmt: skip
        out = np.empty_like(found)
        out[:, order] = found
        return out[:, 0] if np.ndim(quantiles) == 0 else out

    def calibrate_intervals(
        self, X: ArrayLike, y: ArrayLike, *, confidence: float = 0.9
    ) -> ForestCalibration:
        """What ``predict_interval`` needs: the quantiles' margin, from the out-of-bag rows.

        Parameters
        ----------
        X, y : array-like
            The training data (checked).
        confidence : float in (0, 1), default=0.9
        """
        check_is_fitted(self)
        check.fraction(confidence=confidence)
        if self.n_outputs_ > 1:
            raise ValueError(f"intervals need one target, got {self.n_outputs_}")
        rows = self._check_input(X)
        self._check_training_rows(rows)
        target = self._known_target(y, len(rows))
        if fingerprint(np.ascontiguousarray(target), NOTHING) != self.training_target_:
            raise ValueError("y must be the training targets, in the order of the training rows")
        with jobs(self.n_jobs):
            return fit_calibration(
                self.forest_, self.leaf_rows_, self.sampler_, target.ravel(), rows, confidence
            )

    def predict_interval(self, X: ArrayLike, calibration: ForestCalibration) -> Array:
        """Intervals (n, 2) that hold a new y with the confidence of the calibration.

        Parameters
        ----------
        X : array-like of shape (n, d)
        calibration : ForestCalibration
            Of ``calibrate_intervals``.
        """
        if not isinstance(calibration, ForestCalibration):
            raise TypeError(
                f"calibration must come from calibrate_intervals, got {type(calibration).__name__}"
            )
        found = self.predict_quantiles(X, calibration.levels)
        low, high = found[:, 0] - calibration.margin, found[:, 1] + calibration.margin
        middle = 0.5 * (found[:, 0] + found[:, 1])
        return np.column_stack([np.minimum(low, middle), np.maximum(high, middle)])

    def _known_target(self, y: Any, n: int) -> Any:
        return self._check_target(y, n)

    def _errors(self, target: Any) -> Any:
        y = target.reshape(len(target), -1)
        start, value = self.forest_.start, self.forest_.value

        def errors(t: int, leaves: Any, rows: Any) -> float:
            gap = value[start[t] + leaves] - y[rows]
            return float((gap * gap).mean())

        return errors

    def _check_state(self) -> None:
        super()._check_state()
        if not hasattr(self, "forest_"):
            return
        rows, targets, forest = self.leaf_rows_, self.targets_, self.forest_
        if forest.value.shape[1] != self.n_outputs_:
            raise ValueError(f"forest_ must have values of {self.n_outputs_} outputs")
        sound = (
            isinstance(rows, np.ndarray)
            and rows.dtype == np.int32
            and rows.shape == (int(forest.size[forest.feature < 0].sum()),)
            and isinstance(targets, np.ndarray)
            and targets.dtype == np.float64
            and len(targets) == self.sampler_.n
            and targets.size == self.sampler_.n * self.n_outputs_
            and (len(rows) == 0 or (rows.min() >= 0 and rows.max() < self.sampler_.n))
        )
        if not sound:
            raise ValueError("leaf_rows_ and targets_ must fit the leaves of forest_")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        return Card(
            representation="the mean of many deep trees: a fine step function on axis-parallel "
            "boxes; no scaling, no assumption on the form; constant beyond the data",
            evaluation=f"{self.criterion} in the nodes; the forest is judged out of bag",
            optimisation=self._optimisation(),
            numbers=self._numbers(),
            warnings=(CAUTION,),
        )


class RandomForestClassifier(ForestClassifier):
    """A committee of classification trees, each on its own bootstrap and random features.

    Trees grow on coded columns: exactly up to 4096 rows, in at most 255 bins per column beyond
    (``criterion`` misclassification, several outputs, ``monotonic_cst`` and ``max_leaf_nodes``
    always exactly). ``sample_weight`` equals repetition (weights that are not whole are chances
    of being drawn), NaN is accepted, the forest is the same for any ``n_jobs``.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : str or SplitSearch, default="gini"
        "gini", "entropy", "log_loss" or "misclassification".
    max_depth : int, default=None
        Levels of questions at most.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Distinct rows that a node needs to be split, and that each side must keep.
    min_weight_fraction_leaf : float, default=0.0
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Features looked at in each node.
    max_leaf_nodes : int, default=None
        Grow the best leaf first until there are so many.
    min_impurity_decrease : float, default=0.0
    bootstrap : bool, default=True
        False: every tree sees all rows.
    oob_score : bool or callable, default=False
        Judge each row by the trees that have not seen it; a callable ``score(y, answer)``.
    n_jobs : int, default=None
        Threads; None: as many as ``pellucid`` may use.
    random_state : int, RandomState, Generator or None, default=None
    verbose : int, default=0
        Accepted without effect.
    warm_start : bool, default=False
        Keep the trees of the fit before and add the missing ones.
    class_weight : dict, list of dict, "balanced", "balanced_subsample" or None, default=None
    ccp_alpha : float, default=0.0
        Cost of a leaf in cost-complexity pruning.
    max_samples : int, float or None, default=None
        Rows that each tree draws.
    monotonic_cst : array-like of -1, 0, 1, default=None
    sampling : "bootstrap", Bootstrap, Disjoint or None, default="bootstrap"
        What each tree sees; wins over ``bootstrap`` and ``max_samples`` when not the default.
    categorical_features : "from_dtype", mask, column numbers, names or None
    interaction_cst : sequence of sets of column numbers, "pairwise", "no_interactions" or None
        As in ``DecisionTreeClassifier``.

    Attributes
    ----------
    forest_ : Forest
        All nodes of all trees in flat arrays.
    estimators_ : list of DecisionTreeClassifier
    estimators_samples_ : list of row numbers, with repetition
    classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_
    feature_importances_, raw_importances_ : ndarray of shape (n_features,)
    oob_score_, oob_decision_function_, oob_curve_
        With ``oob_score``: accuracy, class shares (n, K), error after 1, 2, ... trees.

    Examples
    --------
    >>> from pellucid import RandomForestClassifier
    >>> X, y = [[i] for i in range(20)], ["low"] * 10 + ["high"] * 10
    >>> model = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    >>> model.predict([[2], [17]]).tolist(), model.oob_score_ > 0.8
    (['low', 'high'], True)
    >>> model.vote_counts([[2]]).tolist()
    [[0, 50]]
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Any = "gini",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        sampling: Any = "bootstrap",
        categorical_features: Any = "from_dtype",
        interaction_cst: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.sampling = sampling
        self.categorical_features = categorical_features
        self.interaction_cst = interaction_cst


class RandomForestRegressor(ForestRegressor):
    """A committee of regression trees, each on its own bootstrap and random features.

    Growth, weights, NaN and threads as in ``RandomForestClassifier``.

    Parameters
    ----------
    n_estimators : int, default=100
        Trees.
    criterion : str or SplitSearch, default="squared_error"
        "squared_error", "absolute_error", "poisson" or "friedman_mse" (= squared_error).
    max_depth : int, default=None
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
    min_weight_fraction_leaf : float, default=0.0
    max_features : int, float, "sqrt", "log2" or None, default=1.0
        Features looked at in each node.
    max_leaf_nodes : int, default=None
    min_impurity_decrease : float, default=0.0
    bootstrap : bool, default=True
    oob_score : bool or callable, default=False
    n_jobs : int, default=None
    random_state : int, RandomState, Generator or None, default=None
    verbose : int, default=0
        Accepted without effect.
    warm_start : bool, default=False
    ccp_alpha : float, default=0.0
    max_samples : int, float or None, default=None
    monotonic_cst : array-like of -1, 0, 1, default=None
    sampling : "bootstrap", Bootstrap, Disjoint or None, default="bootstrap"
    categorical_features : "from_dtype", mask, column numbers, names or None
    interaction_cst : sequence of sets of column numbers, "pairwise", "no_interactions" or None
        As in ``DecisionTreeRegressor``.

    Attributes
    ----------
    forest_, estimators_, estimators_samples_, feature_importances_, raw_importances_
        As in ``RandomForestClassifier``.
    leaf_rows_, targets_
        The training rows of every leaf and the training targets, for ``predict_quantiles``.
    oob_score_, oob_prediction_, oob_curve_
        With ``oob_score``: R squared, answers, mean squared error after 1, 2, ... trees.

    Examples
    --------
    >>> from pellucid import RandomForestRegressor
    >>> X, y = [[i] for i in range(20)], [0.0] * 10 + [1.0] * 10
    >>> model = RandomForestRegressor(50, random_state=0).fit(X, y)
    >>> model.predict([[2], [17]]).tolist()
    [0.0, 1.0]
    >>> model.predict_quantiles([[2]], [0.1, 0.9]).tolist()
    [[0.0, 0.0]]
    >>> model.predict_interval([[2]], model.calibrate_intervals(X, y, confidence=0.8)).tolist()
    [[0.0, 0.0]]
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: Any = "squared_error",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: Any = None,
        monotonic_cst: Any = None,
        sampling: Any = "bootstrap",
        categorical_features: Any = "from_dtype",
        interaction_cst: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.sampling = sampling
        self.categorical_features = categorical_features
        self.interaction_cst = interaction_cst
