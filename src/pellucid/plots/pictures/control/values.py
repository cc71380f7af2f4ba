"""Utilities of the states of a decision process, and what to do in each."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, IntArray
from pellucid.plots.panels import worlds
from pellucid.plots.panels.marks import arrow, beside, write
from pellucid.plots.panels.steps import Steps, chosen_steps
from pellucid.plots.panels.style import Axes, Picture, axes, colour, heading

WRITTEN = 150  # cells up to which the numbers are written in
BARS = 40


class Values(Picture):
    states: tuple[str, ...]
    values: Array  # (S,)
    actions: tuple[str, ...]  # chosen, "" = none
    cells: IntArray | None  # (S, 2) row, column; -1: not on the grid
    turns: Array | None  # (S, 2) where the action points; 0: nowhere
    terminal: tuple[bool, ...]
    limits: tuple[float, float]

    def plot(self, ax: Any = None) -> Any:
        return self._bars(ax) if self.cells is None else self._grid(ax)

    def _bars(self, ax: Any) -> Any:
        ax = axes(ax, figsize=(6.0, min(9.0, 1.3 + 0.36 * len(self.states))))
        at = np.arange(len(self.states))
        tints = [colour(6) if end else colour(0) for end in self.terminal]
        ax.barh(at, self.values, color=tints, height=0.65)
        found = zip(self.states, self.actions, self.terminal, strict=True)
        labels = [f"{s}: {a}" if a else s + " (end)" * end for s, a, end in found]
        ax.set_yticks(at, labels)
        ax.invert_yaxis()
        for i, v in enumerate(self.values):
            beside(ax, worlds.number(v), (max(v, 0.0), i), (4, 0), va="center")
        ax.margins(x=0.12)
        ax.set(xlabel="utility", ylabel="state: action" if any(self.actions) else "state")
        heading(ax, self.title)
        return ax

    def _grid(self, ax: Any) -> Any:
        assert self.cells is not None
        on = (self.cells >= 0).all(axis=1)
        rows, columns = self.cells[on].max(axis=0) + 1
        ax = axes(ax, figsize=(min(10.0, 1.1 * columns + 1.6), min(9.0, 1.0 * rows + 0.9)))
        picture = np.full((rows, columns), np.nan)
        picture[tuple(self.cells[on].T)] = self.values[on]
        low, high = self.limits
        ax.set_facecolor("#4B5563")
        image = ax.imshow(picture, cmap="Blues", vmin=low, vmax=high)
        ax.figure.colorbar(image, ax=ax, label="utility", shrink=0.8)
        written = int(on.sum()) <= WRITTEN
        for s in np.flatnonzero(on).tolist():
            self._cell(ax, s, written, (self.values[s] - low) > 0.6 * (high - low))
        ax.set_xticks(np.arange(columns + 1) - 0.5, [])
        ax.set_yticks(np.arange(rows + 1) - 0.5, [])
        ax.grid(True, color="white", linewidth=1.5)
        ax.set_axisbelow(False)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        heading(ax, self.title)
        return ax

    def _cell(self, ax: Axes, s: int, written: bool, dark: bool) -> None:
        assert self.cells is not None
        row, column = self.cells[s]
        ink = "white" if dark else "black"
        if self.terminal[s]:
            ax.add_patch(_frame(column, row))
        turn = (0.0, 0.0) if self.turns is None else self.turns[s]
        moves = bool(np.any(turn))
        if moves:
            x, y = column, row + (0.2 if written else 0.0)
            step = 0.2 if written else 0.32
            dx, dy = step * turn[0], -step * turn[1]
            arrow(ax, (x + dx, y + dy), (x - dx, y - dy), ink, 1.6, zorder=4)
        if written:
            text = worlds.number(self.values[s])
            if self.actions[s] and self.turns is None:
                text += f"\n{self.actions[s]}"
            write(ax, column, row - (0.2 if moves else 0.0), text, color=ink, zorder=4)


def _frame(column: int, row: int) -> Any:
    from matplotlib.patches import Rectangle

    look: Any = {"fill": False, "ec": colour(1), "lw": 2.2, "zorder": 3}
    return Rectangle((column - 0.42, row - 0.42), 0.84, 0.84, **look)


def values(
    mdp: Any,
    V: Any,
    policy: Any = None,
    *,
    shape: tuple[int, int] | None = None,
    directions: Any = None,
    steps: Sequence[Any] | None = None,
) -> Any:
    """Utilities and arrows of a policy; end states framed, walls dark.

    No arrow where there is nothing to choose: in ends, where all actions do the same
    thing, and with ``shape`` in cells that no walk from the start gets to.

    ``V``: array of shape (S,), or fitted planner or agent with ``values_``; ``policy``: array of
    shape (S,) or (S, A), default: ``policy_`` of a fitted V.

    Parameters
    ----------
    mdp : MDP
        States named (row, column), as those of ``grid_world``, are drawn as a grid.
    shape : (rows, columns), optional
        States count through the rows of a grid, such as FrozenLake's.
    directions : names of "up", "right", "down", "left", optional
        Where each action points, where the actions of the MDP are not named so.
    steps : True, int or positions, optional
        Panels of the sweeps kept in ``history_`` of a ValueIteration; no arrows then.

    Examples
    --------
    >>> from pellucid.reinforcement import ValueIteration, grid_world
    >>> from pellucid.plots import values
    >>> mdp = grid_world(["...+", ".#.-", "S..."])
    >>> picture = values(mdp, ValueIteration().fit(mdp))
    >>> picture.actions[:4], picture.values[:2].round(3)
    (('right', 'right', 'right', ''), array([0.812, 0.868]))
    """
    mdp = worlds.check_world(mdp)
    plan = worlds.plan_of(mdp, V, policy)
    if steps is None:
        return _record(mdp, plan, shape, directions, _limits(plan.values), "")
    history = getattr(V, "history_", None)
    if history is None or "values" not in history.columns:
        raise ValueError("steps= is for a fitted ValueIteration that keeps values in history_")
    rows = [history[i] for i in chosen_steps(steps, len(history))]
    limits = _limits(np.concatenate([row["values"] for row in rows]))
    titles = tuple(f"after sweep {row['step']}: change {row['change']:.2g}" for row in rows)
    pictures = tuple(
        _record(mdp, worlds.Plan(row["values"], None), shape, directions, limits, title)
        for row, title in zip(rows, titles, strict=True)
    )
    alt = f"Utilities after {len(rows)} sweeps: {'; '.join(titles)}."
    return Steps(alt, pictures, titles)


def _limits(V: Array) -> tuple[float, float]:
    low, high = float(V.min()), float(V.max())
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _record(
    mdp: Any, plan: worlds.Plan, shape: Any, directions: Any, limits: Any, title: str
) -> Values:
    cells, turns = worlds.cells_of(mdp, shape), worlds.turns_of(mdp, directions)
    if cells is None and mdp.n_states > BARS:
        raise ValueError(f"without shape= up to {BARS} states can be shown, got {mdp.n_states}")
    names = [str(a) for a in (mdp.actions if directions is None else directions)]
    chosen = [-1] * mdp.n_states if plan.policy is None else plan.policy.tolist()
    if shape is not None:  # a table of Gymnasium also has cells that nobody gets to
        chosen = np.where(worlds.met(mdp), chosen, -1).tolist()
    actions = tuple(names[a] if a >= 0 else "" for a in chosen)
    points = None
    if turns is not None:
        points = np.array([turns[a] if a >= 0 else (0, 0) for a in chosen], dtype=np.float64)
    best, worst = int(plan.values.argmax()), int(plan.values.argmin())
    alt = (
        f"Utilities of {mdp.n_states} states, from {worlds.number(plan.values[worst])} in "
        f"{mdp.states[worst]} to {worlds.number(plan.values[best])} in {mdp.states[best]}"
        + (", with the action chosen in each." if plan.policy is not None else ".")
    )
    said = title or ("Utilities and policy" if plan.policy is not None else "Utilities")
    states, terminal = tuple(map(str, mdp.states)), tuple(worlds.drawn_ends(mdp).tolist())
    return Values(
        alt, states, plan.values.copy(), actions, cells, points, terminal, limits, title=said
    )
