r"""Isotonic regression: the best curve of one input that only rises, or only falls.

Model        y = f(x) + e,  f never falls (``increasing=False``: never rises)
Estimator    argmin sum_i w_i (y_i - f(x_i))^2  subject to  f(x_1) <= f(x_2) <= ...
Ties         rows of equal x are one point, their weighted mean (de Leeuw's secondary method);
             x closer than 1e-15 of the largest |x| are equal
Algorithm    sort, then pool adjacent violators: where a point lies below the one before it, both
             get their mean, and so on backwards while it falls. Exact.   O(n log n) to sort, O(n)
Between      a straight line from one point to the next; outside as ``out_of_bounds`` says
Direction    ``increasing="auto"``: the sign of Spearman's rank correlation, with a warning where
             its 95 % interval (Fisher) contains 0
Certificate  the sums of residuals to the left of every point are >= 0, and 0 where a level ends

References: Barlow, Bartholomew, Bremner & Brunk (1972); de Leeuw (1977); Busing (2022).
"""

import math
from collections.abc import Callable
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from pellucid.base import Regressor, with_callbacks
from pellucid.compiled.counts.pooling import merge_ties, pool_adjacent
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.reading import reading
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn

SAME = 1e-15  # x closer than this share of the largest |x| are equal
BOUNDS = ("nan", "clip", "raise")
SHAPE = "Isotonic regression input X should be a 1d array or 2d array with 1 feature"


class IsotonicFit(NamedTuple):
    """The curve: straight lines between the points (x, y)."""

    x: Array  # (m,) rising; inside a level only its two ends are kept
    y: Array  # (m,) monotone
    n_levels: int  # distinct values of y
    rss: float  # sum w (y - f)^2 over the rows


class Sorted(NamedTuple):
    """Rows of positive weight in the order of x, equal x in the order of y."""

    x: Array
    y: Array
    w: Array


def sort_rows(x: Array, y: Array, w: Array) -> Sorted:
    """Leave out rows of weight 0 and sort the others."""
    if not (w > 0).all():
        x, y, w = x[w > 0], y[w > 0], w[w > 0]
    order = np.argsort(x)
    a = x[order]
    if (a[1:] == a[:-1]).any():  # the order within ties must not hang on the order of the rows
        order = np.lexsort((y, x))
    return Sorted(a, y[order], np.ascontiguousarray(w[order], dtype=np.float64))


def fit_isotonic(rows: Sorted, *, increasing: bool, low: float, high: float) -> IsotonicFit:
    """The monotone least squares curve of sorted rows, cut off at ``low`` and ``high``.

    >>> rows = sort_rows(np.array([1.0, 2.0, 3.0]), np.array([0.0, 4.0, 2.0]), np.ones(3))
    >>> fit = fit_isotonic(rows, increasing=True, low=-np.inf, high=np.inf)
    >>> fit.y.tolist(), fit.n_levels, fit.rss
    ([0.0, 3.0, 3.0], 2, 2.0)
    """
    x, y, w = (part.copy() for part in rows)
    m = merge_ties(x, y, w, SAME * max(abs(x[0]), abs(x[-1])))
    way = slice(None) if increasing else slice(None, None, -1)
    x, level = x[:m], np.ascontiguousarray(y[:m][way])
    room = np.ascontiguousarray(w[:m][way])
    pool_adjacent(level, room, np.empty(m, dtype=np.int64))
    level = np.clip(level[way], low, high)
    inside = np.zeros(m, dtype=bool)  # of a level: the line needs only its two ends
    inside[1:-1] = (level[1:-1] == level[:-2]) & (level[1:-1] == level[2:])
    kept_x, kept_y = x[~inside], level[~inside]
    residual = rows.y - np.interp(rows.x, kept_x, kept_y)
    n_levels = 1 + int((kept_y[1:] != kept_y[:-1]).sum())
    return IsotonicFit(kept_x, kept_y, n_levels, float(rows.w @ residual**2))


def middle_ranks(v: Array, w: Array) -> Array:
    """Ranks from 1 of rows that count w times; equal values share the mean of their ranks.

    >>> middle_ranks(np.array([3.0, 1.0, 3.0]), np.array([1.0, 2.0, 1.0]))
    array([3.5, 1.5, 3.5])
    """
    _, code = np.unique(v, return_inverse=True)
    mass = np.bincount(code, weights=w)
    return (np.cumsum(mass) - mass + (mass + 1) / 2)[code]


