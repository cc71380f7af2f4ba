r"""Why the lasso gives zeros: ellipses of equal RSS round least squares, and the set they touch.

    RSS(w) = RSS(b) + (w - b)'G(w - b),   G = Z'Z of two centred columns, b least squares
    min RSS(w)   subject to   sum |w_j|^q <= t

The two columns are fitted by themselves and, unless told otherwise, per standard deviation, as the
penalty treats both coefficients alike.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.linear.budget import Budget
from pellucid.linear.lasso.lasso import Lasso
from pellucid.linear.ridge.ridge import Ridge
from pellucid.plots.panels.inputs import response, table, two_columns
from pellucid.plots.panels.style import GREY, Panel, colour, heading, legend
from pellucid.plots.pictures.shrinkage.penalty_contours import ball

STEPS = 8000  # angles tried; a multiple of 4, so that the corners are among them
SHAPES = {"l1": (1.0, "L1 diamond"), "l2": (2.0, "L2 disc")}


class PenaltyGeometry(Panel, size=(7.0, 4.4)):
    least_squares: Array  # (2,)
    gram: Array  # (2, 2)
    solution: Array  # (2,) least RSS within the set
    boundary: Array  # (m, 2) of the set
    q: float
    t: float
    rise: float  # RSS(solution) - RSS(least squares)
    names: tuple[str, str]
    shape: str
    unit: str  # "unit" or "standard deviation"

    def _draw(self, ax: Any) -> None:
        ax.axhline(0, color=GREY, lw=0.8)
        ax.axvline(0, color=GREY, lw=0.8)
        ax.fill(*self.boundary.T, color=colour(5), alpha=0.35, linewidth=0)
        size = {1.0: "Σ|w|", 2.0: "Σw²"}.get(self.q, f"Σ|w|^{self.q:g}")
        label = f"{self.shape}, {size} = {self.t:.3g}"
        ax.plot(*self.boundary.T, color=colour(0), lw=1.8, label=label)
        root = np.linalg.inv(np.linalg.cholesky(self.gram)).T  # G^-1 = root root'
        angle = np.linspace(0, 2 * np.pi, 181)
        unit = np.column_stack([np.cos(angle), np.sin(angle)]) @ root.T
        shares = (0.1, 0.4, 1.0, 1.9) if self.rise > 0 else ()
        for share in shares:
            curve = self.least_squares + np.sqrt(share * self.rise) * unit
            touch = share == 1.0
            alpha = 1.0 if touch else 0.6
            width, said = (2.0, "equal RSS") if touch else (0.9, None)
            ax.plot(*curve.T, color=colour(1), lw=width, alpha=alpha, label=said)
        look: Any = {"s": 42, "color": colour(1), "marker": "X", "zorder": 3}
        ax.scatter(*self.least_squares, label="least squares", **look)
        ax.scatter(*self.solution, s=46, color="black", zorder=4, label="least RSS in the set")
        ax.set_aspect("equal", adjustable="datalim")
        ax.set(xlabel=f"coefficient of {self.names[0]}", ylabel=f"coefficient of {self.names[1]}")
        zero = [name for name, w in zip(self.names, self.solution, strict=True) if w == 0]
        note = f"; the coefficient of {' and '.join(zero)} is 0" if zero else ""
        point = f"({self.solution[0]:.3g}, {self.solution[1]:.3g})"
        below = f"coefficients per {self.unit}, the two columns by themselves"
        heading(ax, f"{self.shape}: {point}{note}", below)
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))


def touching(b: Array, G: Array, q: float, t: float) -> Array:
    """The point of sum |w|^q = t with the least RSS: the best of many, then refined."""

    def point(angle: Any) -> Array:
        u = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
        u = np.where(np.abs(u) < 1e-15, 0.0, u)  # the corners are exact
        size = (np.abs(u) ** q).sum(axis=-1, keepdims=True)
        return u * (t / size) ** (1 / q)

    def rise(w: Array) -> Array:
        return np.einsum("...i,ij,...j->...", w - b, G, w - b)

    angles = np.linspace(-np.pi, np.pi, STEPS + 1)
    at = angles[int(np.argmin(rise(point(angles))))]
    best, step = point(at), 2 * np.pi / STEPS
    bounds = (at - step, at + step)
    found = minimize_scalar(
        lambda a: float(rise(point(a))), bounds=bounds, method="bounded", options={"xatol": 1e-12}
    )
    refined = point(found.x)
    return refined if rise(refined) < rise(best) * (1 - 1e-9) else best


def solve(Z: Array, v: Array, b: Array, q: float, t: float) -> Array:
    """Least RSS subject to sum |w|^q <= t, by the estimator that has this constraint."""
    if (np.abs(b) ** q).sum() <= t:
        return b
    if q == 1.0:
        return np.asarray(Lasso(Budget(t), fit_intercept=False, tol=1e-12).fit(Z, v).coef_)
    if q == 2.0:
        return np.asarray(Ridge(Budget(t), fit_intercept=False).fit(Z, v).coef_)
    return touching(b, Z.T @ Z, q, t)


def penalty_geometry(
    X: ArrayLike,
    y: ArrayLike,
    columns: Sequence[Any] = (0, 1),
    penalty: Any = "l1",
    *,
    t: float | None = None,
    fraction: float = 0.5,
    standardise: bool = True,
) -> PenaltyGeometry:
    """Ellipses of equal RSS round least squares, and the L1, L2 or Lq set that they touch.

    ``X``, ``y``: data; ``columns``: two names or positions; ``penalty``: "l1", "l2" or a number q >
    0; ``fraction``: size of the set as a share of that of least squares, 0.5 by default. ``t``: the
    bound on sum |w|^q. Default: ``fraction`` of that sum for least squares. ``standardise``: divide
    the two columns by their standard deviations first.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid.plots import penalty_geometry
    >>> X = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    >>> picture = penalty_geometry(X, X @ [3.0, 1.0], t=2.0)
    >>> picture.least_squares.round(6), picture.solution.round(6)
    (array([3., 1.]), array([2., 0.]))
    """
    check.boolean(standardise=standardise)
    M, names = table(X)
    values, target = response(y, len(M))
    if len(names) < 2:
        raise ValueError("the geometry needs two columns, got one")
    pair = list(two_columns(columns, names))
    if isinstance(penalty, str):
        check.one_of(tuple(SHAPES), penalty=penalty)
        q, shape = SHAPES[penalty]
    else:
        check.positive(penalty=penalty)
        q = float(penalty)
        shape = {1.0: "L1 diamond", 2.0: "L2 disc"}.get(q, f"L{q:g} set")
    Z = M[:, pair] - M[:, pair].mean(axis=0)
    spread = Z.std(axis=0)
    if standardise:
        Z = Z / np.where(spread > 0, spread, 1.0)
    v = values - values.mean()
    b, _, rank, _ = np.linalg.lstsq(Z, v, rcond=None)
    if rank < 2:
        raise ValueError("the two columns are constant or dependent: RSS has no ellipses")
    size = float((np.abs(b) ** q).sum())
    if t is None:
        check.positive(fraction=fraction)
        t = fraction * size
    check.positive(t=t)
    boundary, G = ball(q, float(t), 400), Z.T @ Z
    w = solve(Z, v, b, q, float(t)) + 0.0  # no -0
    rise = float((w - b) @ G @ (w - b))
    a, c = (names[j] for j in pair)
    alt = (
        f"Ellipses of equal residual squares of {target} round least squares ({b[0]:.3g}, "
        f"{b[1]:.3g}) for {a} and {c}, and the {shape}; the least in the set is ({w[0]:.3g}, "
        f"{w[1]:.3g})."
    )
    unit = "standard deviation" if standardise else "unit"
    return PenaltyGeometry(alt, b, G, w, boundary, q, float(t), rise, (a, c), shape, unit)
