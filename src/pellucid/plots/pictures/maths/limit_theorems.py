"""The law of large numbers against its bounds, and the central limit theorem."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Seed
from pellucid.core.runtime.random import generator
from pellucid.maths import limit_theorems as simulate
from pellucid.maths.chance.limits import LimitTheorems as Simulated
from pellucid.plots.panels.style import GREY, Picture, colour, heading, legend, marker, panels

REPEATS, SHOWN = 2000, 3
LINES = ("-", "--", "-.")


class LimitTheorems(Picture):
    """The simulation, and standardised means of some sizes."""

    found: Simulated
    sizes: tuple[int, ...]
    standardised: tuple[Array, ...]  # (repeats,) each; empty without a variance
    name: str

    def plot(self) -> Any:
        """How often the mean is off, and how it is distributed; the figure."""
        left, right = panels(2, columns=2, size=(4.8, 3.9))
        f = self.found
        for k, (values, name) in enumerate(
            ((f.frequency, "simulated"), (f.chebyshev, "Chebyshev"), (f.hoeffding, "Hoeffding"))
        ):
            if values is not None:
                shown = np.where(values > 0, np.minimum(values, 1.0), np.nan)
                left.plot(f.n, shown, color=colour(k), marker=marker(k), lw=1.7, label=name)
        left.set(xscale="log", yscale="log", xlabel="n", ylabel=f"P(|mean - µ| ≥ {f.eps:g})")
        heading(left, "Law of large numbers and its bounds")
        legend(left)
        z = np.linspace(-4, 4, 201)
        edges = np.linspace(-4, 4, 41)
        for k, (n, values) in enumerate(zip(self.sizes, self.standardised, strict=True)):
            look = {"histtype": "step", "lw": 1.6, "color": colour(k), "ls": LINES[k % 3]}
            right.hist(values, bins=edges, density=True, label=f"n = {n}", **look)
        y = np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        right.plot(z, y, color=GREY, lw=2.2, alpha=0.8, label="normal")
        right.set(xlabel="(mean - µ) √n / σ", ylabel="density")
        heading(right, f"Central limit theorem: {self.name}")
        legend(right)
        return left.figure


def limit_theorems(
    d: Any,
    n: Any = (1, 3, 10, 30, 100, 300),
    *,
    eps: float = 0.1,
    repeats: int = REPEATS,
    random_state: Seed = 0,
) -> LimitTheorems:
    """Means of n draws: how often they are off by eps, and their standardised distribution.

    ``d``: distribution of ``pellucid.inference`` of one number, with a mean and a variance; ``n``:
    sizes of the samples; ``eps``: distance from the mean that counts as far, 0.1 by default;
    ``repeats``: how many samples are drawn for each n, 2000 by default; ``random_state``: seed of
    the random draws, 0 by default.

    Examples
    --------
    >>> from pellucid.inference import Exponential
    >>> from pellucid.plots import limit_theorems
    >>> picture = limit_theorems(Exponential(1.0), (1, 100))
    >>> picture.sizes, bool(picture.found.distance[1] < picture.found.distance[0])
    ((1, 100), True)
    """
    found = simulate(d, n, eps, repeats, random_state)
    if found.mean is None or found.frequency is None or not found.variance:
        raise ValueError("d must have a mean and a variance > 0: the theorems speak of no other")
    which = np.unique(np.linspace(0, len(found.n) - 1, SHOWN).round().astype(int))
    sizes = tuple(int(found.n[i]) for i in which)
    rng = generator(random_state)
    draws = []
    for size in sizes:
        means = np.asarray(d.sample(size * repeats, rng)).reshape(repeats, size).mean(axis=1)
        draws.append((means - found.mean) * np.sqrt(size / found.variance))
    often = ", ".join(f"{p:.3g} at n = {k}" for k, p in zip(found.n, found.frequency, strict=True))
    alt = (
        f"Means of draws from {type(d).__name__}: off by {eps:g} or more with frequency {often}; "
        "standardised they approach the normal density."
    )
    return LimitTheorems(alt, found, sizes, tuple(draws), type(d).__name__)
