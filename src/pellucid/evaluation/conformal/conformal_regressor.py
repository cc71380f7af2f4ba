r"""Prediction intervals that cover, around any regressor.

See ``conformal_scores`` for the scores. Which method:

    split        one fit, one part of the rows kept to calibrate; exact coverage
    cv+          k + 1 fits, all rows used for both; at least 1 - 2a, in practice about 1 - a
    jackknife+   the same with n folds; for least squares and ridge without refitting:
                 f_-i(x) = f(x) - h(x, x_i) r_i/(1 - h_ii)
    normalised   split, with intervals as wide as the model expects its errors to be: a second
                 clone learns ln|residual| from held-out residuals of the fitted rows
    quantile     split around two quantile fits (the estimator has a ``quantile`` parameter, or
                 ``loss="quantile"`` with ``alpha``); width follows the law, not only the scale
"""

from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.utils import _safe_indexing

from pellucid.base import Regressor, check_number_target, with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, IntArray, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.meta import fitted
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.evaluation.conformal import conformal_scores as scoring
from pellucid.evaluation.conformal.conformal_model import ConformalModel
from pellucid.evaluation.splits.folds import fit_on, splitter_of
from pellucid.evaluation.workers import run_tasks
from pellucid.linear.least_squares.jackknife import jackknife_plus
from pellucid.linear.least_squares.least_squares import LinearRegression
from pellucid.linear.least_squares.smoother import leverages, scores
from pellucid.linear.ridge.ridge import Ridge
from pellucid.linear.sum_folds import check_folds

METHODS = ("split", "cv+", "jackknife+", "normalised", "quantile")
TIGHT = 1e-10  # a row of leverage 1 decides its own fit: leaving it out needs a refit


def quantile_parameter(estimator: BaseEstimator) -> str:
    """The name of the parameter that chooses the quantile, inside pipelines too.

    >>> from pellucid import QuantileRegressor
    >>> quantile_parameter(QuantileRegressor())
    'quantile'
    """
    params = estimator.get_params(deep=True)
    found = []
    for name in params:
        prefix, _, last = name.rpartition("__")
        loss = params.get(f"{prefix}__loss" if prefix else "loss")
        quantile = last == "quantile" and loss in (None, "quantile")
        if quantile or (last == "alpha" and loss == "quantile"):
            found.append(name)
    if not found:
        need = "an estimator with a quantile parameter (or loss='quantile' and alpha)"
        raise ValueError(f"method='quantile' needs {need}, {type(estimator).__name__} has none")
    return min(found, key=lambda name: (name.count("__"), "quantile" not in name))


