"""Densities that are hard to walk: how far steps of several lengths come, and what is accepted.

On correlated coordinates a circular step is either rejected or short; between two modes a short
step never finds the other one.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Seed
from pellucid.inference.sampling.proposals import GaussianWalk
from pellucid.inference.sampling.walks import run_chains
from pellucid.plots.panels.marks import margin, words
from pellucid.plots.panels.style import Picture, colour, heading, marker, panels
from pellucid.plots.pictures.inference.metropolis_steps import density_values

SIDE = 81
CHAINS, SHOWN = 4, 150  # chains, and draws of each that are drawn


def log_bimodal(x: Array) -> Array:
    """Two normal peaks at (-2.5, 0) and (2.5, 0), rows to log densities."""
    left, right = (((x - [c, 0.0]) ** 2).sum(axis=1) / (2 * 0.6**2) for c in (-2.5, 2.5))
    return np.logaddexp(-left, -right)


def log_correlated(x: Array) -> Array:
    """A normal density of correlation 0.97, rows to log densities."""
    a, b = x.T
    return -(a**2 - 2 * 0.97 * a * b + b**2) / (2 * (1 - 0.97**2))


KNOWN: dict[str, Callable[[Array], Array]] = {"bimodal": log_bimodal, "correlated": log_correlated}


class Walked(NamedTuple):
    """The chains with one length of step."""

    scale: float
    draws: Array  # (chains, n, 2)
    acceptance: float
    rhat: float  # the largest
    ess: float  # the smallest


class TargetShapes(Picture):
    """A density on a grid, and chains on it with several lengths of step."""

    lines: tuple[Array, Array]
    density: Array  # (gy, gx) over its largest value
    walks: tuple[Walked, ...]
    name: str
    names: tuple[str, str]

    def plot(self) -> Any:
        """A panel per length of step; the figure."""
        grid = panels(len(self.walks), size=(4.2, 3.9))
        for ax, walk in zip(grid, self.walks, strict=True):
            ax.contourf(
                *self.lines, self.density, levels=np.linspace(0.03, 1.0, 8), cmap="Greys", alpha=0.6
            )
            for c, draws in enumerate(walk.draws):
                some = draws[:SHOWN]
                ax.plot(*some.T, color=colour(c), lw=0.5, alpha=0.5)
                ax.plot(*some.T, marker(c), color=colour(c), ms=2.5, mew=0, alpha=0.8)
                ax.plot(*some[0], marker(c), color=colour(c), ms=8, mec="black")
            ax.grid(False)
            xlim, ylim = self.lines[0][[0, -1]], self.lines[1][[0, -1]]
            ax.set(xlabel=self.names[0], ylabel=self.names[1], xlim=xlim, ylim=ylim)
            kept = walk.draws.shape[0] * walk.draws.shape[1]
            note = f"R-hat {walk.rhat:.2f}, {walk.ess:.0f} effective draws of {kept}"
            heading(ax, f"steps of {walk.scale:g}: {walk.acceptance:.0%} accepted", note, width=48)
        grid[0].figure.suptitle(
            f"{self.name} target, {CHAINS} chains (large marks: first draws)", fontsize="medium"
        )
        return grid[0].figure


def target_shapes(
    target: Any = "bimodal",
    *,
    scales: Any = (0.3, 1.0, 3.0),
    start: Any = (0.0, 0.0),
    n_draws: int = 1000,
    names: Any = ("θ₁", "θ₂"),
    random_state: Seed = 0,
) -> TargetShapes:
    """How Metropolis chains with steps of several lengths walk a density of two coordinates.

    ``target``: "bimodal", "correlated", or a callable x (2,) -> log density; ``scales``: standard
    deviations of the steps, > 0; ``names``: names of the two coordinates; ``random_state``: seed of
    the random draws, 0 by default. ``start``: array (2,); where the chains are dispersed around.
    ``n_draws``: draws of each of four chains, without burn-in: the way to the target shows.

    Examples
    --------
    >>> from pellucid.plots import target_shapes
    >>> picture = target_shapes("correlated", scales=(0.3, 3.0), n_draws=200)
    >>> bool(picture.walks[0].acceptance > picture.walks[1].acceptance)
    True
    """
    check.whole(at_least=4, n_draws=n_draws)
    if isinstance(target, str):
        check.one_of(tuple(KNOWN), target=target)
    elif not callable(target):
        raise ValueError(f"target must be one of {sorted(KNOWN)} or a log density, got {target!r}")
    f = KNOWN[target] if isinstance(target, str) else target
    vectorized = isinstance(target, str)
    walks = []
    for scale in np.atleast_1d(np.asarray(scales, dtype=np.float64)):
        options: Any = {"proposal": GaussianWalk(float(scale)), "vectorized": vectorized}
        options |= {
            "n_draws": n_draws,
            "n_burn": 0,
            "n_chains": CHAINS,
            "random_state": random_state,
        }
        found = run_chains(f, np.asarray(start, dtype=np.float64), **options)
        if found.draws.shape[2] != 2:
            raise ValueError(f"target_shapes draws two coordinates, got {found.draws.shape[2]}")
        acceptance, ess = float(found.acceptance_rate.mean()), float(found.ess.min())
        walks.append(Walked(float(scale), found.draws, acceptance, float(found.rhat.max()), ess))
    seen = np.concatenate([walk.draws.reshape(-1, 2) for walk in walks])
    lines = tuple(np.linspace(*margin(v, 0.1), SIDE) for v in seen.T)
    places = np.stack(np.meshgrid(*lines), axis=-1).reshape(-1, 2)
    density = density_values(f, places, vectorized).reshape(SIDE, SIDE)
    name = target.capitalize() if isinstance(target, str) else "Your"
    said = words([f"{w.scale:g}: {w.acceptance:.0%} accepted, R-hat {w.rhat:.2f}" for w in walks])
    alt = f"{name} density with {CHAINS} chains; steps of {said}."
    first, second = names
    return TargetShapes(
        alt, (lines[0], lines[1]), density, tuple(walks), name, (str(first), str(second))
    )
