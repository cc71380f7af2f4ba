"""Four looks at the residuals of a linear model, and the verdict of ``linear.residual_health``.

residuals against fit           a bend or a funnel
normal quantiles                tails
leverage against residual       Cook's distance D = t^2 h/((1 - h) df), contours D = 0.5 and 1
with and without the worst row  what one row does to the fit
"""

from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import clone

from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Model
from pellucid.linear.diagnostics.residuals import residual_health as diagnose
from pellucid.linear.diagnostics.residuals import studentize
from pellucid.plots.panels.inputs import predicted, response, same_kind, table
from pellucid.plots.panels.marks import margin, ring, thinned
from pellucid.plots.panels.style import GREY, Axes, Picture, colour, heading, legend, panels, quiet

CONTOURS = (0.5, 1.0)  # Cook's distances that are usually looked at


class ResidualHealth(Picture):
    """Residuals with their influence; the rows drawn are ``rows``, the worst always among them."""

    rows: IntArray  # (m,) positions in the data
    x: Array | None  # (m,) the input, where there is only one
    actual: Array  # (m,)
    fitted: Array  # (m,)
    without: Array  # (m,) predictions of the fit without the worst row
    residuals: Array  # (m,)
    standardised: Array  # (m,) e/(s sqrt(1 - h))
    quantiles: Array  # (m,) normal quantiles of the standardised residuals
    leverage: Array  # (m,)
    cooks_distance: Array  # (m,)
    df: float
    worst: int  # row with the largest Cook's distance
    problems: tuple[str, ...]
    verdict: str
    names: tuple[str, str]  # the input (or the inputs together) and the target

    def plot(self, ax: Any = None) -> Any:
        """Draw on a new figure, or on four given axes; returns the figure."""
        four = panels(4, columns=2, size=(4.2, 3.3)) if ax is None else [quiet(a) for a in ax]
        if len(four) != 4:
            raise ValueError(f"the picture needs four axes, got {len(four)}")
        looks = (self._fit, self._normal, self._influence, self._refit)
        for a, draw in zip(four, looks, strict=True):
            draw(a)
        if ax is None:
            found = ", ".join(self.problems)
            text = f"verdict: {found}" if found else "verdict: no problem found in the residuals"
            four[0].figure.suptitle(text, x=0.01, ha="left", fontsize="medium", fontweight="bold")
        return four[0].figure

    def _dots(self, ax: Axes, x: Array, y: Array) -> None:
        ax.scatter(x, y, s=13, color=colour(0), alpha=0.7, linewidths=0)
        at = np.flatnonzero(self.rows == self.worst)
        ring(ax, x[at], y[at], size=80, tint=colour(1), lw=1.6, label=f"row {self.worst}")

    def _fit(self, ax: Axes) -> None:
        self._dots(ax, self.fitted, self.residuals)
        ax.axhline(0, color=GREY, lw=1)
        order = np.argsort(self.fitted, kind="stable")
        if len(order) >= 20:  # a running mean shows a bend
            size = max(5, len(order) // 10)
            weights = np.full(size, 1 / size)
            line = [np.convolve(v[order], weights, "valid") for v in (self.fitted, self.residuals)]
            ax.plot(*line, color=colour(2), lw=1.8, label="running mean")
        ax.set(xlabel=f"fitted {self.names[1]}", ylabel="residual")
        heading(ax, "Residuals against fit")
        legend(ax)

    def _normal(self, ax: Axes) -> None:
        self._dots(ax, self.quantiles, self.standardised)
        ends = np.array(margin(self.quantiles))
        ax.plot(ends, ends, color=GREY, lw=1, ls="--", label="normal")
        ax.set(xlabel="normal quantile", ylabel="standardised residual")
        heading(ax, "Normal quantiles")
        legend(ax, loc="upper left")

    def _influence(self, ax: Axes) -> None:
        self._dots(ax, self.leverage, self.standardised)
        right = min(1.0, 1.08 * float(self.leverage.max()))
        h = np.linspace(right / 200, right, 200)
        low, high = margin(self.standardised, 0.15)
        for i, distance in enumerate(CONTOURS):
            t = np.sqrt(distance * self.df * (1 - h) / h)
            for side in (t, -t):
                label = f"Cook's distance {distance:g}" if side is t else None
                ax.plot(h, side, color=colour(1), lw=1, ls=("--", "-")[i], label=label)
        ax.axhline(0, color=GREY, lw=1)
        ylim = (min(low, -2.5), max(high, 2.5))
        ax.set(xlim=(0, right), ylim=ylim, xlabel="leverage", ylabel="standardised residual")
        heading(ax, "Influence")
        legend(ax, loc="best")

    def _refit(self, ax: Axes) -> None:
        if self.x is not None:
            self._dots(ax, self.x, self.actual)
            order = np.argsort(self.x, kind="stable")
            ax.plot(self.x[order], self.fitted[order], color=colour(0), lw=1.8, label="with")
            y = self.without[order]
            ax.plot(self.x[order], y, color=colour(1), lw=1.8, ls="--", label="without")
            ax.set(xlabel=self.names[0], ylabel=self.names[1])
        else:
            self._dots(ax, self.fitted, self.without)
            ends = margin(np.concatenate([self.fitted, self.without]))
            ax.plot(ends, ends, color=GREY, lw=1, ls="--", label="no change")
            ax.set(xlabel="fitted with it", ylabel="predicted without it")
        heading(ax, f"With and without row {self.worst}")
        legend(ax)


def residual_health(E: Model, X: ArrayLike, y: ArrayLike, *, alpha: float = 0.05) -> ResidualHealth:
    """Residuals, normal quantiles, influence, the worst row left out, and a verdict.

    ``E``: fitted linear model (LinearRegression, Ridge, RidgeCV, ...) of one target; ``X``, ``y``:
    its training data; ``alpha``: level of each test behind the verdict.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import LinearRegression
    >>> from pellucid.plots import residual_health
    >>> x = np.linspace(0, 4, 30)[:, None]
    >>> y = np.exp(x[:, 0])
    >>> picture = residual_health(LinearRegression().fit(x, y), x, y)
    >>> picture.problems[0], picture.worst
    ('nonlinear', 29)
    """
    found = diagnose(E, X, y, alpha=alpha)
    M, names = table(X)
    values, target = response(y, len(M))
    n, df = len(M), float(found.leverage.sum())
    inner, _ = studentize(found.residuals, found.leverage, df)
    worst = int(np.argmax(found.cooks_distance))
    others = np.arange(n) != worst
    without = predicted(clone(E).fit(same_kind(X, M[others]), values[others]), X)
    ranks = np.empty(n)
    ranks[np.argsort(inner, kind="stable")] = np.arange(n)
    rows = np.union1d(thinned(n), [worst])
    problems = tuple(problem.name for problem in found.problems)
    alt = (
        f"Four panels on the residuals of {type(E).__name__} for {target}: against the fit, normal "
        f"quantiles, leverage with Cook's distance (largest {found.cooks_distance[worst]:.3g}, row "
        f"{worst}) and the fit without that row. Verdict: {str(found).replace(chr(10), '; ')}."
    )
    x = M[rows, 0] if M.shape[1] == 1 else None
    parts = (found.residuals, inner, ndtri((ranks + 0.5) / n), found.leverage, found.cooks_distance)
    every = (values, values - found.residuals, without, *parts)
    actual, fitted, left_out, e, t, q, h, D = (v[rows] for v in every)
    pair = (names[0] if len(names) == 1 else "inputs", target)
    return ResidualHealth(
        alt, rows, x, actual, fitted, left_out, e, t, q, h, D, df, worst, problems, str(found), pair
    )
