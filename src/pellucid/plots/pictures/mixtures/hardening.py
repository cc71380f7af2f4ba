"""From a mixture to k-means: with covariances eps I and eps going to 0, rows belong to one centre.

r_ik ~ pi_k exp(-|x_i - mu_k|^2 / (2 eps)): the nearest centre takes all, whatever the weights.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike, Model
from pellucid.mixture.gaussian.gaussian_mixture import GaussianMixture
from pellucid.plots.panels.inputs import read_table
from pellucid.plots.panels.marks import thinned
from pellucid.plots.panels.mixtures import is_mixture
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend

MOST_ROWS = 200


class Hardening(Panel):
    eps: Array  # (m,) falling
    largest: Array  # (m, n) of every row
    mean: Array  # (m,)
    nearest: Array  # (m,) share of rows whose component is the nearest centre

    def _draw(self, ax: Axes) -> None:
        few = thinned(self.largest.shape[1], MOST_ROWS)
        ax.plot(self.eps, self.largest[:, few], color=GREY, lw=0.5, alpha=0.35, zorder=1)
        x, y, tint = self.eps, self.mean, colour(0)
        ax.plot(
            x, y, "-o", color=tint, lw=2, ms=4, label="largest responsibility, mean of the rows"
        )
        x, y, tint = self.eps, self.nearest, colour(1)
        ax.plot(
            x, y, "--s", color=tint, lw=1.6, ms=4, label="share of rows with the nearest centre"
        )
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.set(xlabel="variance eps of every component (falling)", ylabel="share", ylim=(0, 1.04))
        heading(ax, self.title)
        legend(ax, loc="lower right")


def hardening(E: Model, X: ArrayLike, eps: Any = None) -> Hardening:
    """Responsibilities become the assignments of k-means as the covariances eps I shrink.

    ``X``: table. ``E``: fitted Gaussian mixture; its weights and means are kept, its covariances
    replaced by eps I. ``eps``: positive numbers; by default 25 from the squared spread of the rows
    downwards.

    Examples
    --------
    >>> from pellucid import GaussianMixture
    >>> from pellucid.plots import hardening
    >>> model = GaussianMixture.from_parameters([0.9, 0.1], [[0.0], [4.0]], [1.0, 1.0],
    ...                                         covariance_type="spherical")
    >>> picture = hardening(model, [[0.0], [2.5], [4.0]], eps=[100.0, 1.0, 0.01])
    >>> picture.nearest.round(3), picture.mean.round(3)
    (array([0.333, 0.667, 1.   ]), array([0.899, 0.849, 1.   ]))
    """
    if not hasattr(is_mixture(E), "means_"):
        raise ValueError(f"hardening needs a Gaussian mixture, got {type(E).__name__}")
    M = read_table(X, E).X
    spread = float(M.var(axis=0).sum()) or 1.0
    values = (
        spread * np.logspace(1, -5, 25)
        if eps is None
        else np.sort(np.asarray(eps, dtype=np.float64))[::-1]
    )
    if values.ndim != 1 or not len(values) or not (values > 0).all():
        raise ValueError(f"eps must hold positive numbers, got {eps!r}")
    d = ((M[:, None] - E.means_) ** 2).sum(axis=2)
    near, largest, share = d.argmin(axis=1), [], []
    for e in values:
        model = GaussianMixture.from_parameters(
            E.weights_, E.means_, e, covariance_type="tied_spherical"
        )
        R = model.predict_proba(M)
        largest.append(R.max(axis=1))
        share.append(float((R.argmax(axis=1) == near).mean()))
    top = np.array(largest)
    title = (
        f"As eps falls to {values[-1]:.2g}, {share[-1]:.0%} of the rows belong to the nearest "
        "centre alone: k-means"
    )
    alt = (
        f"Largest responsibility of {len(M)} rows against the variance: {top[0].mean():.2f} in the "
        f"mean at {values[0]:.3g}, {top[-1].mean():.2f} at {values[-1]:.3g}."
    )
    return Hardening(alt, values, top, top.mean(axis=1), np.array(share), title=title)
