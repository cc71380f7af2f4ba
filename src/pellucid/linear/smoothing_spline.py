r"""Cubic smoothing spline.

Estimator    f = argmin sum w_i (y_i - f(x_i))^2 + alpha int f''(x)^2 dx over all smooth f:
             a natural cubic spline with a knot at every distinct x, linear outside the data
Bayes        f'' white noise, a flat prior on the line: f is the posterior mean, and its variance
             is s^2 h(x), at a row the diagonal of H with yhat = H y       (Wahba 1978)
Algorithm    a filter from the left and one from the right meet at every knot
             (``compiled.spline_filter``): f, f', f'', tr H, leverages and leave-one-out residuals
             in O(n), stable for every spacing of x and every alpha from 0 to infinity
alpha        "gcv" minimises (RSS/n) / (1 - tr H/n)^2, "loo" the mean squared leave-one-out
             residual: log alpha is scanned from the line (df = 2) to interpolation and every dip
             is refined, since both curves may have several; ``df`` is met by root finding

References: Reinsch (1967); Craven & Wahba (1979); Wahba (1983) for the intervals;
Wecker & Ansley (1983); ESL, sections 5.4 and 5.5.
"""

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, check_number_target, check_weights, with_callbacks
from pellucid.compiled import spline_filter
from pellucid.core import check
from pellucid.core.frames import is_frame
from pellucid.core.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.threads import map_threads
from pellucid.core.typing import Array, ArrayLike
from pellucid.linear.inference import cut
from pellucid.linear.smoother import leave_one_out

RULES = ("gcv", "loo")
STEP = np.log(4.0)  # of the scan: a dip of the criterion is wider than this in log alpha
SAME = 1e-30  # knots closer than this share of the mean gap count as one


class Knots(NamedTuple):
    """The distinct x, and the rows pooled there; x is measured in mean gaps from the first."""

    x: Array  # (m,) as given
    gap: Array  # (m - 1,) in units of ``unit``
    unit: float
    y: Array  # (m,) weighted means
    w: Array  # (m,) sums of weights
    ss: Array  # (m,) weighted squares of the rows about the mean of their knot

    @property
    def weight(self) -> float:
        return float(self.w.sum())


class SplineFit(NamedTuple):
    """A smoothing spline at its knots."""

    value: Array  # (m,) f
    slope: Array  # (m,) f'
    curvature: Array  # (m,) f''
    rss: float
    df: float
    gcv: float
    loocv: float


class Search(NamedTuple):
    """The alphas tried, rising, and the criterion of each."""

    alpha: float
    alphas: Array
    criterion: Array


def pool(x: Array, y: Array, w: Array) -> Knots:
    """Sort the rows and pool those with the same x; rows of weight 0 are left out.

    >>> pool(np.array([1.0, 0.0, 1.0]), np.array([2.0, 5.0, 4.0]), np.ones(3)).y
    array([5., 3.])
    """
    if not (w > 0).all():
        x, y, w = x[w > 0], y[w > 0], w[w > 0]
    if (np.diff(x) < 0).any():
        order = np.argsort(x, kind="stable")
        x, y, w = x[order], y[order], w[order]
    span = x[-1] - x[0]
    first = np.append(True, np.diff(x) > SAME * span / len(x))
    if first.all():
        start, ss, W, mean = np.arange(len(x)), np.zeros(len(x)), np.array(w), np.array(y)
    else:
        start = np.flatnonzero(first)
        W = np.add.reduceat(w, start)
        group = np.cumsum(first) - 1
        anchor = y[start]
        mean = anchor + np.add.reduceat(w * (y - anchor[group]), start) / W
        ss = np.add.reduceat(w * (y - mean[group]) ** 2, start)
    knots = x[start]
    unit = span / (len(knots) - 1) if len(knots) > 1 else 1.0
    return Knots(np.ascontiguousarray(knots), np.diff(knots) / unit, float(unit), mean, W, ss)


def noise(knots: Knots, alpha: float) -> tuple[Array, float]:
    """(rho / w, q) with rho / q = alpha in the units of the gaps, neither above 1."""
    scaled = alpha / knots.unit**3
    rho, q = (scaled, 1.0) if scaled <= 1 else (1.0, 1 / scaled)
    return rho / knots.w, q


