"""A bound on the true loss against the number of rows and the size of the class.

A bound of 1 or more says nothing; that region is shaded.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array
from pellucid.core.figures import figures
from pellucid.plots.panels.marks import STYLES, tone
from pellucid.plots.panels.style import GREY, LIGHT, Panel, heading, legend

_sized = partial(figures, digits=3, whole=(0, 1e7), commas=1e3)  # such as 1,000 or 1e+09


class Bounds(Panel, size=(6.2, 4.2)):
    """Values (sizes, rows) of the bound; one row where it depends on n only."""

    n: tuple[int, ...]
    sizes: tuple[Any, ...]  # empty where the bound depends on n only
    values: Array  # (max(1, sizes), n)
    needed: tuple[Any, ...]  # per size: the first n whose bound is below 1, or None
    size_name: str
    against: str

    def _draw(self, ax: Any) -> None:
        by_size = self.against == "size"
        x, table = (self.sizes, self.values.T) if by_size else (self.n, self.values)
        names = [f"n = {m:,}" for m in self.n] if by_size else self._names()
        for i, (name, row) in enumerate(zip(names, table, strict=True)):
            ms = 5 if len(x) <= 20 else 0
            ax.plot(x, row, ls=STYLES[i % len(STYLES)], lw=2, ms=ms, label=name, **tone(i))
        top = min(1.6, max(1.1, 1.05 * float(self.values.max())))
        top = max(top, 1.3 * float(self.values.min()))  # all of it vacuous: show some
        ax.axhspan(1.0, top, color=LIGHT, alpha=0.6, lw=0)
        at, side = (0.01, "left") if by_size else (0.99, "right")
        options = {"color": GREY, "va": "center", "transform": ax.get_yaxis_transform(), "ha": side}
        ax.text(at, (1 + top) / 2, "says nothing", **options)
        ax.set_ylim(0, top)
        if min(x) > 0 and max(x) / min(x) >= 20:
            ax.set_xscale("log")
        ax.set(xlabel=self.size_name if by_size else "rows n", ylabel="the true loss is at most")
        heading(ax, f"Bound on the true loss against {self.size_name if by_size else 'rows'}")
        if names[0]:
            legend(ax, loc="upper left", bbox_to_anchor=(1.01, 1.0))

    def _names(self) -> list[str]:
        if not self.sizes:
            return [""]
        return [f"{self.size_name} = {_sized(size)}" for size in self.sizes]


def bounds(
    bound: Callable[..., Any],
    n: Any,
    sizes: Any = None,
    *,
    size_name: str = "|F|",
    against: str = "n",
) -> Bounds:
    """Values of a bound over rows and sizes of the class.

    Parameters
    ----------
    bound : callable ``n -> bound`` or ``(n, size) -> bound``
        Its answer is a ``RiskBound`` or a number, as from ``evaluation.finite_class_bound``.
    n : sequence of int
        Numbers of rows.
    sizes : sequence of int, optional
        Sizes of the class (or VC dimensions, or numbers of models): the second argument of bound.
    size_name : str, default="|F|"
        What the sizes are called.
    against : {"n", "size"}, default="n"
        The horizontal axis; the other one gives the lines.

    Examples
    --------
    >>> from pellucid.evaluation import finite_class_bound
    >>> def bound(n, size):
    ...     return finite_class_bound(0.1, n, size)
    >>> picture = bounds(bound, [10, 100, 1000], sizes=[10, 1000])
    >>> picture.values.round(3), picture.needed
    (array([[0.615, 0.263, 0.151],
           [0.804, 0.323, 0.17 ]]), (10, 10))
    """
    check.one_of(("n", "size"), against=against)
    rows = sorted({int(m) for m in np.atleast_1d(np.asarray(n)).tolist()})
    if not rows:
        raise ValueError("n must hold at least one number of rows, got none")
    check.whole(n=rows[0])
    classes = [] if sizes is None else sorted(sizes)
    if against == "size" and not classes:
        raise ValueError("against='size' needs sizes")
    arguments: list[tuple[Any, ...]] = [(size,) for size in classes] or [()]
    values = np.array([[float(bound(m, *size)) for m in rows] for size in arguments])
    if np.isnan(values).any():
        raise ValueError("the bound is NaN for some n")
    needed = tuple(
        next((m for m, v in zip(rows, line, strict=True) if v < 1), None) for line in values
    )
    pairs = zip(classes, needed, strict=False)
    said = [f"with {size_name} {_sized(size)} {_need(m)}" for size, m in pairs]
    said = said or [_need(needed[0])]
    alt = (
        f"Bound on the true loss for {rows[0]} to {rows[-1]} rows, from {values.max():.3g} down to "
        f"{values.min():.3g}; {'; '.join(said)}."
    )
    return Bounds(alt, tuple(rows), tuple(classes), values, needed, size_name, against)


def _need(m: Any) -> str:
    return "it says nothing for any n shown" if m is None else f"it is below 1 from n = {m} on"
