r"""RANSAC: the model that most rows agree with, found by fitting small random sets of rows.

Trial        draw ``min_samples`` rows, fit them, count the inliers: rows with loss <= threshold
Best         most inliers; among equals the higher R^2 on them
Trials       enough that some set without outliers was drawn with probability ``stop_probability``:
             log(1 - stop_probability) / log(1 - s^k), s the best share of inliers so far, k the
             size of a set;  at most ``max_trials``
Answer       the model fitted to all inliers of the best trial
Algorithm    least squares is solved for many sets at once (one stacked SVD), and their residuals by
             one matrix product: a trial costs n p operations at the speed of BLAS. Any other
             regressor is fitted trial by trial.

A row of whole weight w stands w times in the list that is drawn from and counts w times, so weight
2 is a row written twice; the list is ordered by the cells, so the order of the rows is nothing.

References: Fischler & Bolles (1981).
"""

import time
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn import linear_model as theirs
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.metrics import r2_score
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from pellucid.base import Regressor, with_callbacks
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.quantiles import weighted_median
from pellucid.core.arrays.row_order import own_order
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import (
    Array,
    ArrayLike,
    BoolArray,
    IntArray,
    Rng,
    Seed,
)
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext, History
from pellucid.core.meta import check_inner, route, rows_of
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares.least_squares import LinearRegression
from pellucid.linear.robust.theil_sen_regressor import fit_subsets

LONGEST = 2.0**50  # of a list whose places are whole numbers; longer ones are drawn in steps
TOGETHER = 16  # trials whose least squares are solved at once
JUDGED = 4  # of them judged by all rows with one matrix product


class Drawn(NamedTuple):
    """The rows in an order of their own, and where each ends in the list that is drawn from."""

    order: IntArray
    ends: Array  # cumulative weights in that order
    whole: bool

    @property
    def total(self) -> float:
        return float(self.ends[-1])

    def subset(self, k: int, rng: Rng) -> IntArray:
        """k places of the list without replacement, as rows (a row may stand there twice)."""
        if self.whole:
            step = max(1.0, self.total / LONGEST)
            places = rng.choice(int(self.total / step), k, replace=False) * step
            return self.order[np.searchsorted(self.ends, places, side="right")]
        rows: list[int] = []
        while len(rows) < k:
            at = int(np.searchsorted(self.ends, rng.random() * self.total, side="right"))
            row = int(self.order[min(at, len(self.order) - 1)])
            if row not in rows:
                rows.append(row)
        return np.array(rows)


class Trial(NamedTuple):
    """One fitted set: its losses, and what scores it on the inliers."""

    subset: IntArray
    losses: Array  # (n,)
    score: Callable[[BoolArray], float]


class Best(NamedTuple):
    """The best trial so far and why others were skipped."""

    inliers: BoolArray | None = None
    weight: float = 0.0
    score: float = -np.inf
    trials: int = 0
    needed: float = np.inf
    no_inliers: int = 0
    invalid_data: int = 0
    invalid_model: int = 0

    @property
    def skips(self) -> int:
        return self.no_inliers + self.invalid_data + self.invalid_model


def needed_trials(share: float, k: int, probability: float) -> float:
    """Trials after which a set without outliers was drawn with this probability.

    >>> needed_trials(0.5, 2, 0.99)
    17.0
    """
    miss, doubt = max(EPS, 1 - share**k), max(EPS, 1 - probability)
    if doubt == 1:
        return 0.0
    return np.inf if miss == 1 else abs(float(np.ceil(np.log(doubt) / np.log(miss))))


def absolute(y: Array, said: Array) -> Array:
    """|y - f(x)|, added up over several targets."""
    E = np.abs(y - said)
    return E if E.ndim == 1 else E.sum(axis=1)


def squared(y: Array, said: Array) -> Array:
    """(y - f(x))^2, added up over several targets."""
    E = (y - said) ** 2
    return E if E.ndim == 1 else E.sum(axis=1)


LOSSES = {"absolute_error": absolute, "squared_error": squared}


