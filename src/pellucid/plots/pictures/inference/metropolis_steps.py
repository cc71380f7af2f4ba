"""The moves of one Metropolis-Hastings chain: accepted solid, rejected dashed, on the target."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.inference.sampling.chains import Chains
from pellucid.plots.panels.drawing import framed_legend
from pellucid.plots.panels.inputs import given_names
from pellucid.plots.panels.marks import margin
from pellucid.plots.panels.style import Panel, colour, heading, legend

SIDE = 81


class MetropolisSteps(Panel, size=(6.6, 4.8)):
    """Where the chain was, where it tried to go, and whether it went."""

    places: Array  # (n + 1, d) before and after every step, d = 1 or 2
    tried: Array  # (n, d)
    accepted: BoolArray  # (n,)
    lines: tuple[Array, ...]  # grid of the target; () where none was given
    density: Array | None  # (gy, gx) or (g,), over its largest value
    names: tuple[str, ...]

    def _draw(self, ax: Any) -> None:
        if self.places.shape[1] == 1:
            self._trace(ax)
        else:
            self._plane(ax)
        yes, n = int(self.accepted.sum()), len(self.accepted)
        heading(ax, f"{n} steps: {yes} accepted, {n - yes} rejected")

    def _plane(self, ax: Any) -> None:
        if self.density is not None:
            levels = np.linspace(0.02, 1.0, 9)
            ax.contourf(*self.lines, self.density, levels=levels, cmap="Greys", alpha=0.55)
            ax.grid(False)
        for i, yes in enumerate(self.accepted):
            ends = np.stack([self.places[i], self.tried[i]])
            style = ("-", colour(0), 1.5) if yes else ("--", colour(1), 0.9)
            ax.plot(*ends.T, ls=style[0], color=style[1], lw=style[2], zorder=3 if yes else 2)
        ax.plot(*self.places.T, "o", color=colour(0), ms=4, zorder=4)
        no = ~self.accepted
        ax.plot(*self.tried[no].T, "x", color=colour(1), ms=6, zorder=4)
        ax.plot(*self.places[0], "s", color="black", ms=8, zorder=5, label="start")
        ax.plot([], [], "o-", color=colour(0), label="accepted")
        ax.plot([], [], "x--", color=colour(1), label="rejected: stays")
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        framed_legend(ax)

    def _trace(self, ax: Any) -> None:
        t = np.arange(len(self.places))
        ax.step(t, self.places[:, 0], where="post", color=colour(0), lw=1.5, label="chain")
        no = ~self.accepted
        for i in np.flatnonzero(no):
            y = [self.places[i, 0], self.tried[i, 0]]
            ax.plot([i, i + 1], y, color=colour(1), ls="--", lw=0.8)
        ax.plot(t[1:][no], self.tried[no, 0], "x", color=colour(1), label="rejected proposal")
        if self.density is not None:
            width = 0.18 * len(t)
            edge, look = -width + width * self.density, {"color": "#6B7280", "alpha": 0.35, "lw": 0}
            ax.fill_betweenx(self.lines[0], -width, edge, label="target density", **look)
        ax.set(xlabel="step", ylabel=self.names[0])
        ax.set_xticks([v for v in ax.get_xticks() if 0 <= v < len(t)])
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))


def density_values(target: Callable[[Array], Any], places: Array, vectorized: bool) -> Array:
    """exp(log density) at rows of places, over the largest of them."""
    if vectorized:
        logs = np.asarray(target(places), dtype=np.float64)
    else:
        logs = np.array([float(target(row)) for row in places])
    if logs.shape != (len(places),):
        raise ValueError(f"target must give one log density per place, got shape {logs.shape}")
    top = logs[np.isfinite(logs)].max(initial=-np.inf)
    if not np.isfinite(top):
        raise ValueError("target is finite nowhere on the area that is drawn")
    return np.where(np.isnan(logs), 0.0, np.exp(np.minimum(logs - top, 0.0)))


def metropolis_steps(
    chain: Any,
    target: Any = None,
    *,
    n: int = 40,
    which: int = 0,
    names: Any = None,
    vectorized: bool = False,
) -> MetropolisSteps:
    """The first moves of a chain of one or two coordinates.

    ``chain``: Chains, made with ``metropolis_hastings(..., keep_proposals=True)``; ``names``: names
    of the coordinates, optional; ``vectorized``: whether the density takes many rows at once, False
    by default.

    Parameters
    ----------
    target : callable x -> log density, optional
        Drawn behind the moves; with ``vectorized`` it takes rows.
    n : int, default=40
        How many moves after the first draw that was kept.
    which : int, default=0
        Which of the chains.

    Examples
    --------
    >>> from pellucid.inference import metropolis_hastings
    >>> from pellucid.plots import metropolis_steps
    >>> f = lambda x: -0.5 * float(x @ x)
    >>> options = {"n_draws": 2000, "keep_proposals": True, "random_state": 0}
    >>> chain = metropolis_hastings(f, [0.0, 0.0], **options)
    >>> picture = metropolis_steps(chain, f, n=10)
    >>> picture.places.shape, bool((picture.places[1:] == picture.tried)[picture.accepted].all())
    ((11, 2), True)
    """
    if not isinstance(chain, Chains) or chain.proposals is None:
        raise ValueError(
            "metropolis_steps needs Chains with their proposals: "
            "metropolis_hastings(..., keep_proposals=True)"
        )
    m, length, d = chain.draws.shape
    check.whole(n=n)
    if d > 2:
        raise ValueError(f"metropolis_steps draws one or two coordinates, the chain has {d}")
    if not 0 <= which < m:
        raise ValueError(f"which must be a chain below {m}, got {which!r}")
    n = min(n, length - 1)
    if n < 1:
        raise ValueError("the chain has one draw: no move to show")
    places = chain.draws[which, : n + 1]
    tried, accepted = chain.proposals[which, 1 : n + 1], chain.accepted[which, 1 : n + 1]
    lines: tuple[Array, ...] = ()
    density = None
    if target is not None:
        seen = np.concatenate([places, tried])
        lines = tuple(np.linspace(*margin(v, 0.25), SIDE if d == 2 else 301) for v in seen.T)
        grid = np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, d)
        density = density_values(target, grid, vectorized)
        density = density.reshape(SIDE, SIDE) if d == 2 else density
    alt = (
        f"{n} steps of a Metropolis-Hastings chain from {np.round(places[0], 3).tolist()}: "
        f"{int(accepted.sum())} accepted, {int((~accepted).sum())} rejected."
    )
    return MetropolisSteps(alt, places, tried, accepted, lines, density, given_names(names, d))
