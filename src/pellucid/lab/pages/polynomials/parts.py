"""The curves of the page on polynomials: what is fitted, to one training set or to many."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline

from pellucid.core.arrays.typing import ArrayLike
from pellucid.features import MinMaxScaler, NaturalSplineBasis, PolynomialFeatures
from pellucid.lab.drawing import number, signed
from pellucid.linear import LinearRegression, SmoothingSpline

METHODS = {"polynomial": "degree", "natural spline": "knots", "smoothing spline": "df"}
TRUTHS: dict[str, Callable[[Any], Any]] = {
    "wave": lambda x: np.sin(1.1 * x),
    "line": lambda x: 0.4 * x - 1.0,
    "step": lambda x: np.where(x > 3.0, 0.8, -0.8),
    "bump": lambda x: 1.5 * np.exp(-2.0 * (x - 3.0) ** 2) - 0.3,
}
POWERS = "⁰¹²³⁴⁵⁶⁷⁸⁹"


class Sweep(NamedTuple):
    """Training rows, other training sets at the same x, and where curves are looked at."""

    x: Any  # (n,)
    y: Any
    Y: Any  # (n, B)
    truth: Callable[[Any], Any]
    noise: float
    inside: Any  # between the smallest and the largest x
    shown: Any
    x_test: Any
    y_test: Any


def complexities(method: str, most: int, distinct: int) -> list[int]:
    """Degrees from 0, knots from 2, degrees of freedom from 3, at most what the rows allow."""
    if method == "polynomial":
        return list(range(min(most, distinct - 1) + 1))
    first = 2 if method == "natural spline" else 3
    return list(range(first, max(min(most + 1, distinct), first + 1) + 1))[: distinct - first + 1]


def make_model(method: str, value: int) -> Any:
    if method == "polynomial":
        scale, powers = MinMaxScaler(feature_range=(-1, 1)), PolynomialFeatures(value)
        return make_pipeline(scale, powers, LinearRegression(fit_intercept=False))
    if method == "natural spline":
        return make_pipeline(NaturalSplineBasis(value), LinearRegression())
    return SmoothingSpline(df=value)


def fitted(method: str, value: int, X: ArrayLike, y: ArrayLike) -> Any:
    return make_model(method, value).fit(X, y)


def maker(method: str, value: int, model: BaseEstimator) -> Callable[[Any, Any, Any], Any]:
    """(X, Y, places) -> the curves (places, B) of all targets.

    The columns are the same for all targets, so least squares solves them together; the smoothing
    splines share the penalty that the reader's rows found for these degrees of freedom.
    """

    def together(X: ArrayLike, Y: ArrayLike, places: Any) -> Any:
        return make_model(method, value).fit(X, Y).predict(places)

    def one_by_one(X: np.ndarray, Y: np.ndarray, places: Any) -> Any:
        spline = SmoothingSpline(alpha=model.alpha_)
        return np.column_stack([spline.fit(X, y).predict(places) for y in Y.T])

    return one_by_one if method == "smoothing spline" else together


def equation(method: str, step: dict[str, Any]) -> str:
    """The curve fitted to the reader's rows."""
    model = step["model"]
    if method == "smoothing spline":
        return f"min Σ (y − f(x))² + α ∫ f″²,  α = {number(model.alpha_)}"
    w = np.asarray(model[-1].coef_).ravel()
    if method == "natural spline":
        return f"f(x) = {number(model[-1].intercept_)}{terms(w, 'N', 1)}"
    return f"f(u) = {number(w[0])}{terms(w[1:], 'u', 1)}"


def terms(w: np.ndarray, name: str, first: int, most: int = 3) -> str:
    """' + 1.2 u - 0.3 u²' and so on, the rest as dots."""
    words = ""
    for k, value in enumerate(w[:most], start=first):
        power = "" if k == 1 and name == "u" else POWERS[k]
        words += f"{signed(value)} {name}{power if name == 'u' else f'{k}(x)'}"
    return words + (" + …" if len(w) > most else "")
