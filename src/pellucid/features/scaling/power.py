r"""Power transforms that make columns more like a normal distribution.

Box-Cox (x > 0)      T(x) = (x^lambda - 1)/lambda, log x for lambda = 0
Yeo-Johnson          T(x) = ((1 + x)^lambda - 1)/lambda                 for x >= 0
                     T(x) = -((1 - x)^(2 - lambda) - 1)/(2 - lambda)    for x < 0
Estimator            lambda = argmax -(n/2) ln var T(x) + (lambda - 1) sum sign(x) ln(1 + |x|)
                     (Box-Cox: sum ln x), the likelihood of a normal T(x)
Algorithm            Newton's method on all columns at once with halved steps where f rises; one
                     pass of the rows per step. Of a column of one sign the geometric mean is taken
                     off first: it does not change lambda and keeps powers in range. lambda stays
                     where T(x) and its square are numbers that can be told apart.

References: Box & Cox (1964); Yeo & Johnson (2000).
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.compiled.counts.moments import ClassMoments, merge_class_moments
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray
from pellucid.core.loops.backtrack import fell
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows, Statistic, reduce_rows, unit_weights
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.features.bases.knots import column_spans
from pellucid.features.scaling.column_scaler import ColumnScaler, spread_or_one
from pellucid.features.scaling.kernels import column_moments
from pellucid.features.scaling.power_kernels import Likelihood, likelihood

ROWS = 1024
LARGE, SMALL = 345.0, 18.0  # e^345 can be squared; 1 + e^-18 keeps eight digits of e^-18
TOL, MAX_STEPS = 1e-9, 100  # Newton doubles the digits at every step, so few are needed


class Columns(NamedTuple):
    """Logarithms of the cells and how to read them."""

    L: Array  # (n, p)
    turned: BoolArray  # (p,) of bool: x <= 0, so the exponent is 2 - lambda
    mixed: BoolArray  # (p,) of bool: both signs
    mean: Array  # (p,) mean of L; 0 where it was taken off
    least: Array  # (p,) the exponents that keep T in the range of numbers
    most: Array


class Search(NamedTuple):
    """The exponents so far, f there, and the next step."""

    m: Array
    at: Likelihood
    step: Array


def logarithms(X: Array, method: str, low: Array, high: Array) -> Columns:
    """ln x, or sign(x) ln(1 + |x|), centred where a column has one sign."""
    L = np.empty_like(X)

    def work(start: int) -> None:
        rows = slice(start, start + ROWS)
        if method == "box-cox":
            np.log(X[rows], out=L[rows])
        else:
            np.copysign(np.log1p(np.abs(X[rows])), X[rows], out=L[rows])

    list(map_threads(work, range(0, len(X), ROWS)))
    box, none = method == "box-cox", np.zeros(len(low), dtype=bool)
    turned = none if box else (high <= 0) & (low < 0)
    mixed = none if box else (low < 0) & (high > 0)
    statistic = Statistic(column_moments, merge_class_moments)
    total = reduce_rows(statistic, Rows(L, None, unit_weights(len(L))), map_threads)
    center = np.where(mixed, 0.0, total.mean[0])
    L -= center
    L *= np.where(turned, -1.0, 1.0)
    bounds = exponent_bounds(low, high, box, turned, mixed)
    return Columns(L, turned, mixed, np.where(mixed, total.mean[0], 0.0), *bounds)


def exponent_bounds(
    low: Array, high: Array, box: bool, turned: BoolArray, mixed: BoolArray
) -> tuple[Array, Array]:
    """The exponents m between which T and its square are numbers, and not all one number.

    >>> ends = np.array([1950.0]), np.array([2009.0])
    >>> no = np.zeros(1, dtype=bool)
    >>> [bound.round(1).tolist() for bound in exponent_bounds(*ends, False, no, no)]
    [[-2.4], [45.4]]
    """
    with np.errstate(all="ignore"):
        size = (lambda x: np.log(x)) if box else (lambda x: np.log1p(np.abs(x)))
        near, far = size(np.where(turned, high, low)), size(np.where(turned, low, high))
        most = np.where(far > 0, LARGE / far, np.inf)
        least = np.where(near > 0, -SMALL / near, np.where(near < 0, LARGE / near, -np.inf))
        return np.where(mixed, 2.0 - LARGE / near, least), most


def newton_step(columns: Columns, search: Search, active: BoolArray) -> tuple[Search, float]:
    """Try the next exponents; accept where f falls, halve the step where it does not."""
    m, at, step = search
    tried = likelihood(columns.L, m + step, columns.mixed, columns.mean)
    better = fell(tried.value, at.value, 1e-13) & active
    m = np.where(better, m + step, m)
    at = Likelihood(*(np.where(better, new, old) for new, old in zip(tried, at, strict=True)))
    step = np.where(active, np.where(better, proposal(m, at), step / 2), 0.0)
    step = np.clip(m + step, columns.least, columns.most) - m
    return Search(m, at, step), float(np.max(np.abs(step) / (1.0 + np.abs(m)), initial=0.0))


def proposal(m: Array, at: Likelihood) -> Array:
    """Newton's step, never longer than 1 + |m|; downhill where f is not convex."""
    with np.errstate(all="ignore"):
        newton = -at.slope / at.curvature
    longest = 1.0 + np.abs(m)
    safe = np.isfinite(newton) & (at.curvature > 0)
    return np.where(safe, np.clip(newton, -longest, longest), -np.sign(at.slope) * longest)


