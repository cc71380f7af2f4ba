"""What Markov chains did: traces, running means and variances, and histograms by parameter."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Columns
from pellucid.inference.sampling.chains import RHAT_LIMIT
from pellucid.inference.sampling.diagnostics import (
    LEAST_DRAWS,
    check_draws,
    effective_sample_size,
    rhat,
)
from pellucid.linear.least_squares.summary import column_positions
from pellucid.plots.panels.inputs import given_names
from pellucid.plots.panels.marks import STYLES, words
from pellucid.plots.panels.style import Picture, colour, heading, panels

MOST = 5  # parameters drawn
PLACES = 1000  # draws of a trace at most, evenly


class Chains(Picture):
    """Draws of some parameters with their running moments."""

    draws: Array  # (chains, n, d)
    mean: Array  # (chains, n, d) of the draws so far
    variance: Array  # (chains, n, d) of the draws so far, divisor t
    rhat: Array  # (d,)
    ess: Array  # (d,)
    names: tuple[str, ...]

    def plot(self) -> Any:
        """A row per parameter: trace, running mean, running variance, histogram; the figure."""
        d = len(self.names)
        grid = panels(4 * d, columns=4, size=(3.3, 2.4))
        for j in range(d):
            self._row(grid[4 * j : 4 * j + 4], j)
        figure = grid[0].figure
        keys, texts = grid[0].get_legend_handles_labels()
        columns = min(len(keys), 8)
        figure.legend(keys, texts, loc="outside lower center", ncols=columns, frameon=False)
        if self.note:
            figure.suptitle(self.note, fontsize="medium", wrap=True)
        return figure

    def _row(self, row: Any, j: int) -> None:
        m, n, _ = self.draws.shape
        at = np.unique(np.linspace(0, n - 1, min(n, PLACES)).round().astype(int))
        skip = at[at >= min(4, n - 1)]  # the first moments of a few draws say nothing
        low, high = self.draws[:, :, j].min(), self.draws[:, :, j].max()
        edges = np.linspace(low, high, 31) if high > low else low + np.linspace(-0.5, 0.5, 3)
        for c in range(m):
            look = {"color": colour(c), "ls": STYLES[c // 8 % 4]}
            row[0].plot(
                at + 1, self.draws[c, at, j], lw=0.6, alpha=0.8, label=f"chain {c + 1}", **look
            )
            row[1].plot(skip + 1, self.mean[c, skip, j], lw=1.4, **look)
            row[2].plot(skip + 1, self.variance[c, skip, j], lw=1.4, **look)
            counts, _ = np.histogram(self.draws[c, :, j], bins=edges, density=True)
            row[3].stairs(counts, edges, color=colour(c), lw=1.2)
        every, _ = np.histogram(self.draws[:, :, j], bins=edges, density=True)
        row[3].stairs(every, edges, color="#6B7280", fill=True, alpha=0.25)
        known = np.isfinite(self.rhat[j])
        told = f"R-hat {self.rhat[j]:.3f}, {self.ess[j]:.0f} effective draws" if known else ""
        heading(row[0], self.names[j], told, width=44)
        for ax, text in zip(row[1:], ("mean so far", "variance so far", "histogram"), strict=True):
            heading(ax, text, width=40)
        for ax in row[:3]:
            ax.set_xlabel("draw")
        row[3].set_xlabel(self.names[j])


def draws_of(samples: Any, names: Any) -> tuple[Array, tuple[str, ...]]:
    """(chain, draw, d) and the names of the parameters."""
    if hasattr(samples, "draws_"):
        found = check_draws(samples.draws_)
        known = samples._names() if hasattr(samples, "_names") and names is None else names
        return found, given_names(known, found.shape[2])
    found = samples.draws if hasattr(samples, "draws") else samples
    if not hasattr(found, "__len__"):
        raise ValueError(
            "chains needs Chains, draws (chain, draw, d), or a fitted model with draws_, got "
            f"{type(samples).__name__}"
        )
    found = check_draws(found)
    return found, given_names(names, found.shape[2])


def chains(samples: Any, *, columns: Columns | None = None, names: Any = None) -> Chains:
    """Traces, running means and variances per chain, and histograms.

    ``names``: names of the parameters, optional; ``samples``: Chains, draws of shape (chain, draw)
    or (chain, draw, d), or a fitted model with ``draws_`` such as
    BayesianLogisticRegression(method="metropolis"); ``columns``: names or positions of up to five
    parameters; default: the first five.

    Examples
    --------
    >>> from pellucid.inference import metropolis_hastings
    >>> from pellucid.plots import chains
    >>> f = lambda x: -0.5 * float(x @ x)
    >>> picture = chains(metropolis_hastings(f, [0.0], n_draws=2000, random_state=0))
    >>> picture.draws.shape, bool((picture.mean[:, -1] == picture.draws.mean(axis=1)).all())
    ((4, 2000, 1), True)
    """
    x, labels = draws_of(samples, names)
    m, n, d = x.shape
    wanted = list(range(min(d, MOST))) if columns is None else column_positions(columns, labels)
    if len(wanted) > MOST:
        raise ValueError(f"columns must name at most {MOST} parameters, got {len(wanted)}")
    note = f"{len(wanted)} of {d} parameters" if len(wanted) < d else ""
    x, labels = x[:, :, wanted], tuple(labels[j] for j in wanted)
    t = np.arange(1, n + 1)[:, None]
    middle = x.mean(axis=1, keepdims=True)  # sums of squares about the mean lose no digits
    first, second = np.cumsum(x - middle, axis=1) / t, np.cumsum((x - middle) ** 2, axis=1) / t
    mean = middle + first
    mean[:, -1] = x.mean(axis=1)
    variance = np.maximum(second - first**2, 0.0)
    enough = n >= LEAST_DRAWS
    r = np.asarray(rhat(x, rank=True)) if enough else np.full(len(labels), np.nan)
    size = np.asarray(effective_sample_size(x, "bulk")) if enough else r
    said = words([f"{name} {v:.3f}" for name, v in zip(labels, r, strict=True)])
    verdict = "they agree" if (r <= RHAT_LIMIT).all() else "they do not agree"
    alt = f"{m} chains of {n} draws; R-hat {said}: {verdict}."
    return Chains(alt, x, mean, variance, r, size, labels, note=note)