def rank_correlation(rows: Sorted) -> float:
    """Spearman's rho with weights as repetitions; 0 where x or y is constant."""
    a, b = middle_ranks(rows.x, rows.w), middle_ranks(rows.y, rows.w)
    a, b = a - np.average(a, weights=rows.w), b - np.average(b, weights=rows.w)
    size = float(np.sqrt((rows.w @ a**2) * (rows.w @ b**2)))
    return float(np.clip(rows.w @ (a * b) / size, -1.0, 1.0)) if size > 0 else 0.0


def rises(rows: Sorted) -> bool:
    """Whether y rises with x by its rank correlation; warns where that is doubtful."""
    rho, n = rank_correlation(rows), float(rows.w.sum())
    if abs(rho) < 1 and n > 3:
        half = 1.96 / math.sqrt(n - 3)
        low, high = math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half)
        if low <= 0 <= high:
            warn(
                f"the confidence interval of the rank correlation of x and y, {low:.2g} to "
                f"{high:.2g}, spans zero: whether the curve rises or falls is doubtful"
            )
    return rho >= 0


class IsotonicRegression(TransformerMixin, Regressor):
    """The least squares curve of one input that never falls (or never rises).

    It has no parameter to tune: the data decide where the steps are. ``sample_weight`` equals
    repetition.

    Parameters
    ----------
    y_min, y_max : float or None, default=None
        Bounds of the predictions.
    increasing : bool or "auto", default=True
        Whether the curve rises or falls with x; "auto": as the rank correlation says.
    out_of_bounds : {"nan", "clip", "raise"}, default="nan"
        What x outside the training data gets: NaN, the value at the nearest end, or an error.

    Attributes
    ----------
    X_min_, X_max_ : float
        The range of the training data.
    X_thresholds_, y_thresholds_ : ndarray of shape (n_thresholds,)
        The points that straight lines connect.
    f_ : callable
        The curve as a function of an array of x.
    increasing_ : bool
    n_levels_, rss_ : int and float
        Distinct values of the curve, and the residual squares of the training data.

    Examples
    --------
    >>> from pellucid import IsotonicRegression
    >>> model = IsotonicRegression(out_of_bounds="clip").fit([1, 2, 3, 4], [1.0, 3.0, 2.0, 5.0])
    >>> model.predict([0, 2, 3, 3.5, 9]), model.n_levels_
    (array([1.  , 2.5 , 2.5 , 3.75, 5.  ]), 3)
    """

    __metadata_request__predict: ClassVar = {"T": UNUSED}
    __metadata_request__transform: ClassVar = {"T": UNUSED}
    X_thresholds_: Array
    y_thresholds_: Array
    _multi_output = False
    _answers_nonfinite = True  # out_of_bounds="nan"

    def __init__(
        self,
        *,
        y_min: float | None = None,
        y_max: float | None = None,
        increasing: bool | Literal["auto"] = True,
        out_of_bounds: str = "nan",
    ) -> None:
        self.y_min = y_min
        self.y_max = y_max
        self.increasing = increasing
        self.out_of_bounds = out_of_bounds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        return tags

    def _check_matrix(self, X: Any, *, reset: bool, finite: bool) -> Any:
        if not is_frame(X) and not issparse(X):
            with reading(X):
                X = np.asarray(X)
            if X.ndim > 2 or (X.ndim == 2 and X.shape[1] != 1):
                raise ValueError(f"{SHAPE}, got shape {X.shape}")
            X = X[:, None] if X.ndim == 1 else X
        elif X.shape[1] != 1:
            raise ValueError(f"{SHAPE}, got shape {X.shape}")
        return super()._check_matrix(X, reset=reset, finite=finite)

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the curve; X is (n,) or (n, 1)."""
        self._check_parameters()
        check_consistent_length(X, y, sample_weight)
        single = getattr(X, "dtype", None) == np.float32
        rows = self._check_training(X, y, sample_weight)
        context = FitContext.of_one_step(self, rows.X, rows.y, sample_weight)
        ordered = sort_rows(rows.X[:, 0], rows.y, rows.w)
        auto = isinstance(self.increasing, str)
        self.increasing_ = rises(ordered) if auto else bool(self.increasing)
        low = -np.inf if self.y_min is None else self.y_min
        high = np.inf if self.y_max is None else self.y_max
        with np.errstate(over="ignore", invalid="ignore"):
            fit = fit_isotonic(ordered, increasing=self.increasing_, low=low, high=high)
        if not np.isfinite(fit.y).all():
            raise ValueError("the sums of y overflow float64; scale y down")
        kind = np.float32 if single else np.float64  # as X came
        self.X_thresholds_, self.y_thresholds_ = _as(kind, fit.x), _as(kind, fit.y)
        self.X_min_, self.X_max_ = float(fit.x[0]), float(fit.x[-1])
        self.n_levels_, self.rss_ = fit.n_levels, fit.rss
        self.n_observations_ = float(ordered.w.sum())
        context.end()
        return self

    def _check_parameters(self) -> None:
        check.finite(**check.given(y_min=self.y_min, y_max=self.y_max))
        check.one_of(BOUNDS, out_of_bounds=self.out_of_bounds)
        if isinstance(self.increasing, str):
            check.one_of(("auto",), increasing=self.increasing)
        else:
            check.boolean(increasing=self.increasing)
        if self.y_min is not None and self.y_max is not None and self.y_min > self.y_max:
            raise ValueError(f"y_min must be <= y_max, got {self.y_min!r} and {self.y_max!r}")

    @property
    def f_(self) -> Callable[[ArrayLike], Array]:
        """The curve as a function of an array of x."""
        check_is_fitted(self, "X_thresholds_")
        return self._curve

    def _curve(self, x: ArrayLike) -> Array:
        t = np.asarray(x, dtype=np.float64)
        a, b = self.X_thresholds_, self.y_thresholds_
        if len(a) == 1:  # one point: constant everywhere
            return np.full(t.shape, b[0])
        if self.out_of_bounds == "clip":
            t = np.clip(t, a[0], a[-1])
        below, above = t < a[0], t > a[-1]
        if self.out_of_bounds == "raise" and (below | above).any():
            far, side = (below, "below") if below.any() else (above, "above")
            where = f"in x_new is {side} the interpolation range, {a[0]:g} to {a[-1]:g}"
            raise ValueError(f"A value ({t[far][0]:g}) {where}; out_of_bounds='clip' takes its end")
        found = np.where(below | above, np.nan, np.interp(t, a, b))
        return found.astype(a.dtype, copy=False)

    def predict(self, T: ArrayLike) -> Array:
        """The curve at T, (n,) or (n, 1)."""
        return self._curve(self._check_input(T)[:, 0])

    def transform(self, T: ArrayLike) -> Array:
        """As ``predict``, for a place inside a pipeline."""
        return self._curve(self._check_input(T)[:, 0])

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """["isotonicregression0"]; ``input_features`` is ignored."""
        check_is_fitted(self, "X_thresholds_")
        return np.asarray([f"{type(self).__name__.lower()}0"], dtype=object)

    def _check_state(self) -> None:
        super()._check_state()
        if not hasattr(self, "X_thresholds_"):
            return
        x, y = self.X_thresholds_, self.y_thresholds_
        if len(x) != len(y) or len(x) == 0 or not (np.diff(x) > 0).all():
            raise ValueError("X_thresholds_ must rise and y_thresholds_ have a value for each")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self, "X_thresholds_")
        way = "falls" if self.increasing_ else "rises"
        bounds = [f"f >= {self.y_min:g}"] if self.y_min is not None else []
        bounds += [f"f <= {self.y_max:g}"] if self.y_max is not None else []
        shape = ", ".join([f"f never {way}", *bounds])
        return Card(
            representation=f"y = f(x), {shape}; {self.n_levels_} levels, straight lines between",
            evaluation="sum (y - f(x))^2",
            optimisation="pool adjacent violators: exact, one pass over the sorted rows",
            numbers={"n": self.n_observations_, "levels": self.n_levels_, "rss": self.rss_},
        )


def _as(kind: type, values: Array) -> Any:
    return values.astype(kind)
