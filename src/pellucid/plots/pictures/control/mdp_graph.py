"""A Markov decision process as a graph: states, actions, chances and rewards."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.plots.panels.graphs import draw_edge, draw_node, name_size, sheet
from pellucid.plots.panels.marks import write
from pellucid.plots.panels.style import GREY, LEAST, Axes, Picture, colour, heading
from pellucid.plots.panels.worlds import cells_of, check_world, number, turns_of
from pellucid.reinforcement.worlds.mdp import MDP

MOST_STATES, MOST_OUTCOMES = 14, 120
DOT = (0.2, 0.2)


class MdpGraph(Picture):
    """States on a ring; each action a dot from which its outcomes leave."""

    states: tuple[tuple[str, float, float, bool], ...]  # name, place, terminal
    rewards: tuple[float | None, ...]  # of being in a state; None: it depends on the action
    actions: tuple[tuple[int, str, float, float, float], ...]  # state, name, reward, place
    outcomes: tuple[tuple[int, int, float], ...]  # action dot, state, probability

    def plot(self, ax: Any = None) -> Any:
        place: dict[Any, Any] = {s: (x, y) for s, (_, x, y, _) in enumerate(self.states)}
        size: dict[Any, Any] = {s: name_size(row[0]) for s, row in enumerate(self.states)}
        for k, (_, _, _, x, y) in enumerate(self.actions):
            place["dot", k], size["dot", k] = (x, y), DOT
        ax, scale = sheet(ax, place, size, room=0.55)
        for k, (s, name, reward, x, y) in enumerate(self.actions):
            self._action(ax, place, size, k, scale)
            out = np.array([x, y]) - place[s]
            out = out / np.linalg.norm(out)
            side = np.array([-out[1], out[0]]) * 0.19
            said = f"{name}, {number(reward)}" if self.rewards[s] is None and reward else name
            ha = "right" if side[0] < -0.05 else "left" if side[0] > 0.05 else "center"
            at = (x + side[0], y + side[1] + 0.03)
            ax.text(
                *at,
                said,
                fontsize=max(LEAST, 8 * scale),
                color=colour(0),
                ha=ha,
                va="center",
                zorder=5,
            )
        for s, (name, _, _, end) in enumerate(self.states):
            worth = self.rewards[s]
            text = f"{name}\n{number(worth)}" if worth else name
            fill, lw, edge = ("#FFE4D6", 2.2, colour(1)) if end else ("white", 1.4, "black")
            wide = (size[s][0], max(size[s][1], 0.52))
            draw_node(ax, place[s], wide, text, scale=0.95 * scale, fill=fill, lw=lw, edge=edge)
        heading(ax, "States, actions (dots) and chances, with rewards", "orange: ends")
        return ax

    def _action(self, ax: Axes, place: Any, size: Any, k: int, scale: float) -> None:
        """A line from the state to the dot, and an arrow for each outcome."""
        s = self.actions[k][0]
        dot = ("dot", k)
        draw_edge(ax, (place[s], place[dot]), (size[s], DOT), style="-", colour=colour(0), lw=1.6)
        draw_node(ax, place[dot], DOT, "", fill=colour(0), edge=colour(0))
        for j, t, p in self.outcomes:
            if j != k:
                continue
            bend = 0.45 if t == s else 0.12
            ends = (place[dot], place[t])
            draw_edge(ax, ends, (DOT, size[t]), curve=bend, colour=GREY, lw=0.8 + 1.4 * p)
            a, b = np.array(place[dot]), np.array(place[t])
            normal = np.array([a[1] - b[1], b[0] - a[0]])
            at = (a + b) / 2 + 0.5 * bend * normal
            if p < 1:
                box = {"fc": "white", "ec": "none", "pad": 0.6}
                write(
                    ax,
                    at[0],
                    at[1],
                    f"{p:.3g}",
                    fontsize=max(LEAST, 7.5 * scale),
                    zorder=4,
                    bbox=box,
                )


def action_angles(wish: list[float], outward: float) -> list[float]:
    """Directions near the wishes, at least 45 degrees (or an even share) apart."""
    least = min(np.pi / 4, 2 * np.pi / max(len(wish), 1))
    relative = (np.array(wish) - outward) % (2 * np.pi)  # the ring is cut where it looks outwards
    order = np.argsort(relative, kind="stable")
    angles = relative[order]
    for _ in range(60):
        for i in range(1, len(angles)):
            gap = least - (angles[i] - angles[i - 1])
            if gap > 0:
                angles[i - 1] -= gap / 2
                angles[i] += gap / 2
    found = np.empty(len(wish))
    found[order] = angles + outward
    return found.tolist()


def places_of(mdp: MDP) -> tuple[Array, Array]:
    """Centres (S, 2) on the grid that the states are named by, else on a ring; and outwards."""
    cells = cells_of(mdp)
    if cells is None:
        S = mdp.n_states
        ring = np.pi - 2 * np.pi * np.arange(S) / S
        radius = max(1.5, 0.42 * S) if S > 1 else 0.0
        return radius * np.stack([np.cos(ring), np.sin(ring)], axis=1), ring
    at = np.stack([2.9 * cells[:, 1], -2.6 * cells[:, 0]], axis=1)
    x, y = (at - at.mean(axis=0)).T
    return at, np.arctan2(y, x)


def state_rewards(mdp: MDP) -> tuple[float | None, ...]:
    """The reward of a state where all its actions have the same, the value of an end."""
    found: list[float | None] = []
    for s in range(mdp.n_states):
        paid = mdp.rewards[s][np.isfinite(mdp.rewards[s])]
        same = mdp.terminal[s] or (len(paid) > 1 and np.ptp(paid) == 0)
        end = float(mdp.final_values[s])
        found.append((end if mdp.terminal[s] else float(paid[0])) if same else None)
    return tuple(found)


def mdp_graph(mdp: Any) -> MdpGraph:
    """The process drawn as a graph.

    ``mdp``: MDP of at most 14 states and 120 outcomes; larger grids: see ``values``.

    Examples
    --------
    >>> from pellucid.reinforcement import MDP
    >>> from pellucid.plots import mdp_graph
    >>> right = [[[0.2, 0.8, 0.0]], [[0.0, 0.2, 0.8]], [[0.0, 0.0, 1.0]]]
    >>> mdp_graph(MDP(right, [0.0, 0.0, 1.0], terminal=[2])).outcomes
    ((0, 0, 0.2), (0, 1, 0.8), (1, 1, 0.2), (1, 2, 0.8))
    """
    mdp = check_world(mdp)
    S, A, P = mdp.n_states, mdp.n_actions, mdp.transitions
    if S > MOST_STATES or P.nnz > MOST_OUTCOMES:
        most = f"{MOST_STATES} states and {MOST_OUTCOMES} outcomes"
        raise ValueError(f"the picture shows up to {most}, got {S} and {P.nnz}")
    at, ring = places_of(mdp)
    turns = None if cells_of(mdp) is None else turns_of(mdp)
    actions: list[Any] = []
    outcomes: list[Any] = []
    for s in np.flatnonzero(~mdp.terminal).tolist():
        rows = [(a, slice(*P.indptr[s * A + a : s * A + a + 2])) for a in range(A)]
        rows = [(a, some) for a, some in rows if some.stop > some.start]
        means = [P.data[some] @ at[P.indices[some]] - at[s] for _, some in rows]
        if turns is not None:
            means = [np.array(turns[a], dtype=np.float64) for a, _ in rows]
        wish = [
            float(np.arctan2(m[1], m[0])) if np.hypot(*m) > 1e-9 else float(ring[s]) for m in means
        ]
        for (a, some), angle in zip(rows, action_angles(wish, float(ring[s])), strict=True):
            x, y = at[s] + 0.82 * np.array([np.cos(angle), np.sin(angle)])
            k = len(actions)
            actions.append((s, str(mdp.actions[a]), float(mdp.rewards[s, a]), float(x), float(y)))
            found = zip(P.indices[some], P.data[some], strict=True)
            outcomes += [(k, int(t), float(p)) for t, p in found]
    ends = mdp.terminal.tolist()
    states = tuple((str(mdp.states[s]), *at[s].tolist(), ends[s]) for s in range(S))
    alt = (
        f"Decision process of {S} states, {int(mdp.terminal.sum())} of them ends, with "
        f"{len(actions)} actions in all and {len(outcomes)} outcomes."
    )
    return MdpGraph(alt, states, state_rewards(mdp), tuple(actions), tuple(outcomes))