def power_cells(X: Array, lambdas: Array, method: str) -> Array:
    """T(x) of every cell; NaN stays.

    >>> power_cells(np.array([[np.e]]), np.zeros(1), "box-cox")
    array([[1.]])
    """
    with np.errstate(all="ignore"):
        if method == "box-cox":
            logs, m = np.log(X), np.broadcast_to(lambdas, X.shape)
        else:
            logs, m = np.log1p(np.abs(X)), np.where(X >= 0, lambdas, 2.0 - lambdas)
        T = np.where(m == 0, logs, np.expm1(m * logs) / np.where(m == 0, 1.0, m))
    return T if method == "box-cox" else np.copysign(T, X)


def inverse_cells(T: Array, lambdas: Array, method: str) -> Array:
    """The x with this T(x); NaN where there is none."""
    m = lambdas if method == "box-cox" else np.where(T >= 0, lambdas, 2.0 - lambdas)
    m = np.broadcast_to(m, T.shape)
    size = T if method == "box-cox" else np.abs(T)
    with np.errstate(all="ignore"):
        logs = np.where(m == 0, size, np.log1p(m * size) / np.where(m == 0, 1.0, m))
        return np.exp(logs) if method == "box-cox" else np.copysign(np.expm1(logs), T)


def power_moments(lambdas: Array, method: str, rows: Rows) -> ClassMoments:
    """Moments of T over one leaf."""
    return column_moments(rows._replace(X=power_cells(rows.X, lambdas, method)))


