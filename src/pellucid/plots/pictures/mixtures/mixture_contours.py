"""A Gaussian mixture in the plane: ellipses of the components, rows coloured by responsibility."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, Columns, Model
from pellucid.plots.panels.drawing import ellipse
from pellucid.plots.panels.groups import draw_centers, plane_of, style_of
from pellucid.plots.panels.inputs import label_of, read_table
from pellucid.plots.panels.marks import isolines, thinned, words
from pellucid.plots.panels.mixtures import blend, covariances_of, projected, rows_for
from pellucid.plots.panels.planes import grid_of, view_of
from pellucid.plots.panels.style import Picture, axes, colour, heading, legend

RADII = (1.0, 2.0)  # standard deviations


class MixtureContours(Picture):
    """Ellipses in the plane drawn (of the marginal, where there are more columns)."""

    at: Array  # (n, 2)
    responsibilities: Array  # (n, k) of the whole rows
    weights: Array  # (k,)
    means: Array  # (k, 2)
    covariances: Array  # (k, 2, 2)
    lines: tuple[Array, ...]
    density: Array  # (gy, gx) of the plane
    names: tuple[str, ...]
    true_means: Array | None = None  # (j, 2) of the mixture that the rows came from
    true_covariances: Array | None = None

    def plot(self, ax: Any = None) -> Any:
        given = ax is not None
        ax = axes(ax, figsize=(6.4, 4.8))
        peak = float(self.density.max())
        levels = peak * np.exp(-np.linspace(6, 0.3, 7))  # equal steps of the log density
        isolines(ax, *self.lines, self.density, levels=levels, tint="#D1D5DB", lw=0.8, zorder=1)
        hard = self.responsibilities.argmax(axis=1)
        for k in range(len(self.weights)):
            mine = hard == k
            rim = {"marker": style_of(k)["marker"], "edgecolors": "white", "lw": 0.3}
            ax.scatter(
                *self.at[mine].T, s=22, c=blend(self.responsibilities[mine]), zorder=3, **rim
            )
            for radius in RADII:
                curve = ellipse(self.means[k], self.covariances[k], radius)
                ax.plot(*curve.T, color=colour(k), lw=2.2 if radius == 1 else 1.2, zorder=4)
        for k in range(len(self.weights)):
            text = f"component {k}" + ("" if given else f", weight {self.weights[k]:.2f}")
            ax.plot([], [], color=colour(k), marker=style_of(k)["marker"], lw=2, label=text)
        draw_centers(ax, self.means, "_nolegend_")
        if self.true_means is not None and self.true_covariances is not None:
            for k, (mean, S) in enumerate(zip(self.true_means, self.true_covariances, strict=True)):
                label = "truth" if k == 0 else None
                ax.plot(
                    *ellipse(mean, S, 1.0).T, color="black", ls="--", lw=1.3, zorder=7, label=label
                )
                ax.plot(*mean, "+", color="black", ms=9, mew=1.6, zorder=7)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set_xlim(self.lines[0][[0, -1]])
        ax.set_ylim(self.lines[1][[0, -1]])
        heading(ax, self.title, self.note)
        if not given and len(self.weights) <= 10:
            legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
        return ax


def mixture_contours(
    E: Model, X: ArrayLike, *, columns: Columns | None = None, truth: Any = None
) -> MixtureContours:
    """Ellipses at one and two standard deviations, rows in blended colours of the components.

    ``E``: fitted GaussianMixture or GradientGaussianMixture; ``X``: table of two columns or more.

    Parameters
    ----------
    columns : two names or positions, optional
        Of several; the first two principal axes by default. The ellipses are then those of the
        marginal in that plane; the colours are the responsibilities of the whole rows.
    truth : Gaussian mixture, optional
        The one that the rows came from: its ellipses at one standard deviation, dashed.

    Examples
    --------
    >>> from pellucid import GaussianMixture
    >>> from pellucid.plots import mixture_contours
    >>> model = GaussianMixture.from_parameters([0.5, 0.5], [[0.0, 0.0], [4.0, 0.0]], [1.0, 1.0],
    ...                                         covariance_type="spherical")
    >>> picture = mixture_contours(model, [[0.0, 0.0], [2.0, 1.0]])
    >>> picture.responsibilities[1], picture.covariances[0]
    (array([0.5, 0.5]), array([[1., 0.],
           [0., 1.]]))
    """
    covariances_of(E)
    table = read_table(X, E)
    view = view_of(table.X, table.names, columns)
    if len(view.names) != 2:
        raise ValueError("mixture_contours needs two columns; for one use mixture_density")
    plane = plane_of(view, table.X)
    model = projected(E, plane)
    R = np.asarray(E.predict_proba(rows_for(E, table)))
    lines, places, _ = grid_of(view.at, side=121, share=0.12)
    density = np.exp(model.score_samples(places)).reshape(len(lines[1]), len(lines[0]))
    kept, k = thinned(len(table.X)), len(model.weights_)
    unsure = float((R.max(axis=1) < 0.9).mean())
    title = f"{label_of(E)}: {k} components; {unsure:.0%} of the rows are shared (below 0.9)"
    note = view.note.replace("the others at their median", "marginal density")
    note = note.replace("at the median", "summed over")
    alt = (
        f"Ellipses of {k} normal components (weights "
        f"{words([f'{w:.2f}' for w in model.weights_])}) over {' and '.join(view.names)} with "
        f"{len(table.X)} rows, {unsure:.0%} of them shared between components."
    )
    true = None if truth is None else projected(truth, plane)
    weights, means, covariances = np.asarray(model.weights_), model.means_, model.covariances_
    parts = (view.at[kept], R[kept], weights, means, covariances, lines, density)
    truth_ = (None, None) if true is None else (true.means_, true.covariances_)
    return MixtureContours(alt, *parts, view.names, *truth_, title=title, note=note)