def sums(knots: Knots, alpha: float, out: Array) -> tuple[float, float, float, float]:
    """(RSS, tr H, n - tr H, leave-one-out mean square); ``out`` as in the kernel."""
    r, q = noise(knots, alpha)
    rss, df, free, loo = spline_filter.smooth(knots.gap, r, knots.y, knots.w, knots.ss, q, out)
    n = knots.weight
    return rss + knots.ss.sum(), df, free + (n - len(knots.y)), loo / n


def criterion(knots: Knots, alpha: float, rule: str) -> float:
    """GCV or the leave-one-out mean square at one alpha."""
    rss, _, free, loo = sums(knots, alpha, np.zeros((0, 4)))
    if rule == "loo":
        return loo
    n = knots.weight
    return rss / n / (free / n) ** 2 if free > 0 else np.inf


def fit_spline(knots: Knots, alpha: float) -> SplineFit:
    """The smoothing spline of one alpha, 0 and inf included; three knots or more."""
    base, slope = weighted_line(knots)  # of what remains, the digits are smaller
    t = np.append(0.0, np.cumsum(knots.gap))
    rest = knots._replace(y=knots.y - (base + slope * t))
    out = np.empty((len(knots.y), 4))
    rss, df, free, loo = sums(rest, alpha, out)
    n = knots.weight
    gcv = rss / n / (free / n) ** 2 if free > 0 else np.nan
    return SplineFit(
        knots.y - out[:, 0], (out[:, 2] + slope) / knots.unit, out[:, 3] / knots.unit**2,
        rss, df, gcv, loo if np.isfinite(loo) else np.nan,
    )  # fmt: skip


def weighted_line(knots: Knots) -> tuple[float, float]:
    """The least-squares line through the knots, in mean gaps from the first knot."""
    t = np.append(0.0, np.cumsum(knots.gap))
    n = knots.weight
    middle, mean = knots.w @ t / n, knots.w @ knots.y / n
    slope = knots.w @ ((t - middle) * (knots.y - mean)) / (knots.w @ (t - middle) ** 2)
    return float(mean - slope * middle), float(slope)


def search(knots: Knots, rule: str) -> Search:
    """The alpha of least criterion over the whole range from the line to interpolation."""
    base, slope = weighted_line(knots)
    t = np.append(0.0, np.cumsum(knots.gap))
    knots = knots._replace(y=knots.y - (base + slope * t))

    def value(log_alpha: float) -> float:
        return criterion(knots, float(np.exp(log_alpha)), rule)

    low, high = bounds(knots)
    grid = np.linspace(low, high, max(2, int(np.ceil((high - low) / STEP))) + 1)
    scores = np.array(list(map_threads(value, grid)))
    ends = [(np.inf, criterion(knots, np.inf, rule))]
    if knots.weight > len(knots.y):  # with repeated x even interpolation leaves residuals
        ends.append((0.0, criterion(knots, 0.0, rule)))
    dips = [
        j for j in range(len(grid))
        if scores[j] == scores[max(0, j - 1) : j + 2].min() and np.isfinite(scores[j])
    ]  # fmt: skip

    def refine(j: int) -> tuple[float, float]:
        around = (grid[max(0, j - 1)], grid[min(len(grid) - 1, j + 1)])
        found = minimize_scalar(value, bounds=around, method="bounded", options={"xatol": 1e-6})
        better = found.fun < scores[j]
        return (float(np.exp(found.x if better else grid[j])), min(found.fun, scores[j]))

    tried = [*zip(np.exp(grid).tolist(), scores.tolist(), strict=True), *ends]
    tried += list(map_threads(refine, worth_refining(dips, scores)))
    tried.sort()
    alphas, values = np.array([a for a, _ in tried]), np.array([v for _, v in tried])
    least = values.min()
    if not np.isfinite(least):
        raise ValueError(
            f"{rule!r} cannot judge any alpha for these weights: every fit leaves fewer "
            "observations (sum of weights) than degrees of freedom; give alpha or df"
        )
    ties = np.flatnonzero(values <= least + 1e-12 * abs(least) + 1e-300)
    return Search(float(alphas[ties[-1]]), alphas, values)  # of equals, the smoothest


