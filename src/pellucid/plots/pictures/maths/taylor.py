"""Taylor polynomials closing in on a function."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.maths import taylor as polynomial
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend

LINES = ("--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)))
WORDS: dict[str, Any] = {"geometric": lambda x: 1 / (1 - x), "exp": np.exp, "log1p": np.log1p}
WORDS |= {"cos": np.cos, "sin": np.sin}


class Taylor(Panel):
    x: Array  # (k,)
    f: Array  # (k,)
    polynomials: tuple[tuple[int, Array], ...]  # order, values (k,)
    x0: float
    radius: float | None  # of convergence, where known
    name: str

    def _draw(self, ax: Axes) -> None:
        low, high = np.nanmin(self.f), np.nanmax(self.f)
        room = 0.35 * ((high - low) or 1.0)
        if self.radius is not None and np.isfinite(self.radius):
            ends = (self.x0 - self.radius, self.x0 + self.radius)
            label = f"converges: |x - {self.x0:g}| < {self.radius:g}"
            ax.axvspan(*ends, color=GREY, alpha=0.1, lw=0, label=label)
        ax.plot(self.x, self.f, color="black", lw=2.4, label=self.name)
        for k, (order, values) in enumerate(self.polynomials):
            ax.plot(
                self.x, values, color=colour(k), lw=1.6, ls=LINES[k % 5], label=f"order {order}"
            )
        ax.plot(self.x0, float(np.interp(self.x0, self.x, self.f)), "o", color="black", ms=6)
        ax.set(
            xlabel="x", ylabel="value", ylim=(low - room, high + room), xlim=(self.x[0], self.x[-1])
        )
        heading(ax, f"Taylor polynomials around {self.x0:g}")
        legend(ax)


def taylor(f: Any, orders: Any = (1, 2, 3, 5), *, x0: float = 0.0, span: Any = None) -> Taylor:
    """A function beside its Taylor polynomials of several orders.

    ``f``: function of one number, or "geometric", "exp", "log1p", "cos", "sin"; ``orders``: orders
    of the polynomials, 1, 2, 3 and 5 by default; ``x0``: float, default=0.0; ``span``: (low, high);
    default: 2 to either side, less where the function ends.

    Examples
    --------
    >>> from pellucid.plots import taylor
    >>> picture = taylor("exp", (1, 2), span=(-1, 1))
    >>> [round(float(values[-1]), 3) for _, values in picture.polynomials]
    [2.0, 2.5]
    """
    found = [polynomial(f, int(order), x0) for order in np.unique(orders)]
    if not found:
        raise ValueError("orders must name at least one order, got none")
    if span is None:
        span = (
            (max(x0 - 2, -0.95), x0 + 2)
            if f == "log1p"
            else ((x0 - 2, min(x0 + 2, 0.9)) if f == "geometric" else (x0 - 2, x0 + 2))
        )
    low, high = map(float, span)
    if not low < high:
        raise ValueError(f"span must be (low, high), got {span!r}")
    x = np.linspace(low, high, 401)
    g = WORDS[f] if isinstance(f, str) else f
    with np.errstate(all="ignore"):  # where f ends is said below
        values = np.array([float(g(v)) for v in x])
    if not np.isfinite(values).all():
        raise ValueError(f"f must be finite between {low:g} and {high:g}; give span=")
    lines = tuple((len(t.coefficients) - 1, np.asarray(t(x), dtype=np.float64)) for t in found)
    gaps = ", ".join(f"{np.abs(v - values).max():.3g} at order {n}" for n, v in lines)
    name = f if isinstance(f, str) else getattr(f, "__name__", "f").replace("<lambda>", "f")
    alt = f"{name} and its Taylor polynomials around {x0:g}; largest error here: {gaps}."
    return Taylor(alt, x, values, lines, float(x0), found[0].radius, name)
