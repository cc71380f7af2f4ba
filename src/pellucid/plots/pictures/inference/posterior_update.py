"""Prior, likelihood, posterior and predictive, and how they sharpen as data come in."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.marks import stroke
from pellucid.plots.panels.style import Axes, Picture, colour, heading, legend, panels

POINTS, MOST_PARTS = 401, 6
LINES = ("-", "--", "-.", ":")


class Part(NamedTuple):
    """One unknown number: its density after each batch, the prior first."""

    name: str
    grid: Array  # (k,)
    densities: Array  # (stages, k)
    likelihood: Array | None  # (k,) of all data, scaled to area 1; of a single unknown


class PosteriorUpdate(Picture):
    """Every unknown with its densities, and the beliefs they come from."""

    parts: tuple[Part, ...]
    seen: tuple[int, ...]  # observations so far, at each stage
    beliefs: tuple[Any, ...]
    predictive: tuple[Any, ...]  # distributions of the next observation

    def plot(self) -> Any:
        """One panel per unknown and one of the next observation; for a single unknown also prior,
        likelihood and posterior."""
        alone = len(self.parts) == 1
        grid = panels(len(self.parts) + alone + 1, columns=3, size=(4.4, 3.7))
        if alone:
            self._three(grid[0], self.parts[0])
        for ax, part in zip(grid[alone:-1], self.parts, strict=True):
            for k, (n, density) in enumerate(zip(self.seen, part.densities, strict=True)):
                ax.plot(
                    part.grid, density, lw=1.7, label="prior" if k == 0 else f"n = {n}", **stroke(k)
                )
            ax.set(xlabel=part.name, ylabel="density", ylim=(0, None))
            heading(ax, "Sharper with every batch" if alone else part.name)
        legend(grid[-2])
        self._next(grid[-1])
        return grid[0].figure

    def _next(self, ax: Axes) -> None:
        """The next observation, as the prior and as the posterior expect it."""
        before, after = self.predictive[0], self.predictive[-1]
        if not before.discrete:
            ends = [float(law.quantile(q)) for law in (before, after) for q in (0.02, 0.98)]
            x = np.linspace(min(ends), max(ends), POINTS)
            ax.plot(x, before.density(x), color=colour(0), lw=1.7, ls="--", label="before data")
            ax.plot(x, after.density(x), color=colour(1), lw=2, label=f"n = {self.seen[-1]}")
            ax.set(ylabel="density")
        else:
            names, chances = outcomes(before, after)
            at = np.arange(len(names))
            for shift, law, label in (
                (-0.2, chances[0], "before data"),
                (0.2, chances[1], f"n = {self.seen[-1]}"),
            ):
                ax.bar(at + shift, law, 0.4, color=colour(int(shift > 0)), label=label)
            step = -(-len(names) // 12)
            ax.set_xticks(at[::step], names[::step])
            ax.set(ylabel="probability")
        ax.set(xlabel="next observation", ylim=(0, None))
        heading(ax, "Predictive")
        legend(ax)

    def _three(self, ax: Axes, part: Part) -> None:
        ax.plot(part.grid, part.densities[0], color=colour(0), lw=1.7, ls="--", label="prior")
        if part.likelihood is not None:
            y = part.likelihood
            ax.plot(part.grid, y, color=colour(4), lw=1.7, ls=":", label="likelihood, scaled")
        ax.plot(part.grid, part.densities[-1], color=colour(1), lw=2, label="posterior")
        ax.set(xlabel=part.name, ylabel="density", ylim=(0, None))
        heading(ax, f"After {self.seen[-1]} observations")
        legend(ax)


def outcomes(before: Any, after: Any) -> tuple[list[str], list[Array]]:
    """The possible values of a discrete observation and their probabilities under both."""
    categories = getattr(after, "categories", None)
    if categories is not None:
        return [str(c) for c in categories], [np.asarray(law.p) for law in (before, after)]
    low, high = after.support
    high = high if np.isfinite(high) else max(law.quantile(0.98) for law in (before, after))
    values = np.arange(low, high + 1)
    return [f"{v:g}" for v in values], [np.asarray(law.density(values)) for law in (before, after)]


def laws_of(belief: Any) -> list[Any]:
    """The distribution of the unknown, or those of its coordinates."""
    law = belief.posterior
    if np.ndim(law.mean) == 0:
        return [law]
    return [law.marginal(i) for i in range(len(law.mean))]


def part_names(belief: Any, n: int) -> list[str]:
    categories = getattr(belief, "categories", None)
    if categories is not None and len(categories) == n:
        return [f"probability of {c}" for c in categories]
    kind = type(belief).__name__
    single = {
        "BetaBernoulli": "probability of success",
        "GammaPoisson": "rate",
        "NormalMean": "mean",
        "NormalVariance": "variance",
    }
    if n == 1:
        return [single.get(kind, "parameter")]
    return ["mean", "variance"] if kind == "NormalInverseGamma" else [f"θ{i}" for i in range(n)]


def make_part(name: str, laws: list[Any], alone: bool) -> Part:
    """Densities on a grid that shows all stages, as far as the last can still be seen."""
    low = min(float(d.quantile(0.001 if k else 0.02)) for k, d in enumerate(laws))
    high = max(float(d.quantile(0.999 if k else 0.98)) for k, d in enumerate(laws))
    left, middle, right = (float(laws[-1].quantile(q)) for q in (0.001, 0.5, 0.999))
    wide = right - left
    low, high = max(low, middle - 8 * wide), min(high, middle + 8 * wide)  # heavy tails
    grid = np.linspace(low, high, POINTS)
    densities = np.array([d.density(grid) for d in laws], dtype=np.float64)
    likelihood = None
    if alone and len(laws) > 1:
        log = np.asarray(laws[-1].log_density(grid)) - np.asarray(laws[0].log_density(grid))
        value = np.where(np.isfinite(log), np.exp(log - log[np.isfinite(log)].max()), 0.0)
        likelihood = value / np.trapezoid(value, grid)
    return Part(name, grid, densities, likelihood)


def batches_of(data: Any, sizes: Any) -> list[Any]:
    """The observations cut where each stage ends."""
    values = list(data.to_list() if hasattr(data, "to_list") else np.asarray(data).tolist())
    n = len(values)
    if not n:
        raise ValueError("data must hold at least one observation, got none")
    stops = sorted({s for s in (1, 5, 25, 125) if s < n} | {n}) if sizes is None else list(sizes)
    if any(not 0 < s <= n for s in stops) or sorted(set(stops)) != stops:
        raise ValueError(f"at must rise between 1 and the {n} observations, got {sizes!r}")
    return [values[a:b] for a, b in zip([0, *stops], stops, strict=False)]


def posterior_update(prior: Any, data: Any, *, at: Any = None) -> PosteriorUpdate:
    """From prior to posterior, all at once and step by step.

    ``data``: observations in their order; ``at``: numbers of observations after which to draw,
    default: 1, 5, 25, 125 and all; ``prior``: belief of ``pellucid.inference``; BetaBernoulli,
    NormalMean, NormalVariance, NormalInverseGamma, GammaPoisson or DirichletCategorical (with its
    categories).

    Examples
    --------
    >>> from pellucid.inference import BetaBernoulli
    >>> from pellucid.plots import posterior_update
    >>> picture = posterior_update(BetaBernoulli(), [1, 0, 1, 1, 1, 0])
    >>> picture.seen, picture.beliefs[-1]
    ((0, 1, 5, 6), BetaBernoulli(alpha=5.0, beta=3.0))
    """
    if not hasattr(prior, "trace") or not hasattr(prior, "posterior"):
        raise TypeError(f"prior must be a belief (BetaBernoulli, ...), got {type(prior).__name__}")
    batches = batches_of(data, at)
    beliefs = prior.trace(batches).beliefs
    stages = [laws_of(belief) for belief in beliefs]
    n = len(stages[-1])
    if n > MOST_PARTS:
        raise ValueError(f"the picture shows up to {MOST_PARTS} unknowns, got {n}")
    names = part_names(beliefs[-1], n)
    parts = tuple(
        make_part(name, [laws[i] for laws in stages], n == 1) for i, name in enumerate(names)
    )
    seen = (0, *np.cumsum([len(batch) for batch in batches]).tolist())
    last = np.atleast_1d(stages[-1][0].mean if n == 1 else [law.mean for law in stages[-1]])
    said = ", ".join(f"{name} {v:.4g}" for name, v in zip(names, last, strict=True))
    alt = f"Prior and posterior after {', '.join(map(str, seen[1:]))} observations; means: {said}."
    ahead = tuple(belief.predictive() for belief in beliefs)
    return PosteriorUpdate(alt, parts, seen, tuple(beliefs), ahead)
