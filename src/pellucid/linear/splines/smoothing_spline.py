r"""Cubic smoothing spline.

Estimator    f = argmin sum w_i (y_i - f(x_i))^2 + alpha int f''(x)^2 dx over all smooth f:
             a natural cubic spline with a knot at every distinct x, linear outside the data
Bayes        f'' white noise, a flat prior on the line: f is the posterior mean, and its variance
             is s^2 h(x), at a row the diagonal of H with yhat = H y       (Wahba 1978)
Algorithm    a filter from the left and one from the right meet at every knot
             (``kernels.py``): f, f', f'', tr H, leverages and leave-one-out residuals
             in O(n), stable for every spacing of x and every alpha from 0 to infinity
alpha        "gcv" minimises (RSS/n) / (1 - tr H/n)^2, "loo" the mean squared leave-one-out
             residual: log alpha is scanned from the line (df = 2) to interpolation and every dip
             is refined, since both curves may have several; ``df`` is met by root finding

References: Reinsch (1967); Craven & Wahba (1979); Wahba (1983) for the intervals;
Wecker & Ansley (1983); ESL, sections 5.4 and 5.5.
"""

from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, check_number_target, check_weights, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.reading import reading
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares.inference import cut
from pellucid.linear.least_squares.smoother import leave_one_out, no_freedom
from pellucid.linear.splines import kernels as spline_filter
from pellucid.linear.splines import spline_fit
from pellucid.linear.splines.spline_fit import Knots, SplineFit

RULES = ("gcv", "loo")


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

    def __init__(
        self, alpha: float | Literal["gcv", "loo"] = "gcv", *, df: float | None = None
    ) -> None:
        self.alpha = alpha
        self.df = df

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, False
        return tags

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the spline, choosing its smoothness if asked to."""
        self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        context = FitContext(self, X=rows.X, y=rows.y, sample_weight=sample_weight)
        knots = spline_fit.pool(rows.X[:, 0], rows.y, np.asarray(rows.w))
        self.alphas_, self.criterion_ = np.zeros(0), np.zeros(0)
        if len(knots.y) < 4:
            self._fit_line(knots)
        else:
            self.alpha_ = self._choose(knots)
            self._set(knots, spline_fit.fit_spline(knots, self.alpha_))
        context.end()
        return self

    def _check_matrix(self, X: Any, *, reset: bool, finite: bool) -> Any:
        if not is_frame(X) and not issparse(X):
            with reading(X):
                X = np.asarray(X)
            X = X[:, None] if X.ndim == 1 else X
        X = super()._check_matrix(X, reset=reset, finite=finite)
        if reset and X.shape[1] != 1:
            one = "SmoothingSpline takes one input: X must have 1 column (feature)"
            raise ValueError(f"{one}, got {X.shape[1]}")
        return X

    def _check_parameters(self) -> None:
        if self.df is not None:
            check.positive(df=self.df)
            if not self.df > 2 or not np.isfinite(self.df):
                raise ValueError(f"df must be above 2 (a line has 2), got {self.df!r}")
        if isinstance(self.alpha, Real):
            check.non_negative(alpha=self.alpha)
        elif self.alpha not in RULES:
            given = f"got {self.alpha!r}{check.hint(self.alpha, RULES)}"
            raise ValueError(f"alpha must be a number >= 0, 'gcv' or 'loo', {given}")

    def _choose(self, knots: Knots) -> float:
        if self.df is not None:
            m = len(knots.y)
            if self.df > m:
                raise ValueError(f"df can be at most the {m} distinct x, got {self.df!r}")
            return spline_fit.alpha_of_df(knots, float(self.df))
        if isinstance(self.alpha, str):
            found = spline_fit.search(knots, self.alpha)
            self.alphas_, self.criterion_ = found.alphas, found.criterion
            return found.alpha
        return float(self.alpha)

    def _fit_line(self, knots: Knots) -> None:
        """Too few distinct x for a curve: the line, or the mean, whatever alpha."""
        m, n = len(knots.y), knots.weight
        what = "least-squares line" if m > 1 else "mean of y"
        warn(f"a smoothing spline needs at least 4 distinct x, got {m}: the fit is the {what}")
        self.alpha_ = np.inf
        base, slope = spline_fit.weighted_line(knots) if m > 1 else (float(knots.y[0]), 0.0)
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
        if len(knots.y) < 4 and free > 1e-9:  # a line
            h = self._variance(knots.x)
            squares = knots.w * (knots.y - self.values_) ** 2 + knots.ss
            self.loocv_ = float((squares / (1 - h) ** 2).sum() / n) if (h < 1).all() else np.nan

    def predict(self, X: ArrayLike, derivative: int = 0) -> Array:
        """f(x), or its derivative of order 1, 2 or 3; a straight line outside the data."""
        query = self._check_input(X)[:, 0]
        if derivative not in (0, 1, 2, 3) or isinstance(derivative, bool):
            raise ValueError(f"derivative must be 0, 1, 2 or 3, got {derivative!r}")
        fit = self.values_, self.slopes_, self.curvatures_
        return spline_fit.evaluate(self.knots_, fit, query, derivative)

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
            few = no_freedom(self.n_observations_, self.df_)
            raise ValueError(f"{few}: there is no interval")
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
        r, q = spline_fit.noise(knots, self.alpha_)
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
        return spline_fit.kernel_matrix(x, w, self.alpha_)[np.ix_(at, at)]

    def loo_residuals(self, X: ArrayLike, y: ArrayLike) -> Array:
        """y_i minus its prediction by the fit without row i; X, y are the training data."""
        h = self.leverage(X)
        y = check_number_target(y, len(h), False, self)
        return leave_one_out(y - self.predict(X), h)

    def loocv(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Mean squared leave-one-out residual; X, y, weights are the training data."""
        r = self.loo_residuals(X, y)
        return float(np.average(r**2, weights=check_weights(sample_weight, r)))

    def gcv(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
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
        """What is minimised and how, with the numbers of this fit."""
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
            edge = f"{self.alpha} is least where f interpolates"
            notes.append(f"{edge}: distrust it, give alpha or df")
        if not np.isfinite(self.sigma2_):
            notes.append("no degrees of freedom are left for the noise: sigma2_ is NaN")
        shown = ("df", "rss", "sigma2", "gcv", "loocv")
        numbers = {"alpha": self.alpha_, "n": n, "knots": m}
        prior = "none, f interpolates"
        if self.alpha_ > 0:
            prior = f"f'' is white noise of variance s^2/alpha, {1 / self.alpha_:.6g} s^2"
        return Card(
            representation=f"y = f(x), a natural cubic spline with {m} knots, linear outside",
            evaluation=f"sum (y - f(x))^2 + {self.alpha_:.6g} int f''(x)^2 dx",
            optimisation=how,
            numbers={**numbers, **{name: getattr(self, f"{name}_") for name in shown}},
            scales=(f"prior: {prior}",),
            warnings=tuple(notes),
        )
