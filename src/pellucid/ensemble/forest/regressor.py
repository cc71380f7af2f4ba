"""Forests of regression trees, whatever their trees.

Mean          of the trees; its standard error by the infinitesimal jackknife
Quantiles     of the targets that share leaves with a row, and intervals calibrated out of bag
Out of bag    answers and R squared of the trees that have not seen a row
"""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.ensemble.forest.block_fit import NOT_HERE, Gathered
from pellucid.ensemble.forest.forest_model import ForestEstimator, fingerprint, jobs
from pellucid.ensemble.forest.intervals import ForestCalibration, fit_calibration
from pellucid.ensemble.forest.reading import forest_quantiles, jackknife_std
from pellucid.tree.regressor import DecisionTreeRegressor


class ForestRegressor(ForestEstimator, Regressor):
    """What forests of regression trees share."""

    _squares_y = True

    _keeps_rows: ClassVar[bool] = True

    def _member(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor()

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the trees."""
        context = FitContext.of_one_step(self, X, y, sample_weight)
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
            self.leaf_rows_ = added if old is None else np.concatenate([old, added])
            self.training_rows_ = fingerprint(rows.X)
            self.training_target_ = fingerprint(rows.y)
            self.targets_ = rows.y.copy()
            if self.oob_score:
                self._oob(targets, w, rows.X)
        context.end()
        return self

    def _take_blocks(self, rows: Gathered, grow: Callable[..., Any]) -> None:
        self.n_outputs_ = 1
        self.leaf_rows_ = grow(rows.y[:, None], None, None)
        if not np.isfinite(self.forest_.impurity).all():
            raise ValueError("y holds numbers too large to be squared; divide it by a constant")
        self.targets_ = rows.y
        self.training_rows_, self.training_target_ = NOT_HERE, fingerprint(rows.y)

    def _oob(self, y: Array, w: Array, X: Array) -> None:
        forest, n = self.forest_, len(y)
        total, votes = np.zeros(y.shape), np.zeros(n)
        error, curve = np.zeros(n), np.full(forest.n_trees, np.nan)
        for t, rows, leaves in self._oob_leaves(X, w):
            total[rows] += forest.at(forest.start[t] + leaves)
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
                raise ValueError("return_std needs trees that draw their rows (bootstrap=True)")
            std = jackknife_std(forest, self.sampler_, rows)
        return mean, std[:, 0] if self.n_outputs_ == 1 else std

    def predict_quantiles(self, X: ArrayLike, quantiles: ArrayLike = (0.1, 0.5, 0.9)) -> Array:
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
            found = forest_quantiles(*self._leaves(), self.targets_.ravel(), rows, asked[order])
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
        rows, target = self._training_data(X, y)
        with jobs(self.n_jobs):
            return fit_calibration(*self._leaves(), target.ravel(), rows, confidence)

    def _leaves(self) -> tuple[Any, Any, Any]:
        """The trees, the rows of their leaves, and who saw what."""
        return self.forest_, self.leaf_rows_, self.sampler_

    def predict_interval(self, X: ArrayLike, calibration: ForestCalibration) -> Array:
        """Intervals (n, 2) that hold a new y with the confidence of the calibration.

        Parameters
        ----------
        X : array-like of shape (n, d)
        calibration : ForestCalibration
            Of ``calibrate_intervals``.
        """
        if not isinstance(calibration, ForestCalibration):
            name = type(calibration).__name__
            raise TypeError(f"calibration must come from calibrate_intervals, got {name}")
        found = self.predict_quantiles(X, calibration.levels)
        low, high = found[:, 0] - calibration.margin, found[:, 1] + calibration.margin
        middle = 0.5 * (found[:, 0] + found[:, 1])
        return np.column_stack([np.minimum(low, middle), np.maximum(high, middle)])

    def _known_target(self, y: ArrayLike, n: int) -> Any:
        return self._check_target(y, n)

    def _errors(self, target: Any) -> Any:
        y = target.reshape(len(target), -1)
        forest = self.forest_

        def errors(t: int, leaves: IntArray, rows: IntArray) -> float:
            gap = forest.at(forest.start[t] + leaves) - y[rows]
            return float((gap * gap).mean())

        return errors

    def _check_state(self) -> None:
        super()._check_state()
        if not hasattr(self, "forest_"):
            return
        rows, targets, forest = self.leaf_rows_, self.targets_, self.forest_
        sizes = forest.leaf_sizes()
        if forest.value.shape[1] != self.n_outputs_:
            raise ValueError(f"forest_ must have values of {self.n_outputs_} outputs")
        n = self.sampler_.n
        arrays = isinstance(rows, np.ndarray) and isinstance(targets, np.ndarray)
        sound = arrays and rows.dtype == np.int32 and targets.dtype == np.float64
        sound = sound and sizes.min() >= 0 and rows.shape == (int(sizes.sum(dtype=np.int64)),)
        sound = sound and len(targets) == n and targets.size == n * self.n_outputs_
        if not sound or (len(rows) and not 0 <= rows.min() <= rows.max() < n):
            raise ValueError("leaf_rows_ and targets_ must fit the leaves of forest_")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        return self._card(
            "the mean of many deep trees: a fine step function on axis-parallel boxes; no scaling, "
            "no assumption on the form; constant beyond the data"
        )
