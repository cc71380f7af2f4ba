"""The objective of k-means after every half-step: an assignment, an update, an assignment, ..."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, BoolArray, Model
from pellucid.plots.panels.inputs import label_of, last_step
from pellucid.plots.panels.style import Panel, colour, heading, legend


class HalfSteps(Panel):
    rounds: Array  # (t,)
    after_assignment: Array  # (t,)
    after_update: Array  # (t,)
    reseeded: BoolArray  # (t,) an empty cluster took a far row
    falls: bool  # J never rises

    def _draw(self, ax: Any) -> None:
        t = np.column_stack([self.rounds - 0.5, self.rounds]).ravel()
        J = np.column_stack([self.after_assignment, self.after_update]).ravel()
        ax.plot(t, J, color="#9CA3AF", lw=1.2, zorder=1)
        x, y, tint = self.rounds - 0.5, self.after_assignment, colour(0)
        ax.plot(x, y, "o", color=tint, ms=6, label="after assignment: rows to the nearest centre")
        x, y = self.rounds, self.after_update
        ax.plot(x, y, "s", color=colour(1), ms=6, label="after update: centres to their rows")
        if self.reseeded.any():
            x, y = self.rounds[self.reseeded], self.after_update[self.reseeded]
            ax.plot(x, y, "o", ms=13, mfc="none", mec="black", label="an empty cluster was filled")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel="round", ylabel="J (sum of distances to the centres)")
        heading(ax, self.title)
        legend(ax)


def half_steps(E: Model) -> HalfSteps:
    """J of k-means after each half-step; neither half can raise it.

    ``E``: fitted KMeans, or a Pipeline that ends with it.

    Examples
    --------
    >>> from pellucid import KMeans
    >>> from pellucid.plots import half_steps
    >>> X = [[0.0], [1.0], [5.0], [6.0], [7.0]]
    >>> picture = half_steps(KMeans(2, init=[[0.0], [1.0]], stop="labels").fit(X))
    >>> picture.after_assignment[:2], picture.after_update[:2]
    (array([77.    ,  7.6875]), array([20.75,  2.5 ]))
    """
    model = last_step(E)
    history = getattr(model, "history_", None)
    if history is None or "after_assignment" not in history.columns:
        raise ValueError(f"half_steps is for KMeans, got {type(model).__name__}")
    halves = ("after_assignment", "after_update")
    a, b = (np.asarray(history[name], dtype=np.float64) for name in halves)
    J = np.column_stack([a, b]).ravel()
    falls = bool((np.diff(J) <= 1e-9 * np.abs(J[:-1])).all())
    said = "never rises" if falls else "rises here: centre and distance do not belong together"
    title = f"{label_of(E)}: J {said}"
    alt = (
        f"J of {len(a)} rounds of k-means: {J[0]:.4g} after the first assignment, {J[-1]:.4g} "
        f"after the last update; it {said}."
    )
    rounds = np.asarray(history["step"], dtype=np.float64)
    reseeded = np.asarray(history["reseeded"], dtype=np.float64) > 0
    return HalfSteps(alt, rounds, a, b, reseeded, falls, title=title)