def worth_refining(dips: list[int], scores: Array) -> list[int]:
    """The dips that may hold the least value: a grid this fine misses little of a dip's depth."""
    least = min((scores[j] for j in dips), default=np.inf)
    return [j for j in dips if scores[j] <= 1.5 * least]


def bounds(knots: Knots) -> tuple[float, float]:
    """log alpha between which df runs from 2 to the number of knots, but for a trace."""
    m, none = len(knots.y), np.zeros((0, 4))
    centre = 3 * np.log(knots.unit) + np.log(knots.weight / m)

    def room(log_alpha: float) -> tuple[float, float]:  # df - 2, m - df
        _, df, free, _ = sums(knots, float(np.exp(log_alpha)), none)
        return df - 2, free - (knots.weight - m)

    high = reach(centre, +6 * STEP, lambda at: room(at)[0] < 1e-3)
    low = reach(centre, -3 * STEP, lambda at: room(at)[1] < 1e-5 * m)
    return low, high


def reach(start: float, step: float, there: Callable[[float], bool]) -> float:
    """Walk from ``start`` in ``step`` until ``there``, or log alpha leaves +-600."""
    at = start
    while not there(at) and abs(at + step) < 600:
        at += step
    return at


def alpha_of_df(knots: Knots, df: float) -> float:
    """The alpha with tr H = df, 2 < df <= number of knots."""
    m, none = len(knots.y), np.zeros((0, 4))
    if df == m:
        return 0.0

    def excess(log_alpha: float) -> float:  # of tr H - 2 over what is asked, on a log scale
        _, found, free, _ = sums(knots, float(np.exp(log_alpha)), none)
        left = free - (knots.weight - m)  # m - tr H without cancellation
        return np.log(max(found - 2, 1e-300) / (df - 2)) - np.log(max(left, 1e-300) / (m - df))

    centre = 3 * np.log(knots.unit)
    up = reach(centre, 6 * STEP, lambda at: excess(at) < 0)
    down = reach(centre, -6 * STEP, lambda at: excess(at) > 0)
    return float(np.exp(brentq(excess, down, up, xtol=1e-13, rtol=1e-14)))


def evaluate(x: Array, fit: tuple[Array, Array, Array], query: Array, derivative: int) -> Array:
    """f or a derivative at the queries; a straight line outside the knots.

    >>> line = np.array([0.0, 2.0]), np.array([2.0, 2.0]), np.zeros(2)
    >>> evaluate(np.array([0.0, 1.0]), line, np.array([-1.0, 0.5, 3.0]), 0)
    array([-2.,  1.,  6.])
    """
    f, slope, curvature = fit
    i = np.clip(np.searchsorted(x, query, side="right") - 1, 0, max(len(x) - 2, 0))
    if len(x) == 1:
        return [f[i] + slope[i] * (query - x[0]), slope[i], 0 * query, 0 * query][derivative]
    h, t = x[i + 1] - x[i], query - x[i]
    third = (curvature[i + 1] - curvature[i]) / h
    left, right = query < x[0], query > x[-1]
    if derivative == 0:  # the chord, and what the curvature takes off it
        s = t / h
        bend = curvature[i] * (2 - s) + curvature[i + 1] * (1 + s)
        inside = f[i] + s * (f[i + 1] - f[i]) - t * (x[i + 1] - query) * bend / 6
        inside = np.where(left, f[0] + slope[0] * (query - x[0]), inside)
        return np.where(right, f[-1] + slope[-1] * (query - x[-1]), inside)
    if derivative == 1:
        inside = slope[i] + t * (curvature[i] + t * third / 2)
        return np.where(left, slope[0], np.where(right, slope[-1], inside))
    inside = curvature[i] + t * third if derivative == 2 else third
    return np.where(left | right, 0.0, inside)


