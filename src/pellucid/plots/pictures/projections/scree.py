"""The spectrum of a projection: eigenvalues, the share they explain together, and what is left."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Model
from pellucid.plots.panels.inputs import label_of, last_step
from pellucid.plots.panels.style import GREY, LIGHT, Picture, colour, heading, panels

MOST_BARS = 30  # with an interval each


class Scree(Picture):
    """Eigenvalues from the largest on; the leading part where the fit knows no more."""

    eigenvalues: Array  # (m,)
    intervals: Array | None  # (m, 2)
    total: float  # of the whole spectrum, or of what the fit found
    cumulative: Array  # (m,) share of the first 1, 2, ...
    residual: Array  # (m + 1,) variance left after 0, 1, ... directions
    n_components: int
    word: str  # eigenvalue, or variance of the scores
    whole: str  # what the shares are shares of

    def plot(self) -> Any:
        """Three panels; the figure."""
        grid = panels(3, columns=3, size=(3.7, 3.4))
        m, d = len(self.eigenvalues), self.n_components
        place = np.arange(1, m + 1)
        tints = [colour(0) if k <= d else LIGHT for k in place]
        error = None
        if self.intervals is not None:
            error = np.abs(self.intervals - self.eigenvalues[:, None]).T
        if m <= MOST_BARS:
            grid[0].bar(place, self.eigenvalues, color=tints, yerr=error, ecolor=GREY, capsize=2)
        else:
            grid[0].bar(place, self.eigenvalues, color=tints, width=1.0)
            if self.intervals is not None:
                grid[0].fill_between(place, *self.intervals.T, color=GREY, alpha=0.35, lw=0)
        grid[0].set_ylabel(self.word)
        heading(grid[0], f"{self.word}s, {d} kept (blue)")
        grid[1].plot(place, self.cumulative, "-o", color=colour(0), ms=4)
        grid[1].set(ylabel=f"share of {self.whole}", ylim=(0, 1.03))
        heading(grid[1], f"together: {self.cumulative[d - 1] if d else 0.0:.1%} at {d}")
        floor = max(self.total, 1e-300) * 1e-12  # exact zeros cannot stand on a log scale
        left = self.residual > floor
        grid[2].plot(np.arange(m + 1)[left], self.residual[left], "-s", color=colour(1), ms=4)
        grid[2].set_yscale("log")
        grid[2].set_ylabel("variance left (log)")
        heading(grid[2], "residual spectrum")
        for ax in grid:
            ax.axvline(d + (0.5 if ax is grid[0] else 0), color="black", ls="--", lw=1)
            ax.xaxis.get_major_locator().set_params(integer=True)
            ax.set_xlabel("number of directions")
        grid[0].set_xlabel("direction")
        grid[0].figure.suptitle(self.title, fontsize="medium", wrap=True)
        return grid[0].figure


def scree(E: Model) -> Scree:
    """Eigenvalues with intervals, cumulative share and residual spectrum.

    ``E``: fitted PCA, ProbabilisticPCA, TruncatedSVD or KernelPCA, or a Pipeline that ends with
    one.

    Examples
    --------
    >>> from pellucid import PCA
    >>> from pellucid.plots import scree
    >>> picture = scree(PCA(1, ddof=0).fit([[2.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, -1.0]]))
    >>> picture.eigenvalues.round(6), picture.cumulative.round(6), picture.residual.round(6)
    (array([4., 1.]), array([0.8, 1. ]), array([5., 1., 0.]))
    """
    model = last_step(E)
    values = getattr(model, "eigenvalues_", getattr(model, "explained_variance_", None))
    if values is None:
        raise ValueError(f"{type(model).__name__} has no eigenvalues_ or explained_variance_")
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{type(model).__name__} has no spectrum to draw")
    d = int(getattr(model, "n_components_", len(getattr(model, "explained_variance_", values))))
    d = min(d, len(values))
    word = "eigenvalue" if hasattr(model, "eigenvalues_") else "score variance"
    total, whole = float(values.sum()), "the variance"
    share = getattr(model, "explained_variance_ratio_", None)
    if share is not None and len(share) and float(np.sum(share)) > 0:
        total = float(np.sum(model.explained_variance_) / np.sum(share))
    elif len(values) <= d:
        whole = "what the fit found"  # the rest of the spectrum is not known
    running = np.cumsum(values)
    cumulative = running / total if total > 0 else np.zeros(len(values))
    residual = np.maximum(total - np.concatenate([[0.0], running]), 0.0)
    intervals = None
    if hasattr(model, "eigenvalue_intervals"):
        intervals = np.asarray(model.eigenvalue_intervals(), dtype=np.float64)
        intervals = intervals if len(intervals) == len(values) else None
    at = cumulative[d - 1] if d else 0.0
    title = f"{label_of(E)}: {d} of {len(values)} directions make up {at:.1%} of {whole}"
    alt = (
        f"The {word}s of {len(values)} directions from {values[0]:.4g} to {values[-1]:.4g}, their "
        f"cumulative share and what is left: {d} directions make up {at:.1%} of {whole}."
    )
    return Scree(alt, values, intervals, total, cumulative, residual, d, word, whole, title=title)
