r"""The S-curve of locality-sensitive hashing: how likely two rows meet in at least one table.

P = 1 - (1 - p^b)^L with p the chance that one function agrees: 1 - arccos(s)/pi (cosine), s
(jaccard, hamming), and of the distance d with r = width / d
    euclidean   p = 2 Phi(r) - 1 - 2 / (sqrt(2 pi) r) (1 - exp(-r^2 / 2))
    manhattan   p = 2 arctan(r) / pi - log(1 + r^2) / (pi r)
"""

from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtr

from pellucid.core.arrays.typing import Array
from pellucid.neighbors.search.lsh import LSHIndex, collision_probability
from pellucid.plots.panels.marks import stroke
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend


class CollisionCurve(Panel):
    x: Array  # (m,)
    curves: Array  # (indexes, m)
    labels: tuple[str, ...]
    middles: tuple[float, ...]  # where the probability is 1/2
    family: str
    name: str  # of the axis

    def _draw(self, ax: Axes) -> None:
        for i, (label, curve) in enumerate(zip(self.labels, self.curves, strict=True)):
            ax.plot(self.x, curve, lw=2, label=label, **stroke(i))
            if np.isfinite(self.middles[i]):
                ax.plot(self.middles[i], 0.5, "D", color=colour(i), mec="black", ms=7, zorder=4)
        ax.axhline(0.5, color=GREY, ls=":", lw=1)
        ax.set(xlabel=self.name, ylabel="probability to share a bucket", ylim=(-0.02, 1.04))
        legend(ax)
        said = ", ".join(f"{m:.3g}" for m in self.middles)
        title = f"Rows become candidates at a {self.name.split(' of ')[0]} of about {said}"
        heading(ax, title, "diamonds: as likely as not")


def _one(family: str, d: Array, width: float) -> Array:
    """The chance that one function of a distance family agrees."""
    with np.errstate(divide="ignore", invalid="ignore"):
        r = width / d
        if family == "euclidean":
            p = 2 * ndtr(r) - 1 - 2 / (np.sqrt(2 * np.pi) * r) * (1 - np.exp(-(r**2) / 2))
        else:
            p = 2 * np.arctan(r) / np.pi - np.log1p(r**2) / (np.pi * r)
    return np.where(d == 0, 1.0, p)


def collision_curve(index: Any, *, n: int = 201) -> CollisionCurve:
    """The chance that two rows share a bucket against their similarity (or distance).

    ``index``: LSHIndex, or a list of them (of one family); indexes of distances (euclidean,
    manhattan) must be fitted or have a ``bucket_width``. ``n``: points of the curve.

    Examples
    --------
    >>> from pellucid.neighbors import LSHIndex
    >>> from pellucid.plots import collision_curve
    >>> picture = collision_curve(LSHIndex(5, 4, family="cosine"), n=5)
    >>> picture.x.tolist(), picture.curves.round(3).tolist()
    ([-1.0, -0.5, 0.0, 0.5, 1.0], [[0.0, 0.06, 0.276, 0.667, 1.0]])
    """
    indexes = list(index) if isinstance(index, list | tuple) else [index]
    if not indexes or not all(isinstance(i, LSHIndex) for i in indexes):
        raise ValueError(f"index must be an LSHIndex or a list of them, got {index!r}")
    families = {
        getattr(i, "_family", "euclidean" if i.family == "auto" else i.family) for i in indexes
    }
    if len(families) > 1:
        raise ValueError(f"the indexes must be of one family, got {' and '.join(sorted(families))}")
    family = families.pop()
    if family in ("euclidean", "manhattan"):
        widths = [getattr(i, "bucket_width_", i.bucket_width) for i in indexes]
        if None in widths:
            raise ValueError(f"the {family} curve needs a bucket_width: fit the index first")
        x = np.linspace(0, 2 * max(widths), n)
        ones = (_one(family, x, w) ** i.n_bits for i, w in zip(indexes, widths, strict=True))
        missed = zip(indexes, ones, strict=True)
        tables = [-np.expm1(i.n_tables * np.log1p(-np.minimum(p, 1 - 1e-16))) for i, p in missed]
        curves = np.array(tables)
        name = f"distance of two rows ({family})"
    else:
        x = np.linspace(-1 if family == "cosine" else 0, 1, n)
        chance = partial(collision_probability, family=family)
        curves = np.array([[chance(float(s), i.n_bits, i.n_tables) for s in x] for i in indexes])
        name = f"similarity of two rows ({family})"
    labels = tuple(f"{i.n_tables} tables of {i.n_bits} functions" for i in indexes)
    middles = tuple(_middle(x, curve) for curve in curves)
    said = "; ".join(f"{label}: 1/2 at {m:.3g}" for label, m in zip(labels, middles, strict=True))
    alt = f"Probability that two rows share a bucket against the {name}. {said}."
    return CollisionCurve(alt, x, curves, labels, middles, family, name)


def _middle(x: Array, curve: Array) -> float:
    """Where a monotone curve passes 1/2."""
    if curve[0] > curve[-1]:
        x, curve = x[::-1], curve[::-1]
    return float(np.interp(0.5, curve, x)) if curve[0] <= 0.5 <= curve[-1] else float("nan")
