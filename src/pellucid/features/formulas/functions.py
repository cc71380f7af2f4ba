r"""The functions a formula can call; there are no others.

    of each cell         log, log2, log10, log1p, exp, exp2, expm1, sqrt, abs, sign, sin, cos, tan,
                         arctan, tanh, floor, ceil; I(...) is arithmetic; ``np.log`` means ``log``
    of a column          center, scale, standardize:  mean and spread of the training rows
    several columns      poly(x, degree, raw=False), bs(x, df, knots, degree), ns(x, df)
    categories           C(g)

What a function learns from the training rows is its state: a plain dict of numbers and arrays.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pellucid.compiled.counts.bases import natural_splines
from pellucid.core.arrays import check
from pellucid.core.arrays.scale import scaled, unit_exponent
from pellucid.core.arrays.typing import Array
from pellucid.features.bases.b_splines import dense_splines, end_values
from pellucid.features.bases.natural_spline import NaturalSplineBasis

State: TypeAlias = dict[str, Any]
MOST = 100  # columns of one function

EVERY_CELL: dict[str, np.ufunc] = {
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "sqrt": np.sqrt,
    "abs": np.absolute,
    "sign": np.sign,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "arctan": np.arctan,
    "tanh": np.tanh,
    "floor": np.floor,
    "ceil": np.ceil,
}


class Columns(NamedTuple):
    """Several columns of one factor, each with the word in brackets after its name."""

    values: Array  # (n, k)
    words: tuple[str, ...]
    spans_constant: bool = False  # the columns sum to 1, and the first may be left out


def center(x: Array, state: State) -> Array:
    """x less the mean of the training rows."""
    return scale(x, state, scale=False)


def standardize(x: Array, state: State) -> Array:
    """As ``scale``, with the spread divided by n."""
    return scale(x, state, ddof=0)


def scale(x: Array, state: State, center: bool = True, scale: bool = True, ddof: int = 1) -> Array:
    """(x - mean) / standard deviation."""
    check.boolean(center=center, scale=scale)
    check.whole(at_least=0, ddof=ddof)
    if not state:
        unit = unit_exponent(x)
        z = scaled(x, unit)
        mean = float(z.mean()) if center else 0.0
        squares = float(((z - mean) ** 2).sum())
        spread = float(np.sqrt(squares / (len(z) - ddof))) if scale and len(z) > ddof else 1.0
        if scale and not spread > 0:
            raise ValueError("a constant column has no scale")
        state |= {"unit": unit, "mean": mean, "spread": spread}
    z = (scaled(x, state["unit"]) - state["mean"]) / state["spread"]
    return z if scale else scaled(z, -state["unit"])


def poly(x: Array, state: State, degree: int = 1, raw: bool = False) -> Columns:
    """Powers of x, orthonormal over the training rows unless ``raw``.

    P_{k+1} = (x - a_k) P_k - (s_k / s_{k-1}) P_{k-1},  s_k = |P_k|^2,  a_k = x'P_k^2 / s_k
    """
    _size(degree=degree)
    check.boolean(raw=raw)
    words = tuple(str(k) for k in range(1, degree + 1))
    if raw:
        state["raw"] = True
        return Columns(np.column_stack([x**k for k in range(1, degree + 1)]), words)
    if not state:
        if len(np.unique(x)) <= degree:
            raise ValueError(f"degree {degree} needs more than {degree} distinct values")
        state |= _recurrence(x, degree)
    if "raw" in state:
        raise ValueError("raw powers were fitted, orthogonal ones are asked for")
    z, places, sizes = scaled(x, state["unit"]), state["places"], state["sizes"]
    if len(places) != degree + 1:
        raise ValueError(f"degree {degree} does not fit the {len(places)} numbers learned")
    columns = [np.ones(len(z)), z - places[0]]
    for k in range(1, degree):
        columns.append((z - places[k]) * columns[k] - sizes[k] / sizes[k - 1] * columns[k - 1])
    return Columns(np.column_stack(columns[1:]) / np.sqrt(sizes[1:]), words)


def _recurrence(x: Array, degree: int) -> State:
    """The coefficients of the orthogonal polynomials of the training rows."""
    unit = unit_exponent(x)
    z = scaled(x, unit)
    before, now = np.zeros(len(z)), np.ones(len(z))
    places, sizes = [], []
    for k in range(degree + 1):
        sizes.append(float((now**2).sum()))
        places.append(float((z * now**2).sum() / sizes[k]))
        ratio = sizes[k] / sizes[k - 1] if k else 0.0
        before, now = now, (z - places[k]) * now - ratio * before
    return {"unit": unit, "places": np.array(places), "sizes": np.array(sizes)}


def bs(
    x: Array,
    state: State,
    df: int | None = None,
    knots: list[float] | None = None,
    degree: int = 3,
    include_intercept: bool = False,
) -> Columns:
    """B-splines with knots at quantiles of the training rows, or at the knots given."""
    _size(at_least=0, degree=degree)
    check.boolean(include_intercept=include_intercept)
    if not state:
        state["knots"] = _b_knots(x, df, knots, degree, include_intercept)
    t = state["knots"]
    n = len(t) - degree - 1
    if n <= degree:
        raise ValueError(f"degree {degree} needs at least {2 * degree + 2} knots, got {len(t)}")
    out = np.empty((len(x), n))
    column = np.ascontiguousarray(x)[:, None]
    bad = dense_splines(column, t[None], degree, 0, end_values(t[None], degree), n, n, out)
    if bad >= 0:
        ends = f"{t[degree]:g} to {t[n]:g}"
        raise ValueError(f"{x[bad]:g} in row {bad} lies outside of the training rows: {ends}")
    first = 0 if include_intercept else 1
    words = tuple(str(j) for j in range(first, n))
    return Columns(np.ascontiguousarray(out[:, first:]), words, include_intercept)


def _b_knots(x: Array, df: Any, knots: Any, degree: int, include_intercept: bool) -> Array:
    if df is not None and knots is not None:
        raise ValueError("give df or knots, not both")
    low, high = float(x.min()), float(x.max())
    inner = np.asarray([] if knots is None else knots, dtype=np.float64)
    if df is not None:
        least = degree + include_intercept
        _size(at_least=max(least, 1), df=df)
        unit = unit_exponent(x) + 1
        levels = np.linspace(0, 1, df - least + 2)[1:-1]
        inner = scaled(np.quantile(scaled(x, unit), levels), -unit)
    if len(inner) > MOST or np.any((inner < low) | (inner > high)) or np.any(np.diff(inner) < 0):
        raise ValueError(f"knots must rise and lie within {low:g} to {high:g}")
    return np.concatenate([np.full(degree + 1, low), inner, np.full(degree + 1, high)])


def ns(x: Array, state: State, df: int = 4) -> Columns:
    """A natural cubic spline with ``df`` columns besides the constant."""
    _size(df=df)
    if not state:
        state["knots"] = NaturalSplineBasis(df + 1).fit(x[:, None]).knots_[0]
    width = 1 + max(len(state["knots"]) - 2, 0)
    out = np.empty((len(x), width))
    natural_splines(np.ascontiguousarray(x)[:, None], 0, state["knots"], out, 0)
    return Columns(out, tuple(str(j + 1) for j in range(width)))


def _size(*, at_least: int = 1, **sizes: Any) -> None:
    check.whole(at_least=at_least, **sizes)
    for name, size in sizes.items():
        if size > MOST:
            raise ValueError(f"{name} must be at most {MOST}, got {size}")


ONE_COLUMN: dict[str, Callable[..., Array]] = {
    "center": center,
    "scale": scale,
    "standardize": standardize,
}
MANY_COLUMNS: dict[str, Callable[..., Columns]] = {"poly": poly, "bs": bs, "ns": ns}
ALL = ("C", "I", "Q", *EVERY_CELL, *ONE_COLUMN, *MANY_COLUMNS)
