r"""The lasso objective in one coefficient, the others held at their lasso values.

    f(w) = |r - x w|^2/(2n) + lam |w|,   r = what the other columns leave of y
    slopes at 0:   -rho - lam on the left,  -rho + lam on the right,   rho = x'r/n
    minimum        soft(rho, lam)/(x'x/n):  exactly 0 while |rho| <= lam

The kink at 0 is what makes coefficients exactly zero.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.linear.lasso.lasso import Lasso
from pellucid.linear.least_squares.summary import column_positions
from pellucid.plots.panels.inputs import response, same_kind, table
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend


class Kink(Panel, size=(7.0, 4.0)):
    at: Array  # (m,)
    loss: Array  # (m,) RSS/(2n)
    penalty: Array  # (m,) lam |w|
    minimum: float
    least_squares: float  # minimum of the loss alone
    slopes: tuple[float, float]  # of loss + penalty, left and right of 0
    lam: float
    name: str

    @property
    def objective(self) -> Array:
        """Loss + penalty on the grid."""
        return self.loss + self.penalty

    def _draw(self, ax: Axes) -> None:
        floor = float(self.loss.min())  # does not depend on w, and would hide the rest
        loss, total = self.loss - floor, self.objective - floor
        ax.axvline(0, color=GREY, lw=0.8)
        ax.plot(self.at, loss, color=colour(0), ls="--", label="RSS/(2n)")
        ax.plot(self.at, self.penalty, color=colour(4), ls="-.", label="λ|w|")
        ax.plot(self.at, total, color="black", lw=2, label="their sum")
        at_zero, bottom = np.interp([0.0, self.minimum], self.at, total)
        reach = 0.16 * (self.at[-1] - self.at[0])
        for side, slope in zip((-1, 1), self.slopes, strict=True):
            x, y = [0, side * reach], [at_zero, at_zero + side * reach * slope]
            ax.plot(x, y, color=colour(1), lw=2, label="slopes at 0" if side > 0 else None)
        label = f"minimum at {self.minimum:.3g}"
        ax.scatter([self.minimum], [bottom], s=50, color=colour(2), zorder=4, label=label)
        low = float(np.interp(self.least_squares, self.at, loss))
        x, label = [self.least_squares], f"without penalty {self.least_squares:.3g}"
        ax.scatter(x, [low], s=45, color=colour(0), marker="X", zorder=4, label=label)
        ax.set(xlabel=f"coefficient of {self.name}", ylabel="above the least RSS/(2n)")
        left, right = self.slopes
        where = "0 is the minimum" if self.minimum == 0 else "0 is not the minimum"
        heading(ax, f"λ = {self.lam:.4g}; slopes at 0: {left:.3g} and {right:.3g}, so {where}")
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))


def kink(X: ArrayLike, y: ArrayLike, j: Any, lam: float) -> Kink:
    """The lasso objective as a function of the coefficient of column j.

    ``X``, ``y``: data; ``j``: name or position of the column; ``lam``: float > 0; penalty on the
    scale of ``Lasso(alpha=lam)``: RSS/(2n) + lam sum |w|.

    Examples
    --------
    >>> from pellucid.plots import kink
    >>> picture = kink([[-1.0], [0.0], [1.0]], [-1.0, 0.0, 1.0], 0, lam=0.5)
    >>> round(picture.minimum, 6), [round(s, 4) for s in picture.slopes]
    (0.25, [-1.1667, -0.1667])
    """
    check.positive(lam=lam)
    M, names = table(X)
    values, target = response(y, len(M))
    k = column_positions(j, names)[0]
    model = Lasso(alpha=lam, tol=1e-12).fit(same_kind(X, M), values)
    Z, v = M - M.mean(axis=0), values - values.mean()
    w = model.coef_.copy()
    w[k] = 0.0
    r, x, n = v - Z @ w, Z[:, k], len(M)
    c, rho = float(x @ x / n), float(x @ r / n)
    if c == 0:
        raise ValueError(f"column {names[k]} is constant: its coefficient changes nothing")
    least = rho / c
    best = float(np.sign(rho) * max(abs(rho) - lam, 0.0) / c) + 0.0  # no -0
    reach = 1.5 * max(abs(least), lam / c)
    grid = np.linspace(-0.7 * reach, 0.7 * reach, 401) + least / 2
    grid = np.unique(np.append(grid, [0.0, best, least]))
    loss = float(r @ r / (2 * n)) - rho * grid + c * grid**2 / 2
    alt = (
        f"Lasso objective of {target} as the coefficient of {names[k]} varies, lambda {lam:.4g}: "
        f"slopes {-rho - lam:.3g} and {-rho + lam:.3g} at 0, minimum at {best:.4g}, without the "
        f"penalty at {least:.4g}."
    )
    slopes = (-rho - lam, -rho + lam)
    return Kink(alt, grid, loss, lam * np.abs(grid), best, least, slopes, float(lam), names[k])
