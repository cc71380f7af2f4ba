r"""The joint confidence region of two coefficients.

    {b : (b - bhat)' C^-1 (b - bhat) <= r^2},    C = Cov(bhat) of the two
    r^2 = 2 F_(2, n - df)(confidence)    least squares
          chi^2_2(confidence)            a normal posterior

The dashed box holds the two single intervals: it has corners that the ellipse rules out.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import chdtri, fdtri, ndtri, stdtrit

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Model
from pellucid.plots.panels.inputs import model_names, one_target, two_columns
from pellucid.plots.panels.style import GREY, Panel, colour, heading, legend


class CoefficientEllipse(Panel, size=(7.2, 4.4)):
    centre: Array  # (2,)
    covariance: Array  # (2, 2)
    boundary: Array  # (m, 2)
    half: Array  # (2,) half widths of the single intervals
    confidence: float
    correlation: float
    holds_zero: bool  # whether (0, 0) is inside
    names: tuple[str, str]

    def _draw(self, ax: Any) -> None:
        share = f"{100 * self.confidence:g} %"
        ax.fill(*self.boundary.T, color=colour(5), alpha=0.3, linewidth=0)
        ax.plot(*self.boundary.T, color=colour(0), lw=1.8, label=f"joint {share} region")
        box = self.centre + self.half * [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
        word = f"single {share} intervals"
        ax.plot(*box.T, color=GREY, lw=1.2, ls="--", label=word)
        ax.scatter(*self.centre, color=colour(0), s=30, zorder=3, label="estimate")
        ax.scatter([0], [0], color=colour(1), marker="X", s=50, zorder=3, label="both 0")
        ax.axhline(0, color=GREY, lw=0.8)
        ax.axvline(0, color=GREY, lw=0.8)
        ax.set(xlabel=f"coefficient of {self.names[0]}", ylabel=f"coefficient of {self.names[1]}")
        where = "inside" if self.holds_zero else "outside"
        heading(ax, f"correlation of the estimates {self.correlation:.2f}; both 0 is {where}")
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))


def quantiles(E: Model, confidence: float, q: int) -> tuple[float, float]:
    """r^2 of the joint region and the half width of a single interval in standard errors."""
    n, df = getattr(E, "n_observations_", None), getattr(E, "df_", q)
    free = E._integrated().df if hasattr(E, "_integrated") else np.inf
    if np.isfinite(free):  # Student-t, of the scale that slope_covariance gives
        half = stdtrit(free, (1 + confidence) / 2)
        return float(2 * fdtri(2, free, confidence)), float(half)
    if hasattr(E, "mean_") or hasattr(E, "sigma_") or n is None:  # a normal posterior
        return float(chdtri(2, 1 - confidence)), float(ndtri((1 + confidence) / 2))
    free = n - df
    return float(2 * fdtri(2, free, confidence)), float(stdtrit(free, (1 + confidence) / 2))


def slope_covariance(E: Model, p: int, target: int) -> Array:
    """Covariance (p, p) of the slopes, or the scale of their Student-t posterior."""
    C = getattr(E, "covariance_", None)
    C = E._integrated().covariance if hasattr(E, "_integrated") else C
    C = getattr(E, "sigma_", None) if C is None else C
    if C is None:
        raise ValueError(
            f"{type(E).__name__} has no covariance of its coefficients; use LinearRegression, "
            "BayesianLinearRegression or another model with covariance_"
        )
    C = one_target(C, target, 2)
    C = C[1:, 1:] if len(C) == p + 1 else C
    if len(C) != p or not np.isfinite(C).all():
        raise ValueError("the covariance of the coefficients is not known for every column")
    return C


def coefficient_ellipse(
    E: Model, columns: Sequence[Any] = (0, 1), *, confidence: float = 0.95, target: int = 0
) -> CoefficientEllipse:
    """Joint region of two coefficients, with their single intervals.

    ``columns``: two names or positions; ``confidence``: share that the interval or region holds,
    0.95 by default; ``E``: fitted model with ``covariance_`` (LinearRegression, QuantileRegressor,
    BayesianLinearRegression) or ``sigma_`` (BayesianRidge); ``target``: which of several targets.

    Examples
    --------
    >>> from pellucid import LinearRegression
    >>> from pellucid.plots import coefficient_ellipse
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 4.0], [4.0, 3.0]]
    >>> picture = coefficient_ellipse(LinearRegression().fit(X, [1.0, 0.0, 3.0, 7.0, 5.0]))
    >>> picture.centre.round(3), round(picture.correlation, 2)
    (array([0.167, 1.667]), -0.8)
    """
    check.fraction(confidence=confidence)
    names = model_names(E)
    pair = list(two_columns(columns, names))
    C = slope_covariance(E, len(names), target)[np.ix_(pair, pair)]
    if not (np.diag(C) > 0).all():
        raise ValueError("a constant column has no interval; name two columns that vary")
    q = len(names) + bool(getattr(E, "fit_intercept", False))
    squared, width = quantiles(E, confidence, q)
    centre = one_target(E.coef_, target, 1)[pair]
    L = np.linalg.cholesky(C)
    angle = np.linspace(0, 2 * np.pi, 181)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    boundary = centre + np.sqrt(squared) * circle @ L.T
    correlation = float(C[0, 1] / np.sqrt(C[0, 0] * C[1, 1]))
    inside = bool((np.linalg.solve(L, centre) ** 2).sum() <= squared)
    a, b = (names[j] for j in pair)
    alt = (
        f"Joint {100 * confidence:g} % region of the coefficients of {a} ({centre[0]:.4g}) and {b} "
        f"({centre[1]:.4g}); correlation {correlation:.2f}; it {'holds' if inside else 'excludes'} "
        "(0, 0)."
    )
    half = width * np.sqrt(np.diag(C))
    return CoefficientEllipse(
        alt, centre, C, boundary, half, confidence, correlation, inside, (a, b)
    )