class PowerTransformer(ColumnScaler):
    """Box-Cox or Yeo-Johnson transform of every column by maximum likelihood.

    NaN is left out and stays NaN. A constant column is left as it is (lambda 1).

    Parameters
    ----------
    method : {"yeo-johnson", "box-cox"}, default="yeo-johnson"
        Box-Cox needs positive numbers.
    standardize : bool, default=True
        Mean 0 and variance 1 after the transform.
    copy : bool, default=True
        Accepted for scikit-learn's sake; the answer is always a new array.

    Attributes
    ----------
    lambdas_ : ndarray of shape (n_features,)
    history_ : one row per Newton step; ``objective`` is the sum of ln var T / 2 and the Jacobian

    Examples
    --------
    >>> from pellucid.features import PowerTransformer
    >>> X = [[1.0], [2.0], [4.0], [8.0], [16.0]]
    >>> model = PowerTransformer("box-cox").fit(X)
    >>> abs(model.lambdas_[0]) < 1e-9
    np.True_
    >>> model.transform(X).ravel().round(3)
    array([-1.414, -0.707,  0.   ,  0.707,  1.414])
    """

    def __init__(
        self, method: str = "yeo-johnson", *, standardize: bool = True, copy: bool = True
    ) -> None:
        self.method = method
        self.standardize = standardize
        self.copy = copy

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = self.method == "box-cox"
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find the exponent of every column."""
        check.one_of(("yeo-johnson", "box-cox"), method=self.method)
        check.boolean(standardize=self.standardize, copy=self.copy)
        rows = self._check_training(X)
        self._refuse_signs(rows.X)
        low, high = column_spans(rows)
        active = high > low
        columns = logarithms(rows.X, self.method, low, high)
        start = np.clip(np.ones(len(low)), columns.least, columns.most)
        at = likelihood(columns.L, start, columns.mixed, columns.mean)
        first = np.clip(start + proposal(start, at), columns.least, columns.most) - start
        state = Search(start, at, np.where(active, first, 0.0))

        def attributes(s: Search) -> dict[str, Any]:
            return self._attributes(rows, columns, s, active)

        def record(s: Search) -> dict[str, float]:
            return {"objective": float(s.at.value[active].sum() / 2)}

        context = FitContext(self, X=rows.X, max_steps=MAX_STEPS, attributes=attributes)
        step = partial(newton_step, columns, active=active)
        limits: dict[str, Any] = {"max_iter": MAX_STEPS, "tol": TOL}
        run = self._iterate(step, state, record=record, context=context, **limits)
        self.lambdas_, self._mean, self._deviation = attributes(run.state).values()
        self._warn_columns(~active, "one distinct value, so left as it is (lambda 1)")
        return self

    def _refuse_signs(self, X: Array) -> None:
        with np.errstate(invalid="ignore"):
            bad = X <= 0 if self.method == "box-cox" else np.zeros((0, 0), dtype=bool)
        if bad.any():
            row, j = np.argwhere(bad)[0]
            need = "The Box-Cox transformation can only be applied to strictly positive data"
            cell = f"{X[row, j]:g} in {self._column_name(int(j))}, row {row}"
            raise ValueError(f"{need}, got {cell}; use 'yeo-johnson'")

    def _attributes(
        self, rows: Rows, columns: Columns, s: Search, active: BoolArray
    ) -> dict[str, Any]:
        """lambdas, and mean and deviation of T, as if the search had ended here."""
        lambdas = np.where(active, np.where(columns.turned, 2.0 - s.m, s.m), 1.0)
        total, spread = self._spread(rows, lambdas)
        flat = active & ~(np.isfinite(spread) & (spread > 0))
        if flat.any():  # the powers leave the range of numbers
            lambdas = np.where(flat, 1.0, lambdas)
            total, spread = self._spread(rows, lambdas)
            self._warn_columns(flat, "its powers leave the range of numbers; left as it is")
        mean = np.where(total.weight[0] > 0, total.mean[0], np.nan)
        deviation = spread_or_one(spread, mean)[0]
        if not self.standardize:
            mean, deviation = np.zeros_like(mean), np.ones_like(mean)
        return {"lambdas_": lambdas, "_mean": mean, "_deviation": deviation}

    def _spread(self, rows: Rows, lambdas: Array) -> tuple[ClassMoments, Array]:
        statistic = Statistic(partial(power_moments, lambdas, self.method), merge_class_moments)
        total = reduce_rows(statistic, rows, map_threads)
        return total, np.sqrt(total.scatter[0] / np.maximum(total.weight[0], 1.0))

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return dict.fromkeys(("lambdas_", "_mean", "_deviation"), (self.n_features_in_,))

    def transform(self, X: Any) -> Array:
        """X with its columns transformed, and standardised if asked."""
        X = self._check_input(X)
        self._refuse_signs(X)
        out, lambdas = np.empty_like(X), np.asarray(self.lambdas_, dtype=np.float64)

        def work(start: int) -> None:
            rows = slice(start, start + ROWS)
            T = power_cells(X[rows], lambdas, self.method)
            out[rows] = (T - self._mean) / self._deviation if self.standardize else T

        list(map_threads(work, range(0, len(X), ROWS)))
        return out

    def inverse_transform(self, X: ArrayLike) -> Array:
        """X in the original units; NaN, with a warning, where no number has this transform."""
        Z = self._check_scaled(X)
        out, lambdas = np.empty_like(Z), np.asarray(self.lambdas_, dtype=np.float64)

        def work(start: int) -> None:
            rows = slice(start, start + ROWS)
            T = Z[rows] * self._deviation + self._mean if self.standardize else Z[rows]
            out[rows] = inverse_cells(T, lambdas, self.method)

        list(map_threads(work, range(0, len(Z), ROWS)))
        lost = np.isnan(out) & ~np.isnan(Z)
        if lost.any():
            j = int(np.argwhere(lost)[0][1])
            beyond = f"{int(lost.sum())} are beyond the range of the transform and become NaN"
            warn(f"Some values in {self._column_name(j)} (or others) have no inverse: {beyond}")
        return out

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        after = ", then mean 0 and variance 1" if self.standardize else ""
        ends = {"smallest lambda": self.lambdas_.min(), "largest lambda": self.lambdas_.max()}
        numbers = {"columns": self.n_features_in_, **{name: float(v) for name, v in ends.items()}}
        return Card(
            f"{self.method} transform of every column{after}",
            "likelihood of a normal distribution of the transformed columns",
            f"Newton's method on all columns at once, {self.n_iter_} steps",
            {**numbers, "objective": float(self.history_[-1]["objective"])},
        )
