"""The grid worlds of the page on Markov decisions, and how they are drawn."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.lab.drawing import number
from pellucid.lab.scene import Mark, Panel, area, heat, line, plane, points, rule, segments, text
from pellucid.reinforcement.worlds.grid import ACTIONS, grid_world
from pellucid.reinforcement.worlds.mdp import MDP

LAYOUTS = {
    "4 x 3": ("...+", ".#.-", "S..."),
    "cliff": ("........", "........", "........", "S------+"),
    "two exits": ("...+", "oS.."),
}
WIDE = 5  # columns; cells of a wider world are hardly broader than the names of their states
EXITS = {"+": 1.0, "-": -1.0, "o": 0.2}
TURNS = ((0.0, 1.0), (1.0, 0.0), (0.0, -1.0), (-1.0, 0.0))  # on paper, of up, right, down, left


class World(NamedTuple):
    """A grid world with the place of every state on paper, (1, 1) at the lower left."""

    mdp: MDP
    layout: tuple[str, ...]
    x: Any
    y: Any
    code: str

    @property
    def box(self) -> tuple[float, float, float, float]:
        return (0.5, len(self.layout[0]) + 0.5, 0.5, len(self.layout) + 0.5)

    def name(self, s: int) -> str:
        """The state as ``grid_world`` names it: row and column from 0 at the top left."""
        row, column = self.mdp.states[s]
        return f"({row}, {column})"


def make_world(params: dict[str, Any]) -> World:
    layout = tuple(params["cells"].split("/")) if params["cells"] else LAYOUTS[params["world"]]
    drawn = "".join(layout)
    if not set(drawn) & set(EXITS) or drawn.count("S") != 1:
        raise ValueError("a world needs an exit (+, - or o) and one start S")
    settings = {key: params[key] for key in ("step_reward", "slip", "discount")}
    mdp = grid_world(layout, exits=EXITS, **settings)
    places = np.array(mdp.states)
    said = ", ".join(f"{key}={value!r}" for key, value in settings.items())
    code = (
        f"mdp = grid_world({list(layout)!r},\n                 {said},\n"
        f"                 exits={EXITS!r})"
    )
    return World(mdp, layout, places[:, 1] + 1.0, len(layout) - places[:, 0] + 0.0, code)


def walls(world: World) -> list[Mark]:
    """What never changes: borders of cells, walls, exits, the start."""
    left, right, bottom, top = world.box
    across, up = np.arange(left, right + 0.5), np.arange(bottom, top + 0.5)
    marks = [
        segments(across, np.full(len(across), bottom), across, np.full(len(across), top)),
        segments(np.full(len(up), left), up, np.full(len(up), right), up),
    ]
    rows = len(world.layout)
    for i, words in enumerate(world.layout):
        for j, sign in enumerate(words):
            if sign == "#":
                x, y = j + 1.0, rows - i + 0.0
                square = np.array([-0.5, 0.5, 0.5, -0.5]), np.array([-0.5, -0.5, 0.5, 0.5])
                marks.append(area(x + square[0], y + square[1], colour=None, opacity=0.55))
    return marks


def values_panel(
    world: World,
    U: Any,
    limit: float,
    *,
    policy: Any = None,
    walk: Any = None,
    focus: int = -1,
    label: str = "U(s)",
) -> Panel:
    """Shades and numbers of the values, arrows of the policy, the way of an episode."""
    mdp, x, y = world.mdp, world.x, world.y
    cells = np.zeros((len(world.layout), len(world.layout[0])))
    shown = np.asarray(U)
    cells[(y - 1).astype(int), (x - 1).astype(int)] = shown
    shades = heat(cells, world.box, low=-limit, high=limit, diverging=True, label=label)
    marks = [shades, *walls(world)]
    if walk is not None and len(walk) > 1:
        marks.append(line(x[walk], y[walk], colour="accent", width=2.0, label="this episode"))
        marks.append(points(x[walk[-1:]], y[walk[-1:]], group="accent", size=1.3))
    marks.append(text(x, y - 0.3, [number(v.round(3), 2) for v in shown]))
    names = [world.name(s) for s in range(mdp.n_states)]
    wide = len(world.layout[0]) > WIDE
    if wide:
        names = [name.replace(" ", "") for name in names]
    marks.append(text(x + (0.05 if wide else 0.28), y + 0.36, names, colour="quiet"))
    if policy is not None:
        go = ~mdp.terminal & (policy >= 0)  # -1: nothing is known that could choose
        dx, dy = (np.array([TURNS[a][i] for a in policy[go]]) for i in (0, 1))
        x0, y0 = x[go] - 0.17 * dx, y[go] + 0.14 - 0.17 * dy
        x1, y1 = x0 + 0.34 * dx, y0 + 0.34 * dy
        turn = segments(x0, y0, x1, y1, colour=None, width=1.5, arrow=True, label="policy")
        marks.append(turn)
    start = np.flatnonzero(mdp.start == 1)
    low = 0.05 if wide else 0.3
    marks.append(text(x[start] - 0.32, y[start] + low, ["S"] * len(start), colour="quiet"))
    if focus >= 0:
        look: dict[str, Any] = {"group": "warn", "ring": [True], "size": 0.7, "label": "this state"}
        marks.append(points(x[[focus]], y[[focus]] + 0.14, **look))
    return plane("world", marks, alt=values_in_words(world, shown, policy))


def values_in_words(world: World, values: np.ndarray, policy: Any) -> str:
    """Row, column, value and action of every cell, for those who cannot see the grid."""
    way = np.full(len(values), -1) if policy is None else np.asarray(policy)
    acts = ~world.mdp.terminal & (way >= 0)
    cells = [
        f"{world.name(s)} {number(v.round(3), 2)}{' ' + ACTIONS[way[s]] if acts[s] else ''}"
        for s, v in enumerate(values)
    ]
    return f"A grid world; row, column, value and action of every cell: {'; '.join(cells)}."


def values_frame(world: World) -> Panel:
    """The panel that the frames draw into."""
    title = "Values U(s) and policy"
    alt = "A grid world; every cell shows its value, arrows show the policy."
    return plane("world", [], title=title, box=world.box, equal=True, bare=True, alt=alt)


def curves_panel(title: str, curves: Any, ideal: Any, x: str) -> Panel:
    """Values of every state against the steps, as far as the run goes."""
    steps = np.arange(len(curves))
    marks = [line(steps, curves[:, s], colour="quiet", width=1.0) for s in range(curves.shape[1])]
    marks += [] if ideal is None else [rule(y=float(ideal), colour="accent", label="limit")]
    alt = "The value of every state after each step."
    return plane("curves", marks, title=title, x=x, y="U(s)", alt=alt)


def truth_panel(name: str) -> Panel:
    """Learned values against the true ones: static part."""
    title = "Learned against true values"
    alt = "One point per state; on the line the learned value is right."
    return plane("truth", [], title=title, x="true utility", y=name, alt=alt)


def truth_marks(truth: Any, learned: Any, seen: Any) -> Panel:
    low, high = float(min(truth.min(), learned.min())), float(max(truth.max(), learned.max()))
    ends = [low, high] if high > low else [low - 1, high + 1]
    label = "a state (open: not yet visited)"
    marks = [
        line(ends, ends, colour="quiet", dashed=True, width=1.0, label="as in truth"),
        points(truth, learned, group=0, faint=~seen, label=label),
    ]
    return plane("truth", marks)
