"""The table of action values, the best action of every state marked."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.plots.panels.marks import write
from pellucid.plots.panels.style import Axes, Picture, axes, colour, heading
from pellucid.plots.panels.worlds import check_world, nothing_to_choose, number

WRITTEN = 40  # states up to which the numbers are written in


class QTable(Picture):
    q: Array  # (S, A); NaN: not available
    states: tuple[str, ...]
    actions: tuple[str, ...]
    best: IntArray  # (S,) lowest index on ties; -1: nothing to choose

    def plot(self, ax: Axes | None = None) -> Any:
        S, A = self.q.shape
        ax = axes(ax, figsize=(1.0 * A + 2.4, min(9.0, 0.33 * S + 1.3)))
        image = ax.imshow(self.q, cmap="Blues", aspect="auto", interpolation="nearest")
        ax.figure.colorbar(image, ax=ax, label="value of the action")
        ax.set_xticks(range(A), self.actions)
        few = S <= WRITTEN
        at = range(S) if few else np.linspace(0, S - 1, 11).astype(int)
        ax.set_yticks(at, [self.states[i] for i in at], fontsize="small")
        ax.set(xlabel="action", ylabel="state")
        ax.grid(False)
        self._best(ax, few)
        heading(ax, f"Action values; the best of each state {'framed' if few else 'dotted'}")
        return ax

    def _best(self, ax: Axes, few: bool) -> None:
        from matplotlib.patches import Rectangle

        rows = np.flatnonzero(self.best >= 0)
        if not few:
            ax.plot(self.best[rows], rows, ".", ms=2, color=colour(1))
            return
        low, high = np.nanmin(self.q), np.nanmax(self.q)
        for s in rows:
            corner = (self.best[s] - 0.48, s - 0.46)
            look: Any = {"ec": colour(1), "lw": 2.0, "zorder": 3}
            ax.add_patch(Rectangle(corner, 0.96, 0.92, fill=False, **look))
        for (s, a), v in np.ndenumerate(self.q):
            dark = np.isfinite(v) and v - low > 0.6 * (high - low)
            text, ink = number(v) if np.isfinite(v) else "–", "white" if dark else "black"
            write(ax, a, s, text, color=ink)


def q_table(Q: Any, mdp: Any = None) -> QTable:
    """Values of the actions in every state.

    Parameters
    ----------
    Q : array of shape (S, A), or fitted planner or agent with ``q_``
        ``-inf`` where an action is not available.
    mdp : MDP, optional
        For the names of states and actions, and to leave the ends of episodes unmarked.

    Examples
    --------
    >>> from pellucid.plots import q_table
    >>> q_table([[1.0, 2.0], [0.5, 0.0]]).best
    array([1, 0])
    """
    if hasattr(Q, "fit") and not hasattr(Q, "q_"):
        raise ValueError(f"{type(Q).__name__} has no table q_: fit it first, or give the table")
    q = np.array(getattr(Q, "q_", Q), dtype=np.float64)
    if q.ndim != 2 or not q.size:
        raise ValueError(f"Q must be a table (states, actions), got shape {q.shape}")
    q[~np.isfinite(q)] = np.nan
    if not np.isfinite(q).any():
        raise ValueError("Q must hold at least one finite number")
    S, A = q.shape
    states, actions = tuple(map(str, range(S))), tuple(map(str, range(A)))
    best = np.where(np.isnan(q), -np.inf, q).argmax(axis=1)
    best[np.isnan(q).all(axis=1)] = -1
    if mdp is not None:
        mdp = check_world(mdp)
        if (mdp.n_states, mdp.n_actions) != (S, A):
            there = f"{mdp.n_states} and {mdp.n_actions}"
            raise ValueError(f"Q has {S} states and {A} actions, the MDP {there}")
        states, actions = tuple(map(str, mdp.states)), tuple(map(str, mdp.actions))
        best[mdp.terminal | nothing_to_choose(mdp)] = -1
    top = np.unravel_index(int(np.nanargmax(q)), q.shape)
    alt = (
        f"Values of {A} actions in {S} states; the largest, {number(q[top])}, is action "
        f"{actions[top[1]]} in state {states[top[0]]}."
    )
    return QTable(alt, q, states, actions, best)
