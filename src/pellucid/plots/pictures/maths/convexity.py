"""The chord test: a convex function lies below its chords, a convex set holds its segments."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.plots.panels.marks import band
from pellucid.plots.panels.style import Picture, axes, colour, heading, legend

POINTS = 201


class Convexity(Picture):
    """A graph with a chord, or a set with a segment."""

    t: Array  # (k,) from a (0) to b (1)
    graph: Array  # (k,) f along the segment; of a set 1 inside, 0 outside
    chord: Array  # (k,) the straight line; of a set all 1
    ends: Array  # (2, d)
    inside: Array | None  # (side, side) of a set in the plane
    lines: tuple[Array, Array] | None  # x and y of ``inside``
    holds: bool

    def plot(self, ax: Any = None) -> Any:
        return self._function(ax) if self.lines is None else self._set(ax)

    def _function(self, ax: Any) -> Any:
        ax = axes(ax)
        one = self.ends.shape[1] == 1
        x = self.ends[0, 0] + self.t * np.ptp(self.ends[:, 0]) if one else self.t
        room = 0.25 * float(np.ptp(x))
        ax.plot(x, self.graph, color=colour(0), lw=2, label="f")
        ax.plot(x, self.chord, color="black", lw=1.4, ls="--", label="chord")
        above = self.graph > self.chord + tolerance(self.graph)
        ax.fill_between(x, self.graph, self.chord, where=~above, color=colour(2), alpha=0.2, lw=0)
        if above.any():
            low = self.graph
            band(ax, x, low, self.chord, colour(1), 0.35, where=above, label="f above its chord")
        ax.plot(x[[0, -1]], self.graph[[0, -1]], "o", color="black", ms=6)
        xlabel = "x" if one else "share of the way from a to b"
        ax.set(xlabel=xlabel, ylabel="f", xlim=(x[0] - room, x[-1] + room))
        bad = "Not convex: the graph rises above this chord"
        heading(ax, "This chord lies above the graph" if self.holds else bad)
        legend(ax)
        return ax

    def _set(self, ax: Any) -> Any:
        assert self.lines is not None
        ax = axes(ax, figsize=(5.2, 4.8))
        ax.contourf(*self.lines, self.inside, levels=[0.5, 1.5], colors=[colour(0)], alpha=0.3)
        points = self.ends[0] + self.t[:, None] * (self.ends[1] - self.ends[0])
        out = self.graph < 0.5
        ax.plot(*points.T, color=colour(2), lw=2, label="segment in the set")
        if out.any():
            tint = colour(1)
            ax.plot(
                *np.where(out[:, None], points, np.nan).T, color=tint, lw=4, label="outside the set"
            )
        ax.plot(*self.ends.T, "o", color="black", ms=6)
        ax.set(xlabel="x₁", ylabel="x₂", aspect="equal")
        bad = "Not convex: this segment leaves the set"
        heading(ax, "This segment stays in the set" if self.holds else bad)
        legend(ax)
        return ax


def tolerance(values: Array) -> float:
    return 1e-9 * max(1.0, float(np.abs(values).max()))


def convexity(f: Any, a: Any, b: ArrayLike) -> Convexity:
    """The chord of a function between two points, or the segment between two points of a set.

    ``a``, ``b``: numbers or vectors; ``f``: function of one number or a vector; with True and False
    for a set of the plane (both points in it).

    Examples
    --------
    >>> from pellucid.plots import convexity
    >>> convexity(lambda x: x**2, -1.0, 2.0).holds, convexity(lambda x: -(x**2), -1.0, 2.0).holds
    (True, False)
    """
    ends = np.stack([np.atleast_1d(np.asarray(v, dtype=np.float64)) for v in (a, b)])
    if ends.ndim != 2 or not np.any(ends[0] != ends[1]):
        raise ValueError(f"a and b must be two different points, got {a!r} and {b!r}")
    if ends.shape[1] == 1:
        ends = ends[np.argsort(ends[:, 0])]
    number = np.ndim(a) == 0
    t = np.linspace(0, 1, POINTS)
    points = ends[0] + t[:, None] * (ends[1] - ends[0])
    raw = [f(float(p[0]) if number else p.copy()) for p in points]
    if isinstance(raw[0], bool | np.bool_):
        return _segment(f, ends, t, np.array(raw, dtype=np.float64))
    graph = np.array([float(np.asarray(v).reshape(())) for v in raw])
    if not np.isfinite(graph).all():
        raise ValueError("f must be finite between a and b, got NaN or infinity")
    chord = graph[0] + t * (graph[-1] - graph[0])
    gap = float((graph - chord).max())
    holds = gap <= tolerance(graph)
    said = "lies above the graph" if holds else f"is crossed: the graph rises {gap:.4g} above it"
    alt = f"A function between two points and its chord, which {said}."
    return Convexity(alt, t, graph, chord, ends, None, None, holds)


def _segment(f: Any, ends: Array, t: Array, graph: Array) -> Convexity:
    if ends.shape[1] != 2:
        raise ValueError(f"a set is drawn in two dimensions, got points of {ends.shape[1]}")
    if not graph[[0, -1]].all():
        raise ValueError("both points must be in the set")
    middle, reach = ends.mean(axis=0), 1.1 * float(np.linalg.norm(ends[1] - ends[0]))
    x, y = (np.linspace(m - reach, m + reach, 161) for m in middle)
    inside = np.array([[float(bool(f(np.array([u, v])))) for u in x] for v in y])
    holds = bool(graph.all())
    said = "stays inside" if holds else f"is outside for {1 - graph.mean():.0%} of its length"
    alt = f"A set of the plane and the segment between two of its points, which {said}."
    return Convexity(alt, t, graph, np.ones_like(t), ends, inside, (x, y), holds)
