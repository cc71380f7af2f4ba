"""The multipliers of a support vector machine: which rows hold the boundary, and how hard."""

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray, Model
from pellucid.plots.panels.inputs import last_step
from pellucid.plots.panels.marks import spot
from pellucid.plots.panels.style import GREY, Axes, Panel, colour, heading, legend

LABELS = {
    "outside": "outside: plays no part",
    "on_margin": "on the gutter",
    "inside": "inside the margin",
    "misclassified": "on the wrong side",
    "inside_tube": "inside the tube: plays no part",
    "on_tube": "on the tube",
    "outside_tube": "outside the tube",
    "support": "support vector",
}
SHAPES = {"on_margin": "o", "inside": "s", "misclassified": "X", "on_tube": "o"}
SHAPES |= {"outside_tube": "X", "support": "o"}
MOST = 2000  # stems drawn: the largest


class Multipliers(Panel, size=(7.0, 3.8)):
    """Every row with its multiplier; of a regression with its sign."""

    rows: IntArray  # (s,) rows whose multiplier is not zero, in their order
    values: Array  # (s,)
    categories: tuple[str, ...]  # (s,)
    n_rows: int
    C: float  # the bound; inf for a hard margin

    def _draw(self, ax: Axes) -> None:
        kept = np.sort(np.argsort(-np.abs(self.values), kind="stable")[:MOST])
        ax.axhline(0, color="black", lw=0.8)
        ax.vlines(self.rows[kept], 0, self.values[kept], color=GREY, lw=1)
        for i, kind in enumerate(dict.fromkeys(self.categories)):
            mine = [j for j in kept if self.categories[j] == kind]
            x, y = self.rows[mine], self.values[mine]
            label = f"{LABELS.get(kind, kind)} ({len(mine)})"
            spot(ax, x, y, SHAPES.get(kind, "D"), colour(i), size=6, mew=0.5, label=label)
        if np.isfinite(self.C):
            for bound in {self.C, -self.C if (self.values < 0).any() else self.C}:
                ax.axhline(bound, color=colour(1), ls="--", lw=1.2)
            ax.plot([], [], color=colour(1), ls="--", lw=1.2, label=f"bound C = {self.C:g}")
        xlim = (-0.02 * self.n_rows - 0.5, 1.02 * self.n_rows - 0.5)
        ax.set(xlabel="row", ylabel="multiplier", xlim=xlim)
        legend(ax, loc="center left", bbox_to_anchor=(1.0, 0.5))
        heading(ax, f"{len(self.rows)} of {self.n_rows} rows are support vectors")


def multipliers(E: Model) -> Multipliers:
    """The multiplier of every training row as a stem.

    ``E``: fitted MaximumMarginClassifier, SVC of two classes, SVR and their like, or a Pipeline
    that ends in one.

    Examples
    --------
    >>> from pellucid import SVC
    >>> from pellucid.plots import multipliers
    >>> model = SVC(C=0.1, kernel="linear").fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> multipliers(model).values.round(6).tolist()
    [0.1, 0.1, 0.1, 0.1]
    """
    model = last_step(E)
    kinds = getattr(model, "categories_", None)
    if hasattr(model, "multipliers_"):
        every = np.asarray(model.multipliers_, dtype=np.float64)
        n = len(every)
    elif hasattr(model, "dual_coef_") and hasattr(model, "support_"):
        dual = model.dual_coef_
        dual = np.atleast_2d(dual.toarray() if hasattr(dual, "toarray") else dual)
        if len(dual) != 1:
            raise ValueError(f"multipliers shows machines of two classes, got {len(dual) + 1}")
        n = int(model.shape_fit_[0]) if hasattr(model, "shape_fit_") else dual.shape[1]
        every = np.zeros(n)
        values = dual[0] if dual.shape[1] == len(model.support_) else dual[0][model.support_]
        every[np.asarray(model.support_)] = values
    else:
        raise ValueError(f"multipliers needs a support vector machine, got {type(model).__name__}")
    small = 1e-9 * float(np.abs(every).max(initial=0.0))
    rows = np.flatnonzero(np.abs(every) > small)
    said = ("support",) * len(rows)
    if kinds is not None and len(kinds) == n:
        said = tuple(str(kinds[i]) for i in rows)
    C = float(getattr(model, "C", np.inf))
    top = f"{np.abs(every).max():.3g}" if n else "0"
    alt = (
        f"Multipliers of {type(model).__name__}: {len(rows)} of {n} rows are support vectors, the "
        f"largest multiplier is {top}" + (f", the bound {C:g}." if np.isfinite(C) else ".")
    )
    return Multipliers(alt, rows, every[rows], said, n, C)
