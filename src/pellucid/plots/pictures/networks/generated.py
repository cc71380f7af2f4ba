"""Real rows beside generated ones: in one plane, as images, or as histograms of one column."""

from inspect import signature
from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Model, Seed
from pellucid.plots.panels.inputs import label_of, read_table
from pellucid.plots.panels.marks import margin, thinned
from pellucid.plots.panels.style import Picture, colour, heading, new_figure, panels

COLUMNS = 6


class Generated(Picture):
    real: Array  # (n, 2), (n, 1) or (n, h, w)
    made: Array  # the same
    names: tuple[str, ...]  # of the axes; empty for images

    def plot(self) -> Any:
        """Two panels with the same limits; the figure."""
        if self.real.ndim == 3:
            return self._images()
        if self.real.shape[1] == 1:
            return self._histograms()
        grid = panels(2, columns=2, size=(4.2, 4.0))
        both = np.concatenate([self.real, self.made])
        drawn = ((self.real, "real rows"), (self.made, "generated"))
        for i, (ax, (rows, what)) in enumerate(zip(grid, drawn, strict=True)):
            ax.scatter(*rows.T, s=9, color=colour(i), marker="os"[i], alpha=0.5, linewidths=0)
            xlim, ylim, xlabel = margin(both[:, 0]), margin(both[:, 1]), self.names[0]
            ax.set(xlim=xlim, ylim=ylim, xlabel=xlabel, ylabel=self.names[1] if i == 0 else "")
            heading(ax, f"{len(rows)} {what}", width=48)
        grid[0].figure.suptitle(self.note, fontsize="medium", wrap=True)
        return grid[0].figure

    def _histograms(self) -> Any:
        ax = panels(1, size=(6.0, 4.0))[0]
        edges = np.histogram_bin_edges(np.concatenate([self.real, self.made]).ravel(), 30)
        ax.hist(self.real[:, 0], edges, density=True, color=colour(0), alpha=0.35, label="real")
        x = self.made[:, 0]
        ax.hist(x, edges, density=True, histtype="step", color=colour(1), lw=2, label="generated")
        ax.legend(loc="best", frameon=False)
        ax.set(xlabel=self.names[0], ylabel="density")
        heading(ax, self.note)
        return ax.figure

    def _images(self) -> Any:
        rows = -(-len(self.real) // COLUMNS)
        figure = new_figure((1.9 * COLUMNS, rows + 1.1))
        low, high = float(self.real.min()), float(self.real.max())
        halves: Any = figure.subfigures(1, 2)
        for part, images, what in zip(
            halves, (self.real, self.made), ("real", "generated"), strict=True
        ):
            part.suptitle(what, fontsize="medium")
            for i, image in enumerate(images):
                ax = part.add_subplot(rows, COLUMNS, i + 1)
                ax.imshow(image, cmap="gray_r", vmin=low, vmax=high, interpolation="nearest")
                ax.set_xticks([])
                ax.set_yticks([])
        figure.suptitle(self.note, fontsize="medium", wrap=True)
        return figure


def generated(
    E: Model, X: ArrayLike, shape: Any = None, *, n: int = 500, random_state: Seed = 0
) -> Generated:
    """Samples of a generative model against the data.

    ``E``: fitted GenerativeAdversarialNetwork, GaussianMixture, ... with ``sample(n)``.

    Parameters
    ----------
    X : table of real rows
        More than two columns: the plane of its first two principal axes.
    shape : (height, width), optional
        Rows are images; 24 of each are drawn.
    n : int, default=500
        Rows of each that are drawn.
    random_state : None, int, RandomState or Generator, default=0
        Where the model's ``sample`` takes one.

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import GaussianMixture
    >>> from pellucid.plots import generated
    >>> X = np.random.default_rng(0).normal(size=(100, 2))
    >>> picture = generated(GaussianMixture(random_state=0).fit(X), X, n=50)
    >>> picture.real.shape, picture.made.shape, picture.names
    ((50, 2), (50, 2), ('x0', 'x1'))
    """
    check.whole(n=n)
    if not hasattr(E, "sample"):
        raise ValueError(f"{label_of(E)} cannot draw rows: it has no sample")
    table = read_table(X, E)
    size = () if shape is None else tuple(int(s) for s in shape)
    if size and (len(size) != 2 or int(np.prod(size)) != table.X.shape[1]):
        raise ValueError(f"rows of {table.X.shape[1]} numbers are no images of shape {size}")
    count = min(n, len(table.X), 4 * COLUMNS if size else n)
    made = _drawn(E, count, random_state)
    if made.shape[1] != table.X.shape[1]:
        raise ValueError(f"the model draws {made.shape[1]} columns, X has {table.X.shape[1]}")
    real = table.X[thinned(len(table.X), count)]
    wide = _spread(made, table.X)
    note = f"{label_of(E)}: samples spread {wide:.0%} as wide as the data"
    names: tuple[str, ...] = table.names[:2]
    if size:
        real, made, names = real.reshape(-1, *size), made.reshape(-1, *size), ()
    elif table.X.shape[1] > 2:
        centre = table.X.mean(axis=0)
        axes = np.linalg.svd(table.X - centre, full_matrices=False)[2][:2].T
        axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])
        real, made = (real - centre) @ axes, (made - centre) @ axes
        names = ("first axis of the data", "second axis")
    alt = f"{len(real)} real rows beside {len(made)} generated ones; {note}."
    return Generated(alt, real, made, names, note=note)


def _spread(made: Array, real: Array) -> float:
    """Mean standard deviation of the columns, in units of the data's."""
    spread = real.std(axis=0)
    varies = spread > 0
    return float((made.std(axis=0)[varies] / spread[varies]).mean()) if varies.any() else 1.0


def _drawn(E: Model, n: int, random_state: Seed) -> Array:
    """Rows of a model; scikit-learn's mixtures answer (rows, components) and take no seed."""
    takes = "random_state" in signature(E.sample).parameters
    found = E.sample(n, random_state=random_state) if takes else E.sample(n)
    found = found[0] if isinstance(found, tuple) else found
    return np.asarray(found, dtype=np.float64).reshape(n, -1)
