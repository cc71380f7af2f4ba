"""How probabilistic PCA makes a row: z, then W z + mu, then round noise; together a pancake."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, Columns, MaybeArray, Model
from pellucid.plots.panels.drawing import ellipse
from pellucid.plots.panels.groups import plane_of
from pellucid.plots.panels.inputs import label_of, model_names, read_table
from pellucid.plots.panels.marks import arrow, thinned
from pellucid.plots.panels.planes import view_of
from pellucid.plots.panels.style import Axes, Picture, colour, heading, panels

WIDE = 8.0  # ranges of two columns so different cannot share one scale
DRAWN = 400  # rows drawn from the model where none are given


class PpcaStory(Picture):
    z: Array  # (d,) the latent place followed
    mean: Array  # (2,)
    directions: Array  # (d, 2) columns of W
    place: Array  # (2,) W z + mu
    noise: Array  # (2, 2) covariance of x given z
    covariance: Array  # (2, 2) of x
    at: Array  # (n, 2) rows
    names: tuple[str, ...]

    def plot(self) -> Any:
        """Four panels; the figure."""
        grid = panels(4, columns=2, size=(4.3, 3.7))
        self._latent(grid[0])
        middle = (self.at.min(axis=0) + self.at.max(axis=0)) / 2
        half = 0.58 * np.maximum(np.ptp(self.at, axis=0), 1e-300)
        equal = half.max() <= WIDE * half.min()
        if equal:  # a round ball looks round
            half = np.maximum(half, half[::-1] * [1.2, 1 / 1.2])
        for ax in grid[1:]:
            self._lines(ax)
            ax.set_aspect("equal" if equal else "auto")
            ax.set(xlabel=self.names[0], ylabel=self.names[1])
            ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
            ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
        heading(grid[1], "2. W z + mu: a point of the line or plane through mu")
        for radius in (1.0, 2.0):
            grid[2].plot(*ellipse(self.place, self.noise, radius).T, color=colour(1), lw=1.5)
            grid[3].plot(*ellipse(self.mean, self.covariance, radius).T, color=colour(0), lw=2)
        heading(grid[2], "3. x given z: a round ball of noise (1 and 2 sd)")
        grid[3].scatter(*self.at.T, s=8, color="#6B7280", alpha=0.6, linewidths=0, zorder=1)
        heading(grid[3], "4. x: the balls along all z make a pancake N(mu, WW' + s2 I)")
        text = "\n".join(filter(None, (self.title, self.note)))
        grid[0].figure.suptitle(text, fontsize="medium")
        return grid[0].figure

    def _latent(self, ax: Axes) -> None:
        if len(self.z) == 1:
            z = np.linspace(-3.2, 3.2, 201)
            ax.plot(z, np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi), color=colour(2), lw=2)
            top = float(np.exp(-(self.z[0] ** 2) / 2) / np.sqrt(2 * np.pi))
            ax.plot([self.z[0]] * 2, [0, top], color=colour(1), lw=1.4, ls="--")
            ax.plot(self.z[0], 0, "o", color=colour(1), ms=9, clip_on=False)
            ax.set(xlabel="z", ylabel="density", ylim=(0, None))
        else:
            for radius in (1.0, 2.0):
                ax.plot(*ellipse(np.zeros(2), np.eye(2), radius).T, color=colour(2), lw=2)
            ax.plot(*self.z[:2], "o", color=colour(1), ms=9)
            ax.set_aspect("equal", adjustable="datalim")
            ax.set(xlabel="z0", ylabel="z1")
        shown = ", ".join(f"{v:.2g}" for v in self.z[:3]) + (", ..." if len(self.z) > 3 else "")
        heading(ax, f"1. draw z from N(0, I): here ({shown})")

    def _lines(self, ax: Any) -> None:
        for k, along in enumerate(self.directions[:2]):
            ends = np.stack([self.mean - 4 * along, self.mean + 4 * along])
            ax.plot(*ends.T, color=colour(2), lw=1.0, ls=("-", "--")[k], zorder=1)
            arrow(ax, self.mean + along, self.mean, colour(2), 2, zorder=5)
        ax.plot(*self.mean, "P", color="black", ms=8, zorder=6)
        ax.annotate("mu", self.mean, (6, -12), textcoords="offset points", fontsize="small")
        ax.plot(*self.place, "o", color=colour(1), ms=9, zorder=6)


def ppca_story(
    E: Model, X: MaybeArray = None, *, z: Any = None, columns: Columns | None = None
) -> PpcaStory:
    """The story of a row under probabilistic PCA in four panels.

    ``E``: fitted ProbabilisticPCA of two columns or more. ``X``: table; rows to show; 400 draws of
    the model by default. ``z``: numbers (d,); the latent place to follow; 1.2 along the first
    direction by default. ``columns``: two names or positions; of several; the first two principal
    axes of the rows by default.

    Examples
    --------
    >>> from pellucid import ProbabilisticPCA
    >>> from pellucid.plots import ppca_story
    >>> X = [[1.0, 2.0], [2.0, 3.5], [3.0, 4.0], [4.0, 6.5], [5.0, 7.0]]
    >>> model = ProbabilisticPCA(1).fit(X)
    >>> picture = ppca_story(model, X, z=[2.0])
    >>> bool(np.allclose(picture.place, model.mean_ + 2 * model.loadings_[:, 0]))
    True
    """
    names = model_names(E)
    if not hasattr(E, "posterior") or not hasattr(E, "noise_variance_"):
        raise ValueError(f"ppca_story is for ProbabilisticPCA, got {type(E).__name__}")
    W, mu = np.asarray(E.loadings_), np.asarray(E.mean_)
    M = np.asarray(E.sample(DRAWN, random_state=0)) if X is None else read_table(X, E).X
    if M.shape[1] != len(mu):
        raise ValueError(f"X must have the {len(mu)} columns of the fit, got {M.shape[1]}")
    d = W.shape[1]
    place = np.eye(d)[0] * 1.2 if z is None else np.asarray(z, dtype=np.float64).reshape(-1)
    if place.shape != (d,):
        raise ValueError(f"z must hold {d} numbers, got {place.size}")
    view = view_of(M, names, columns)
    if len(view.names) != 2:
        raise ValueError("ppca_story draws two columns: name two of them")
    plane = plane_of(view, M)
    B, s2 = plane.matrix, float(E.noise_variance_)
    note = view.note.replace(", the others at their median", "").replace("at the median", "hidden")
    title = f"{label_of(E)}: {d} of {len(mu)} directions, noise sd {np.sqrt(s2):.3g}"
    alt = (
        f"From z to x: {d} latent direction(s) of {len(mu)} columns, a ball of noise of standard "
        f"deviation {np.sqrt(s2):.3g} and the density of x over {' and '.join(view.names)}."
    )
    mean, shown_place = plane.of(mu[None])[0], plane.of((mu + W @ place)[None])[0]
    noise, covariance = s2 * B.T @ B, B.T @ np.asarray(E.covariance_) @ B
    at = view.at[thinned(len(M), 2000)]
    drawn = (place, mean, W.T @ B, shown_place, noise, covariance, at)
    return PpcaStory(alt, *drawn, view.names, title=title, note=note)
