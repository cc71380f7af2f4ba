"""Principal axes through the rows: the directions, the feet of the rows, and what is lost."""

from typing import Any

import numpy as np

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, Model
from pellucid.plots.panels.groups import plane_of
from pellucid.plots.panels.inputs import label_of, read_table
from pellucid.plots.panels.marks import VEIL, arrow, beside, thinned
from pellucid.plots.panels.planes import view_of
from pellucid.plots.panels.style import GREY, Panel, colour, heading, legend

MOST_SEGMENTS = 600
WIDE = 8.0  # spreads of two columns so different cannot share one scale


class PrincipalAxes(Panel, size=(6.2, 5.0)):
    at: Array  # (n, 2)
    feet: Array  # (n, 2) rows rebuilt from the first scores
    mean: Array  # (2,)
    arrows: Array  # (d, 2) one standard deviation along each direction
    residual: float  # mean squared distance of rows and feet, all columns
    share: float  # of the total variance that the feet keep
    equal: bool  # both axes have one scale
    names: tuple[str, ...]

    def _draw(self, ax: Any) -> None:
        from matplotlib.collections import LineCollection

        few = thinned(len(self.at), MOST_SEGMENTS)
        ends = np.stack([self.at[few], self.feet[few]], axis=1)
        ax.add_collection(
            LineCollection(
                list(ends), colors=colour(1), linewidths=0.8, alpha=0.6, zorder=2, label="residual"
            )
        )
        ax.scatter(*self.at.T, s=16, color=colour(0), linewidths=0, zorder=3, label="row")
        label = "foot: rebuilt from its score"
        ax.scatter(
            *self.feet.T, s=14, color="black", marker="x", linewidths=0.8, zorder=4, label=label
        )
        reach = 2.8 * self.arrows[0]
        ax.plot(*np.stack([self.mean - reach, self.mean + reach]).T, color=GREY, lw=1, zorder=1)
        for k, along in enumerate(self.arrows):
            at, tint = self.mean + along, colour(2 + k)
            arrow(ax, at, self.mean, tint, 2.4, zorder=6)
            box = VEIL | {"alpha": 0.7}
            beside(ax, f"axis {k}", at, (5, 5), color=tint, weight="bold", zorder=7, bbox=box)
        if self.equal:
            ax.set_aspect("equal", adjustable="datalim")
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        heading(ax, self.title, self.note)
        legend(ax, loc="best")


def principal_axes(
    E: Model, X: ArrayLike, *, n_components: int = 1, columns: Columns | None = None
) -> PrincipalAxes:
    """The best directions through the rows, with the segments from every row to its foot.

    ``X``: table of two columns or more.

    Parameters
    ----------
    E : fitted PCA, ProbabilisticPCA, or another with ``transform`` and ``inverse_transform``
        The feet of ProbabilisticPCA are shrunken towards the mean: its scores are posterior means.
    n_components : int, default=1
        How many of the scores the feet are rebuilt from.
    columns : two names or positions, optional
        Of several; the first two principal axes of X by default.

    Examples
    --------
    >>> from pellucid import PCA
    >>> from pellucid.plots import principal_axes
    >>> X = [[2.0, 0.0], [0.0, 2.0], [3.0, 3.0], [-1.0, -1.0]]
    >>> picture = principal_axes(PCA(2).fit(X), X)
    >>> picture.feet.round(6), round(picture.residual, 6), round(picture.share, 6)
    (array([[ 1.,  1.],
           [ 1.,  1.],
           [ 3.,  3.],
           [-1., -1.]]), 1.0, 0.8)
    """
    for name in ("transform", "inverse_transform"):
        if not hasattr(E, name):
            raise ValueError(f"principal_axes needs a model with {name}, got {type(E).__name__}")
    table = read_table(X, E)
    Z = np.asarray(E.transform(table.given), dtype=np.float64)
    check.whole(n_components=n_components)
    if n_components > Z.shape[1]:
        raise ValueError(f"n_components must be at most {Z.shape[1]}, got {n_components}")
    view = view_of(table.X, table.names, columns)
    if len(view.names) != 2:
        raise ValueError("principal_axes needs at least two columns, got one")
    plane = plane_of(view, table.X)
    kept_scores = np.where(np.arange(Z.shape[1]) < n_components, Z, 0.0)
    back = np.asarray(E.inverse_transform(kept_scores), dtype=np.float64)
    d = min(2, Z.shape[1])
    zero = np.asarray(E.inverse_transform(np.zeros((1, Z.shape[1]))), dtype=np.float64)
    ends = np.asarray(E.inverse_transform(np.diag(Z.std(axis=0))[:d]), dtype=np.float64)
    lost = float(((table.X - back) ** 2).sum(axis=1).mean())
    total = float(table.X.var(axis=0).sum())
    share = 1 - lost / total if total > 0 else 0.0
    spread = np.sort(view.at.std(axis=0))
    equal = bool(spread[1] <= WIDE * spread[0])
    note = view.note.replace(", the others at their median", "").replace("at the median", "hidden")
    if not equal:
        note = f"{note}; scales differ, right angles do not look so".removeprefix("; ")
    title = (
        f"{label_of(E)}: {n_components} direction{'s' if n_components > 1 else ''} "
        f"keep{'' if n_components > 1 else 's'} {share:.1%} of the variance"
    )
    alt = (
        f"{len(Z)} rows over {' and '.join(view.names)} with their feet on {n_components} "
        f"principal direction(s); mean squared residual {lost:.4g}, {share:.1%} of variance kept."
    )
    rows = thinned(len(Z))
    centre = plane.of(zero)
    at, feet, arrows = view.at[rows], plane.of(back)[rows], plane.of(ends) - centre
    names = view.names
    return PrincipalAxes(
        alt, at, feet, centre[0], arrows, lost, share, equal, names, title=title, note=note
    )