class ConformalRegressor(ConformalModel, Regressor):
    """Intervals around any regressor that cover new rows with the confidence they state.

    The guarantee needs only that calibration rows and new rows are exchangeable: no normal noise,
    no true model.

    Parameters
    ----------
    estimator : regressor
        Any scikit-learn-compatible one; it is cloned.
    method : {"split", "cv+", "jackknife+", "normalised", "quantile"}, default="split"
        See the table at the head of the page in the docs.
    confidence : float, default=0.95
        Of ``predict_interval`` where it is not given another.
    calibration_size : float or int, default=0.25
        Share or number of rows kept to calibrate ("split", "normalised", "quantile").
    cv : int, splitter or list of splits, default=5
        Folds of "cv+", and of the residuals that "normalised" learns the scale from.
    n_jobs : int or None, default=None
        Workers for the folds; the numbers do not depend on it.
    random_state : int, Generator or None, default=None
        Chooses the calibration rows and, if given, shuffles the folds.

    Attributes
    ----------
    estimator_ : the fitted model that ``predict`` uses
    scores_ : ndarray
        Conformity scores of the calibration rows; for "cv+" and "jackknife+" held-out residuals.
    n_calibration_ : int
    estimators_, fold_ : the models without each fold, and the fold of each row
        ("cv+", and "jackknife+" where it must refit)
    scale_estimator_ : predicts ln|residual| ("normalised")

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import ConformalRegressor, Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = X @ [1.0, 2.0] + rng.normal(size=200)
    >>> model = ConformalRegressor(Ridge(), method="jackknife+", confidence=0.9).fit(X, y)
    >>> model.predict_interval([[0.0, 0.0]]).round(1)
    array([[-1.6,  1.6]])
    """

    _multi_output = False

    def __init__(
        self,
        estimator: BaseEstimator,
        *,
        method: str = "split",
        confidence: float = 0.95,
        calibration_size: float = 0.25,
        cv: Folds = 5,
        n_jobs: int | None = None,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.confidence = confidence
        self.calibration_size = calibration_size
        self.cv = cv
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Fit the regressor and calibrate its intervals."""
        self._check_options(METHODS)
        check_folds(self.cv)
        X = self._open(X, reset=True)
        y = check_number_target(y, X.shape[0], False, self)
        context = FitContext(self, X=X, y=y)
        for name in ("estimators_", "fold_", "rows_", "scale_estimator_", "log_scale_range_"):
            self.__dict__.pop(name, None)  # of an earlier fit by another method
        if self.method == "cv+":
            self._fit_folds(X, y, self._splits(X, y))
        elif self.method == "jackknife+":
            self._fit_jackknife(X, y)
        else:
            self._fit_split(X, y)
        self.n_calibration_ = len(self.scores_)
        context.end()
        return self

    def _splits(self, X: np.ndarray, y: Array) -> list[tuple[IntArray, IntArray]]:
        n = X.shape[0]
        splitter = splitter_of(self.cv, y, classifier=False, random_state=self.random_state)
        if isinstance(splitter, KFold) and splitter.n_splits > n:
            raise ValueError(f"cv={splitter.n_splits} folds need as many rows, got n_samples={n}")
        splits = list(splitter.split(X, y))
        tested = np.bincount(np.concatenate([test for _, test in splits]), minlength=n)
        if (tested != 1).any():
            row = int(np.argmax(tested != 1))
            times = f"row {row} is tested {tested[row]} times"
            raise ValueError(f"cv must test every row once, {times}")
        return splits

    def _fit_folds(self, X: np.ndarray, y: Array, splits: list[tuple[IntArray, IntArray]]) -> None:
        """One model without each fold, and the residuals on the fold."""
        self.estimator_ = fitted(clone(self.estimator), X, y)
        self.estimators_ = self._without(X, y, splits)
        self.fold_ = np.empty(len(y), dtype=np.intp)
        self.scores_ = np.empty(len(y))
        for k, (model, (_, test)) in enumerate(zip(self.estimators_, splits, strict=True)):
            self.fold_[test] = k
            self.scores_[test] = y[test] - model.predict(_safe_indexing(X, test))

    def _fit_jackknife(self, X: np.ndarray, y: Array) -> None:
        """Least squares and ridge know their fits without each row; others are refitted."""
        if len(y) < 2:
            raise ValueError(f"jackknife+ needs at least 2 rows, got n_samples={len(y)}")
        self.estimator_ = fitted(clone(self.estimator), X, y)
        if type(self.estimator_) in (LinearRegression, Ridge):
            smoother = self.estimator_._smoother
            if not smoother.reason:
                Z = self.estimator_._dense_input(X)
                h = leverages(Z, smoother)
                if (1 - h > TIGHT).all():
                    self.rows_ = scores(Z, smoother)
                    self.scores_ = (y - self.estimator_.predict(X)) / (1 - h)
                    return
        self._fit_folds(X, y, list(LeaveOneOut().split(np.empty(len(y)))))

    def _fit_split(self, X: np.ndarray, y: Array) -> None:
        n, rng = len(y), generator(self.random_state)
        least = 2 if self.method == "normalised" else 1
        train, kept = scoring.split_rows(n, self.calibration_size, rng, least)
        X_kept, y_kept = _safe_indexing(X, kept), y[kept]
        if self.method == "quantile":
            name, a = quantile_parameter(self.estimator), 1 - self.confidence
            levels = ({name: level} for level in (a / 2, 0.5, 1 - a / 2))
            models = [
                fit_on(clone(self.estimator).set_params(**level), X, y, train) for level in levels
            ]
            self.estimators_, self.estimator_ = [models[0], models[2]], models[1]
            low, high = self._quantiles(X_kept)
            self.scores_ = np.maximum(low - y_kept, y_kept - high)
            return
        self.estimator_ = fit_on(self.estimator, X, y, train)
        if self.method == "normalised":
            self._fit_scale(_safe_indexing(X, train), y[train])
        self.scores_ = np.abs(y_kept - self.estimator_.predict(X_kept)) / self._scale(X_kept)

    def _fit_scale(self, X: np.ndarray, y: Array) -> None:
        """Learn ln|residual| from residuals on rows the model had not seen."""
        k = min(int(self.cv), len(y)) if isinstance(self.cv, Integral) else self.cv
        splitter = splitter_of(k, y, classifier=False, random_state=self.random_state)
        splits = list(splitter.split(X, y))
        models = self._without(X, y, splits)
        tested = np.concatenate([test for _, test in splits])
        pairs = zip(models, splits, strict=True)
        said = np.concatenate([model.predict(_safe_indexing(X, t)) for model, (_, t) in pairs])
        size = np.abs(y[tested] - said)
        floor = 1e-3 * float(size.mean()) or 1.0  # an exact fit has no scale to learn
        rows = _safe_indexing(X, tested)
        self.scale_estimator_ = clone(self.estimator).fit(rows, np.log(np.maximum(size, floor)))
        fitted = self.scale_estimator_.predict(rows)
        self.log_scale_range_ = (float(fitted.min()), float(fitted.max()))

    def _without(self, X: np.ndarray, y: Array, splits: list[tuple[IntArray, IntArray]]) -> Any:
        """The models fitted without each fold."""
        work, train = partial(fit_on, self.estimator, X, y), [rows for rows, _ in splits]
        return run_tasks(work, train, n_jobs=self.n_jobs, name="Folds")

    def _scale(self, X: ArrayLike) -> Any:
        """sigma(x), never beyond what was seen in training; 1 for the plain score."""
        if self.method != "normalised":
            return 1.0
        return np.exp(np.clip(self.scale_estimator_.predict(X), *self.log_scale_range_))

    def _quantiles(self, X: ArrayLike) -> tuple[Array, Array]:
        a, b = (np.asarray(model.predict(X)) for model in self.estimators_)
        return np.minimum(a, b), np.maximum(a, b)  # quantile fits may cross

    def predict_interval(self, X: ArrayLike, confidence: float | None = None) -> Array:
        """Limits (n, 2) for new observations; infinite, with a warning, for too few rows.

        None is the ``confidence`` of the constructor. With "quantile" another confidence moves the
        same two quantile fits.
        """
        X = self._open(X, reset=False)
        level = self._level(confidence)
        if self.method in ("cv+", "jackknife+"):
            return self._leave_out(X, level)
        q = scoring.conformal_quantile(self.scores_, level)
        if self.method == "quantile":
            low, high = self._quantiles(X)
            middle = (low + high) / 2  # q < 0 may turn an interval round: keep its middle
            return np.column_stack([np.minimum(low - q, middle), np.maximum(high + q, middle)])
        centre, half = np.asarray(self.estimator_.predict(X)), q * self._scale(X)
        return np.column_stack([centre - half, centre + half])

    def _leave_out(self, X: ArrayLike, level: float) -> Array:
        if not hasattr(self, "rows_"):
            said = np.column_stack([model.predict(X) for model in self.estimators_])
            return scoring.leave_out_interval(said, self.fold_, self.scores_, level)
        n = len(self.scores_)
        centre = np.asarray(self.estimator_.predict(X))
        if scoring.rank_of(n, level) > n:
            scoring.warn_few(n, level)
            return np.tile([-np.inf, np.inf], (len(centre), 1))
        smoother = self.estimator_._smoother
        new, ones = scores(self.estimator_._dense_input(X), smoother), np.ones(n)
        return jackknife_plus(centre, new, self.rows_, smoother.gain, self.scores_, ones, level)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        inner = type(self.estimator_).__name__
        promise = f"covers a new row with probability at least {self.confidence:g}"
        if self.method in ("cv+", "jackknife+"):
            worst = max(0.0, 2 * self.confidence - 1)
            promise = f"covers about {self.confidence:g}, by theory at least {worst:g}"
        how = {
            "split": "one fit; the quantile of |y - f(x)| on rows kept apart",
            "cv+": "a fit without each fold; quantiles of f_-k(x) -+ |held-out residual|",
            "jackknife+": f"fits without each row{', by the hat matrix' * hasattr(self, 'rows_')}",
            "normalised": "a fit and a model of ln|residual|; the quantile of |y - f(x)|/sigma(x)",
            "quantile": "two quantile fits, moved apart by the quantile of their misses",
        }
        numbers = {"confidence": self.confidence, "calibration rows": self.n_calibration_}
        rank = scoring.rank_of(len(self.scores_), self.confidence)
        notes: tuple[str, ...] = ()
        if rank > len(self.scores_):
            notes = ("too few calibration rows for this confidence: every interval is infinite",)
        elif self.method not in ("cv+", "jackknife+"):  # those have no single score
            ordered = np.partition(self.scores_, rank - 1)
            numbers["score at the confidence"] = float(ordered[rank - 1])
        return Card(
            f"{inner} with an interval [low(x), high(x)] ({self.method})",
            f"{promise}, for any law, if the rows are exchangeable",
            how[self.method],
            numbers,
            warnings=notes,
        )