class RANSACRegressor(MetaEstimatorMixin, Regressor):
    """The model that most rows agree with: fit small random sets, keep the one with most inliers.

    ``sample_weight`` equals repetition.

    Parameters
    ----------
    estimator : regressor or None, default=None
        What is fitted; None: ``LinearRegression()``.
    min_samples : int, float or None, default=None
        Rows of a set: a number, a share of the rows below 1, or None for p + 1 (least squares
        only).
    residual_threshold : float or None, default=None
        Largest loss of an inlier; None: the median absolute deviation of y.
    is_data_valid : callable or None, default=None
        ``is_data_valid(X, y)`` of a set; False skips it.
    is_model_valid : callable or None, default=None
        ``is_model_valid(model, X, y)`` of a fitted set; False skips it.
    max_trials : int, default=100
        Sets at most.
    max_skips : int or inf, default=inf
        Skipped sets at most.
    stop_n_inliers : int or inf, default=inf
        End with the first set of at least so many inliers.
    stop_score : float, default=inf
        End with the first set of at least this R^2 on its inliers.
    stop_probability : float, default=0.99
        End when a set without outliers was drawn with this probability.
    loss : {"absolute_error", "squared_error"} or callable, default="absolute_error"
        ``loss(y, predicted)`` of each row.
    random_state : int, RandomState, Generator or None, default=None
        Draws the sets.

    Attributes
    ----------
    estimator_ : the model fitted to the inliers
    inlier_mask_ : ndarray of bool, the rows it was fitted to
    n_trials_ : sets drawn
    n_skips_no_inliers_, n_skips_invalid_data_, n_skips_invalid_model_ : sets skipped, and why
    threshold_ : largest loss of an inlier
    history_ : objective (rows outside, to be made few), inliers and score of every better set;
        gap: the sets that were still to be drawn after it

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import RANSACRegressor
    >>> x = np.arange(12.0)
    >>> y = 2 * x + 1
    >>> y[[3, 8]] = 90.0, -40.0
    >>> model = RANSACRegressor(random_state=0).fit(x[:, None], y)
    >>> model.estimator_.coef_.round(6), np.flatnonzero(~model.inlier_mask_)
    (array([2.]), array([3, 8]))
    """

    def __init__(
        self,
        estimator: BaseEstimator | None = None,
        *,
        min_samples: float | None = None,
        residual_threshold: float | None = None,
        is_data_valid: Callable[..., bool] | None = None,
        is_model_valid: Callable[..., bool] | None = None,
        max_trials: int = 100,
        max_skips: float = np.inf,
        stop_n_inliers: float = np.inf,
        stop_score: float = np.inf,
        stop_probability: float = 0.99,
        loss: str | Callable[[Array, Array], Array] = "absolute_error",
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.min_samples = min_samples
        self.residual_threshold = residual_threshold
        self.is_data_valid = is_data_valid
        self.is_model_valid = is_model_valid
        self.max_trials = max_trials
        self.max_skips = max_skips
        self.stop_n_inliers = stop_n_inliers
        self.stop_score = stop_score
        self.stop_probability = stop_probability
        self.loss = loss
        self.random_state = random_state

    def _template(self) -> Any:
        return LinearRegression() if self.estimator is None else self.estimator

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self._template()).input_tags.sparse)

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self._template()).input_tags.allow_nan)

    def get_metadata_routing(self) -> Any:
        """What is passed on to the fits of the inner estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        inner = self._template()
        return MetadataRouter(owner=self).add(estimator=inner, method_mapping=mapping)

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Draw sets until one is good enough, then fit the inliers of the best."""
        self._check_parameters()
        template = clone(self._template())
        if sample_weight is not None and not has_fit_parameter(template, "sample_weight"):
            name = type(template).__name__
            raise ValueError(f"{name} does not support sample_weight, which its last fit needs")
        rows = self._check_training(X, y, sample_weight)
        extra = route(self, "fit", None, params, open_door=True) if params else {}
        w = np.asarray(rows.w)
        kept = np.flatnonzero(w > 0)
        whole = len(kept) == len(w)
        table = (rows.X, rows.y, w) if whole else (rows.X[kept], rows.y[kept], w[kept])
        context = FitContext.of_rows(self, rows, sample_weight, None)
        best = self._search(template, *table, extra, context)
        mask = np.zeros(len(w), dtype=bool)
        mask[kept] = best.inliers
        self.inlier_mask_ = mask
        final = dict(extra)
        if sample_weight is not None:
            final["sample_weight"] = w[mask]
        template.fit(rows.X[mask], rows.y[mask], **final)
        self.estimator_ = template
        context.end()
        return self

    def _search(
        self,
        template: BaseEstimator,
        X: Any,
        y: Array,
        w: Array,
        extra: dict[str, Any],
        context: FitContext,
    ) -> Best:
        n_rows, whole = float(w.sum()), bool((w == np.floor(w)).all())
        k = self._set_size(template, X.shape[1], n_rows if whole else float(len(w)))
        self.threshold_ = self._threshold(y, w)
        order = own_order(to_dense(X), y)
        drawn = Drawn(order, np.cumsum(w[order]), whole)
        state, history, began = Best(needed=float(self.max_trials)), [], time.perf_counter()
        trials = self._trials(template, X, y, w, drawn, k, extra)
        for _, trial in zip(range(self.max_trials), trials, strict=False):
            state, better = self._judge(state, trial, w, n_rows, k)
            if better:
                row = {"objective": n_rows - state.weight, "inliers": state.weight}
                left = max(state.needed - state.trials, 0.0)
                row |= {"score": state.score, "gap": left, "seconds": time.perf_counter() - began}
                history.append({"step": state.trials, **row})
            asked = context.step(state.trials, state, history[-1] if history else None)
            good = state.weight >= self.stop_n_inliers or state.score >= self.stop_score
            if asked or good or state.skips > self.max_skips or state.trials >= state.needed:
                break
        self._set(state, History(history))
        return state

    def _trials(
        self,
        template: BaseEstimator,
        X: Any,
        y: Array,
        w: Array,
        drawn: Drawn,
        k: int,
        extra: dict[str, Any],
    ) -> Iterator[Trial | str]:
        """Fitted sets in turn, or why one was skipped."""
        rng = generator(self.random_state)
        loss = LOSSES[self.loss] if isinstance(self.loss, str) else self.loss
        free = bool(template.get_params().get("fit_intercept"))
        plain = LinearRegression(fit_intercept=free).get_params()
        quick = type(template) is LinearRegression and template.get_params() == plain and not extra
        asks = self.is_data_valid is not None or self.is_model_valid is not None
        D = np.column_stack([np.full(len(y), float(free)), to_dense(X)]) if quick else None
        while True:
            sets = [drawn.subset(k, rng) for _ in range(TOGETHER if quick and not asks else 1)]
            subset = sets[0]
            if self.is_data_valid is not None and not self.is_data_valid(X[subset], y[subset]):
                yield "invalid_data"
                continue
            if D is not None:
                yield from self._lines(D, X, y, w, sets, loss)
                continue
            model = clone(template)
            model.fit(X[subset], y[subset], **rows_of(extra, X, subset))
            asked = self.is_model_valid
            if asked is not None and not asked(model, X[subset], y[subset]):
                yield "invalid_model"
                continue
            said = np.asarray(model.predict(X))
            yield Trial(subset, loss(y, said), partial(inlier_score, y, said, w))

    def _lines(
        self,
        D: Array,
        X: Array,
        y: Array,
        w: Array,
        sets: list[IntArray],
        loss: Callable[[Array, Array], Array],
    ) -> Iterator[Trial | str]:
        """Least squares of several sets at once; no set is too small for a plane of least norm."""
        Y = y if y.ndim == 2 else y[:, None]
        theta = np.stack([fit_subsets(D, column, np.array(sets)) for column in Y.T])  # (t, m, q)
        theta[:, :, 0] *= D[0, 0]  # no intercept: a column of zeros
        for j, subset in enumerate(sets):
            if j % JUDGED == 0:  # (t, JUDGED, n): what one set says of all rows lies together
                said = theta[:, j : j + JUDGED] @ D.T
            if self.is_model_valid is not None:
                model = LinearRegression()
                model.n_features_in_ = X.shape[1]
                model.coef_ = theta[:, j, 1:] if y.ndim == 2 else theta[0, j, 1:]
                model.intercept_ = theta[:, j, 0] if y.ndim == 2 else float(theta[0, j, 0])
                if not self.is_model_valid(model, X[subset], y[subset]):
                    yield "invalid_model"
                    continue
            answer = said[:, j % JUDGED].T if y.ndim == 2 else said[0, j % JUDGED]
            yield Trial(subset, loss(y, answer), partial(inlier_score, y, answer, w))

    def _judge(
        self, state: Best, trial: Trial | str, w: Array, n_rows: float, k: int
    ) -> tuple[Best, bool]:
        state = state._replace(trials=state.trials + 1)
        if isinstance(trial, str):
            return state._replace(**{trial: getattr(state, trial) + 1}), False
        inliers = trial.losses <= self.threshold_
        count = float(w[inliers].sum())
        if count < state.weight or count == 0:
            return state._replace(no_inliers=state.no_inliers + 1), False
        score = trial.score(inliers)
        if count == state.weight and score < state.score:
            return state, False
        trials = needed_trials(count / n_rows, k, self.stop_probability)
        needed = min(state.needed, max(trials, 1.0))
        found = state._replace(inliers=inliers, weight=count, score=score, needed=needed)
        return found, True

    def _set(self, state: Best, history: History) -> None:
        self.n_trials_, self.history_ = state.trials, history
        self.n_skips_no_inliers_ = state.no_inliers
        self.n_skips_invalid_data_ = state.invalid_data
        self.n_skips_invalid_model_ = state.invalid_model
        if state.inliers is None:
            what = "RANSAC could not find a valid consensus set. All `max_trials` iterations"
            why = f"{what} were skipped"
            if state.skips > self.max_skips:
                what = "RANSAC skipped more iterations than `max_skips`"
                why = f"{what} without finding a valid consensus set"
            kinds = f"{state.no_inliers} had no inliers, {state.invalid_data} invalid data, "
            kinds += f"{state.invalid_model} an invalid model"
            raise ValueError(f"{why}: of {state.trials} sets {kinds}")
        if state.skips > self.max_skips:
            warn(
                "RANSAC found a valid consensus set but exited early due to skipping more "
                "iterations than `max_skips`. See estimator attributes for diagnostics.",
                ConvergenceWarning,
            )

    def _threshold(self, y: Array, w: Array) -> float:
        if self.residual_threshold is not None:
            return float(self.residual_threshold)
        Y = y if y.ndim == 2 else y[:, None]
        deviation = np.abs(Y - weighted_median(Y, w))
        return float(weighted_median(deviation.ravel()[:, None], np.repeat(w, Y.shape[1]))[0])

    def _set_size(self, template: BaseEstimator, p: int, n_rows: float) -> int:
        """Rows of a set."""
        given = self.min_samples
        if given is None:
            if not isinstance(template, LinearRegression | theirs.LinearRegression):
                what = "`min_samples` needs to be explicitly set when estimator is not"
                raise ValueError(f"{what} a LinearRegression.")
            size = p + 1
        elif 0 < given < 1:
            size = int(np.ceil(given * n_rows))
        else:
            size = int(given)
        if size > n_rows:
            what = "`min_samples` may not be larger than number of samples"
            raise ValueError(f"{what}: n_samples = {n_rows:g}, min_samples = {size}")
        return size

    def _check_parameters(self) -> None:
        check_inner(self, self._template(), "fit", "predict")
        check.whole(at_least=0, max_trials=self.max_trials)
        check.non_negative(max_skips=self.max_skips, stop_n_inliers=self.stop_n_inliers)
        check.non_negative(**check.given(residual_threshold=self.residual_threshold))
        check.non_negative(stop_probability=self.stop_probability)
        if not isinstance(self.stop_score, Real) or np.isnan(self.stop_score):
            raise ValueError(f"stop_score must be a number, got {self.stop_score!r}")
        if self.stop_probability > 1:
            raise ValueError(f"stop_probability must be <= 1, got {self.stop_probability!r}")
        if self.min_samples is not None:
            check.positive(min_samples=self.min_samples)
            if self.min_samples >= 1 and self.min_samples != int(self.min_samples):
                raise ValueError(
                    f"min_samples must be whole or a share below 1, got {self.min_samples!r}"
                )
        if isinstance(self.loss, str):
            check.one_of(tuple(LOSSES), loss=self.loss)
        elif not callable(self.loss):
            raise ValueError(f"loss must be a name or a function, got {self.loss!r}")

    def predict(self, X: ArrayLike) -> Array:
        """What the model of the inliers says."""
        rows = self._check_input(X)
        return self.estimator_.predict(rows)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the model of the inliers."""
        rows, given = self._check_input(X), {"sample_weight": sample_weight}
        return float(self.estimator_.score(rows, y, **given if sample_weight is not None else {}))

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        kind = type(self.estimator_).__name__
        count = int(self.inlier_mask_.sum())
        return Card(
            representation=f"{kind} of the {count} inliers among {len(self.inlier_mask_)} rows",
            evaluation=f"rows with a loss of at most {self.threshold_:.6g}, as many as possible",
            optimisation=f"{self.n_trials_} random sets, each fitted and judged by all rows; the "
            "best is found with a probability, not for certain",
            numbers={
                "inliers": count,
                "trials": self.n_trials_,
                "threshold": self.threshold_,
                "score of the inliers": self.history_[-1]["score"],
            },
        )


def inlier_score(y: Array, said: Array, w: Array, inliers: BoolArray) -> float:
    """R^2 on the inliers; of one row, where it is not defined, 1 or minus infinity."""
    if int(inliers.sum()) < 2:
        return float("nan") if not inliers.any() else 1.0
    return float(r2_score(y[inliers], said[inliers], sample_weight=w[inliers]))