class SmoothingSpline(Regressor):
    """Natural cubic smoothing spline of one input, with knots at all distinct x.

    Parameters
    ----------
    alpha : float, "gcv" or "loo", default="gcv"
        Weight of ``int f''^2`` against the residual squares: 0 interpolates, ``inf`` is the
        least-squares line. "gcv" and "loo" search the whole range for the least generalised or
        ordinary leave-one-out error.
    df : float or None, default=None
        Degrees of freedom tr H to reach instead, above 2 and at most the number of distinct x;
        ``alpha`` is then left alone.

    Attributes
    ----------
    alpha_, df_ : the penalty in use, and tr H
    gcv_, loocv_ : generalised and ordinary leave-one-out mean square (NaN where undefined)
    knots_, values_, slopes_, curvatures_ : distinct x, and f, f', f'' there
    rss_, sigma2_, sigma2_ml_ : residual squares, RSS/(n - df), RSS/n
    alphas_, criterion_ : what a search tried, rising, and the error of each (empty otherwise)

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import SmoothingSpline
    >>> x, y = np.arange(9.0), [0, 2, 1, 3, 6, 5, 4, 7, 9]
    >>> model = SmoothingSpline(10.0).fit(x[:, None], y)
    >>> round(model.df_, 4), round(model.rss_, 4)
    (2.7635, 10.1682)
    >>> model.predict([[2.5], [20.0]]).round(3), model.predict([[20.0]], derivative=1).round(3)
    (array([ 2.641, 22.211]), array([1.168]))
    """

    _multi_output = False

    def __init__(self, alpha: Any = "gcv", *, df: float | None = None) -> None:
        self.alpha = alpha
        self.df = df

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=sample_weight)
        knots = pool(rows.X[:, 0], rows.y, np.asarray(rows.w))
        m = len(knots.y)
        self.alphas_, self.criterion_ = np.zeros(0), np.zeros(0)
        if m < 4:
            self._fit_line(knots)
        else:
            self.alpha_ = self._choose(knots)
            self._set(knots, fit_spline(knots, self.alpha_))
        context.end()
        return self

    def _check_matrix(self, X: Any, *, reset: bool, finite: bool) -> Any:
        if not is_frame(X) and not issparse(X):
            X = np.asarray(X)
            X = X[:, None] if X.ndim == 1 else X
        X = super()._check_matrix(X, reset=reset, finite=finite)
        if reset and X.shape[1] != 1:
            raise ValueError(
                f"SmoothingSpline takes one input: X must have 1 column (feature), got {X.shape[1]}"
            )
        return X

    def _check_parameters(self) -> None:
        if self.df is not None:
            check.positive(df=self.df)
            if not self.df > 2 or not np.isfinite(self.df):
                raise ValueError(f"df must be above 2 (a line has 2), got {self.df!r}")
        if isinstance(self.alpha, Real):
            check.non_negative(alpha=self.alpha)
        elif self.alpha not in RULES:
            raise ValueError(
                f"alpha must be a number >= 0, 'gcv' or 'loo', got {self.alpha!r}"
                f"{check.hint(self.alpha, RULES)}"
            )

    def _choose(self, knots: Knots) -> float:
        if self.df is not None:
            if self.df > len(knots.y):
                raise ValueError(
                    f"df can be at most the number of distinct x, {len(knots.y)}, got {self.df!r}"
                )
            return alpha_of_df(knots, float(self.df))
        if isinstance(self.alpha, str):
            found = search(knots, self.alpha)
            self.alphas_, self.criterion_ = found.alphas, found.criterion
            return found.alpha
        return float(self.alpha)

    def _fit_line(self, knots: Knots) -> None:
        """Too few distinct x for a curve: the line, or the mean, whatever alpha."""
        m, n = len(knots.y), knots.weight
        what = "least-squares line" if m > 1 else "mean of y"
        warnings.warn(
            f"a smoothing spline needs at least 4 distinct x, got {m}: the fit is the {what}",
            UserWarning,
            stacklevel=3,
        )
        self.alpha_ = np.inf
        base, slope = weighted_line(knots) if m > 1 else (float(knots.y[0]), 0.0)
        t = np.append(0.0, np.cumsum(knots.gap))
        value = base + slope * t
        rss = float(knots.w @ (knots.y - value) ** 2 + knots.ss.sum())
        free = n - min(m, 2)
        gcv = rss / n / (free / n) ** 2 if free > 1e-9 else np.nan
        flat = np.zeros(m)
        fit = SplineFit(value, flat + slope / knots.unit, flat, rss, float(min(m, 2)), gcv, np.nan)
        self._set(knots, fit)

    def _set(self, knots: Knots, fit: SplineFit) -> None:
        n = knots.weight
        self.knots_, self._weight = knots.x, knots.w
        self.values_, self.slopes_, self.curvatures_ = fit.value, fit.slope, fit.curvature
        self.df_, self.rss_, self.n_observations_ = float(fit.df), float(fit.rss), n
        self.sigma2_ml_ = self.rss_ / n
        free = n - self.df_
        self.sigma2_ = self.rss_ / free if free > 1e-9 * n else np.nan
        self.gcv_, self.loocv_ = float(fit.gcv), float(fit.loocv)
        if len(knots.y) < 4 and free > 1e-9:
            self.loocv_ = self._line_loocv(knots)

    def _line_loocv(self, knots: Knots) -> float:
        h = self._variance(knots.x)
        squares = knots.w * (knots.y - self.values_) ** 2 + knots.ss
        return float((squares / (1 - h) ** 2).sum() / knots.weight) if (h < 1).all() else np.nan

    def predict(self, X: ArrayLike, derivative: int = 0) -> Array:
        """f(x), or its derivative of order 1, 2 or 3; a straight line outside the data."""
        query = self._check_input(X)[:, 0]
        if derivative not in (0, 1, 2, 3) or isinstance(derivative, bool):
            raise ValueError(f"derivative must be 0, 1, 2 or 3, got {derivative!r}")
        fit = self.values_, self.slopes_, self.curvatures_
        return evaluate(self.knots_, fit, query, derivative)

    def predict_interval(
        self, X: ArrayLike, *, confidence: float = 0.95, kind: str = "prediction"
    ) -> Array:
        """Intervals (n, 2) for new observations ("prediction") or for the curve ("mean").

        They are Wahba's: the posterior of f, whose coverage holds on average along the curve.
        """
        check.fraction(confidence=confidence)
        check.one_of(("prediction", "mean"), kind=kind)
        middle = self.predict(X)
        free = self.n_observations_ - self.df_
        if not np.isfinite(self.sigma2_):
            raise ValueError(
                f"{self.n_observations_:g} observations for {self.df_:g} degrees of freedom leave "
                "nothing to estimate the noise from: there is no interval"
            )
        h = self.leverage(X) + (kind == "prediction")
        width = cut(confidence, free, "t") * np.sqrt(h * self.sigma2_)
        return np.stack([middle - width, middle + width], axis=-1)

    def leverage(self, X: ArrayLike) -> Array:
        """h(x), the posterior variance of f(x) over s^2; on the training rows the diagonal of H.

        It is what a row at x would weigh in its own fit, per unit of a small weight; between the
        knots it is infinite for alpha = 0.
        """
        return self._variance(self._check_input(X)[:, 0])

    def _variance(self, query: Array) -> Array:
        x, w = self.knots_, self._weight
        if len(x) == 1:
            return np.full(len(query), 1 / w[0])
        interval = np.searchsorted(x, query, side="right") - 1
        if self.alpha_ == 0:
            at = np.clip(interval, 0, None)
            return np.where(x[at] == query, 1 / w[at], np.inf)
        knots = Knots(x, np.diff(x), (x[-1] - x[0]) / (len(x) - 1), w, w, w)
        r, q = noise(knots, self.alpha_)
        left, right, out = np.empty((len(x), 3)), np.empty((len(x), 3)), np.empty(len(query))
        t = (x - x[0]) / knots.unit
        spline_filter.filters(knots.gap / knots.unit, r, q, left, right)
        at = np.ascontiguousarray((query - x[0]) / knots.unit)
        spline_filter.variances(t, left, right, q, at, interval, out)
        return out / (r[0] * w[0])

    def hat_matrix(self, X: ArrayLike) -> Array:
        """H of the training rows X: the matrix with yhat = H y (one copy of each row)."""
        query = self._check_input(X)[:, 0]
        x, w = self.knots_, self._weight
        at = np.clip(np.searchsorted(x, query), 0, len(x) - 1)
        if not (x[at] == query).all():
            row = int(np.argmax(x[at] != query))
            raise ValueError(f"hat_matrix needs the training rows: x of row {row} is not a knot")
        return kernel_matrix(x, w, self.alpha_)[np.ix_(at, at)]

    def loo_residuals(self, X: ArrayLike, y: ArrayLike) -> Array:
        """y_i minus its prediction by the fit without row i; X, y are the training data."""
        h = self.leverage(X)
        y = check_number_target(y, len(h), False, self)
        return leave_one_out(y - self.predict(X), h)

    def loocv(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> float:
        """Mean squared leave-one-out residual; X, y, weights are the training data."""
        r = self.loo_residuals(X, y)
        return float(np.average(r**2, weights=check_weights(sample_weight, r)))

    def gcv(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> float:
        """Generalised cross-validation, MSE / (1 - tr H / n)^2, on the training data."""
        fitted = self.predict(X)
        y = check_number_target(y, len(fitted), False, self)
        w = check_weights(sample_weight, fitted)
        mse = np.average((y - fitted) ** 2, weights=w)
        return float(mse / (1 - self.df_ / w.sum()) ** 2)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        shape = np.shape(self.knots_)
        return dict.fromkeys(("knots_", "values_", "slopes_", "curvatures_", "_weight"), shape)

    def card(self) -> Card:
        check_is_fitted(self)
        m, n = len(self.knots_), self.n_observations_
        how = "two O(n) filters that meet at every knot; strictly convex: the only minimiser"
        if m < 4:
            how = "least squares: fewer than 4 distinct x do not make a curve"
        elif self.df is not None:
            how = f"alpha by root finding for df = {self.df:g}; {how}"
        elif isinstance(self.alpha, str):
            found = np.isfinite(self.criterion_).sum()
            how = f"alpha: least {self.alpha} of {found} over the whole range; {how}"
        notes = []
        if m < 4:
            notes.append(f"{m} distinct x: the fit is the {'line' if m > 1 else 'mean'}")
        if len(self.alphas_) and self.alpha_ <= self.alphas_[self.alphas_ > 0][0]:
            notes.append(
                f"{self.alpha} is least where f interpolates: distrust it, give alpha or df"
            )
        if not np.isfinite(self.sigma2_):
            notes.append("no degrees of freedom are left for the noise: sigma2_ is NaN")
        return Card(
            representation=f"y = f(x), a natural cubic spline with {m} knots, linear outside",
            evaluation=f"sum (y - f(x))^2 + {self.alpha_:.6g} int f''(x)^2 dx",
            optimisation=how,
            numbers={
                "alpha": self.alpha_, "n": n, "knots": m, "df": self.df_, "rss": self.rss_,
                "sigma2": self.sigma2_, "gcv": self.gcv_, "loocv": self.loocv_,
            },
            scales=(
                f"prior: f'' is white noise of variance s^2/alpha, {1 / self.alpha_:.6g} s^2"
                if self.alpha_ > 0 else "prior: none, f interpolates",
            ),
            warnings=tuple(notes),
        )  # fmt: skip


def kernel_matrix(x: Array, w: Array, alpha: float) -> Array:
    """H W^-1 at the knots: one fit per unit vector."""
    m = len(x)
    if m == 1:
        return np.full((1, 1), 1 / w[0])
    unit = float(x[-1] - x[0]) / (m - 1)
    if m == 2:
        return np.diag(1 / w)
    knots = Knots(x, np.diff(x) / unit, unit, np.zeros(m), w, np.zeros(m))
    r, q = noise(knots, alpha)

    def column(j: int) -> Array:
        e, out = np.zeros(m), np.empty((m, 4))
        e[j] = 1.0
        spline_filter.smooth(knots.gap, r, e, w, knots.ss, q, out)
        return (e - out[:, 0]) / w[j]

    H = np.array(list(map_threads(column, range(m))))
    return (H + H.T) / 2
