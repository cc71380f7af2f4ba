"""Where the penalty sum |w|^q is 1, for several q: from a rounded square to a cross."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.style import GREY, Picture, colour, heading, panels, quiet


class PenaltyContours(Picture):
    q: tuple[float, ...]
    curves: tuple[Array, ...]  # each (m, 2)

    def plot(self, ax: Any = None) -> Any:
        """Draw on a new figure, or on one given axes per q; returns the figure."""
        n = len(self.q)
        room = panels(n, columns=5, size=(2.2, 2.4)) if ax is None else list(np.atleast_1d(ax))
        if len(room) != n:
            raise ValueError(f"the picture needs {n} axes, got {len(room)}")
        for a, q, curve in zip(room, self.q, self.curves, strict=True):
            quiet(a)
            a.axhline(0, color=GREY, lw=0.8)
            a.axvline(0, color=GREY, lw=0.8)
            a.fill(*curve.T, color=colour(5), alpha=0.3, linewidth=0)
            a.plot(*curve.T, color=colour(0), lw=1.8)
            xlim, ylim = (-1.25, 1.25), (-1.25, 1.25)
            a.set(xlim=xlim, ylim=ylim, xticks=(-1, 0, 1), yticks=(-1, 0, 1), xlabel="$w_1$")
            a.set_aspect("equal")
            heading(a, f"q = {q:g}" + (" (ridge)" * (q == 2)) + (" (lasso)" * (q == 1)))
        room[0].set(ylabel="$w_2$")
        return room[0].figure


def ball(q: float, size: float = 1.0, points: int = 100) -> Array:
    """The curve sum |w|^q = size, corners included.

    >>> np.abs(ball(0.5, 2.0)).__pow__(0.5).sum(axis=1).round(6).max().item()
    2.0
    """
    angle = np.linspace(0, np.pi / 2, points)
    with np.errstate(under="ignore"):
        one = np.column_stack([np.cos(angle), np.sin(angle)]).clip(0, 1) ** (2 / q)
    one[0], one[-1] = (1, 0), (0, 1)
    quarters = [one, one[::-1] * (-1, 1), one * (-1, -1), one[::-1] * (1, -1)]
    return size ** (1 / q) * np.vstack(quarters)


def penalty_contours(q: Any = (4, 2, 1, 0.5, 0.1)) -> PenaltyContours:
    """Contours of sum |w|^q for two coefficients.

    ``q``: exponents > 0; 2 is ridge, 1 the lasso; below 1 the set is not convex, towards 0 it
    counts coefficients.

    Examples
    --------
    >>> from pellucid.plots import penalty_contours
    >>> picture = penalty_contours((2, 1))
    >>> [float((abs(c) ** q).sum(axis=1).max().round(6)) for q, c in zip(picture.q, picture.curves)]
    [1.0, 1.0]
    """
    exponents = exponents_of(q)
    alt = (
        "Sets of two coefficients with sum |w|^q at most 1, for q = "
        + ", ".join(f"{v:g}" for v in exponents)
        + ": rounded square (q > 2), disc (2), diamond (1), and for q < 1 a star with the corners "
        "on the axes."
    )
    return PenaltyContours(alt, exponents, tuple(ball(v) for v in exponents))


def exponents_of(q: Any) -> tuple[float, ...]:
    """Numbers > 0."""
    try:
        found = np.atleast_1d(np.asarray(q, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"q must be numbers > 0, got {q!r}") from None
    if found.ndim != 1 or not len(found) or not (np.isfinite(found) & (found > 0)).all():
        raise ValueError(f"q must be numbers > 0, got {q!r}")
    return tuple(found.tolist())
