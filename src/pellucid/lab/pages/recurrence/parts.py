"""Sequences that begin with a sign, and a network of one state that learns to keep it."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.lab.drawing import braced, number, short, sub
from pellucid.lab.scene import Panel, line, plane, points, rule
from pellucid.lab.trace import Frame
from pellucid.textbook.networks.recurrent_network import backward, recurrent_network

HALF, GOAL, SHOWN = 16, 0.8, 34  # sequences to learn from, as many to hold out; frames
LEAST = 1e-12  # slopes below are drawn here


class State(NamedTuple):
    u: float
    w: float
    b: float
    slope: float  # of w


class Memory(NamedTuple):
    """The sequences and the network after every step of descent."""

    x: Array  # (T, 2 HALF): the second half is held out
    sign: Array
    states: list[State]
    rate: float

    @classmethod
    def of(cls, params: dict[str, Any], seed: int) -> "Memory":
        """Gradient descent with the textbook's slopes through time."""
        rng = np.random.default_rng(seed)
        shape = (params["length"], HALF)
        x = np.hstack([params["noise"] * rng.normal(size=shape) for _ in range(2)])
        sign = np.where(np.arange(2 * HALF) % 2, 1.0, -1.0)
        x[0] = sign
        u, w, b, states = 0.5, params["start"], 0.0, []
        seen, goal, rate = x[:, :HALF], GOAL * sign[:HALF], params["rate"]
        for _ in range(params["steps"] + 1):
            h = side_by_side(seen, u, w, b)
            d = np.zeros_like(h)
            d[-1] = (h[-1] - goal) / HALF  # only the last state is asked for
            found = backward(seen, h, w * np.eye(HALF), d)
            du, dw, db = float(found.U.trace()), float(found.W.trace()), float(found.b.sum())
            states.append(State(u, w, b, dw))
            u, w, b = u - rate * du, w - rate * dw, b - rate * db
        return cls(x, sign, states, rate)

    def walks(self, k: int) -> Array:
        """(sequences, T) states after k steps of descent."""
        u, w, b, _ = self.states[k]
        return side_by_side(self.x, u, w, b).T


def side_by_side(x: Array, u: float, w: float, b: float) -> Array:
    """(T, sequences) states: one unit a sequence, with the same weights and nothing between."""
    n = x.shape[1]
    return recurrent_network(x, u * np.eye(n), w * np.eye(n), np.full(n, b))


def slopes(h: Array, w: float, error: float) -> Array:
    """dJ/dh_t of one sequence: what comes back from its end, times w (1 − h²) a step."""
    factors = w * (1 - h[1:] ** 2)
    return error * np.r_[np.cumprod(factors[::-1])[::-1], 1.0]


def frames(memory: Memory) -> list[Frame]:
    last = len(memory.states) - 1
    shown = np.unique(np.r_[0, np.geomspace(1, last, SHOWN).round()].astype(int))
    return [frame(memory, int(k)) for k in shown]


def still(memory: Memory) -> list[Panel]:
    """The panels that the frames draw into."""
    T = len(memory.x)
    alt = "The state of every sequence, step by step, by the sign that came first."
    box, title = (0.7, T + 0.3, -1.08, 1.08), "State h of every sequence (dashed: held out)"
    marks = [rule(y=GOAL, label="t"), rule(y=-GOAL)]
    walks = plane("states", marks, title=title, x="step t", y="h", box=box, alt=alt)
    title, alt = "What comes back to each step", "The size of the slope at every step."
    box = (0.7, T + 0.3, LEAST, 10.0)
    look: dict[str, Any] = {"x": "step t", "y": "|∂J/∂h|", "log_y": True}
    back = plane("slopes", [], title=title, box=box, alt=alt, **look)
    title, alt = "From one state to the next, x = 0", "The next state against the state."
    marks = [line([-1, 1], [-1, 1], colour="quiet", width=1.0, dashed=True, label="kept as it is")]
    look = {"x": "h", "y": "next h", "box": (-1.05, 1.05, -1.05, 1.05), "equal": True}
    return [walks, back, plane("next", marks, title=title, alt=alt, **look)]


def kept(w: float, b: float) -> Array:
    """States that stay what they are where nothing comes in, and draw others near."""
    h = np.linspace(-1, 1, 4001)
    gap = np.tanh(w * h + b) - h
    return h[:-1][(gap[:-1] > 0) & (gap[1:] <= 0)]  # the curve crosses from above


def frame(memory: Memory, k: int) -> Frame:
    """States, slopes and the map from state to state after k steps of descent."""
    u, w, b, slope = memory.states[k]
    h = memory.walks(k)
    goal = GOAL * memory.sign
    losses = (h[:, -1] - goal) ** 2 / 2
    J, held = float(losses[:HALF].mean()), float(losses[HALF:].mean())
    T, i = h.shape[1], 1  # the sequence that is followed began with a plus
    back = slopes(h[i], w, float(h[i, -1] - goal[i]))
    begins = "start"
    if k:
        old = memory.states[k - 1]
        begins = (
            f"step {k}: w ← {number(old.w)} − {number(memory.rate)} · {braced(old.slope)} = "
            f"{number(w)}"
        )
    x, before = float(memory.x[-1, i]), float(h[i, -2])
    factor = w * (1 - h[i, -1] ** 2)
    formula = (
        f"{begins}; h{sub(T)} = tanh(u x{sub(T)} + w h{sub(T - 1)} + b) = tanh({number(u)}·"
        f"{braced(x)} + {braced(w)}·{braced(before)} + {braced(b)}) = {number(h[i, -1])}; "
        f"back one step: · w (1 − h²) = {number(w)} · (1 − {number(abs(h[i, -1]))}²) = "
        f"{number(factor)}; back to the first: ∂J/∂h₁ = {number(back[0])}"
    )
    right = np.sign(h[HALF:, -1]) == memory.sign[HALF:]
    numbers: dict[str, Any] = {"step": k, "J": short(J), "w": short(w), "u": short(u)}
    numbers["right of the held-out"] = short(float(right.mean()))
    numbers["slope at the end"] = short(abs(float(back[-1])))
    numbers["slope at the first step"] = short(abs(float(back[0])))
    numbers["states it can keep"] = len(kept(w, b))
    panels = [walk_panel(memory, h, i), slope_panel(back), next_panel(w, b)]
    return Frame(k, J, abs(slope), formula, numbers, {"panels": panels}, held)


def walk_panel(memory: Memory, h: Array, i: int) -> Panel:
    """One line per sequence, broken between them."""
    t = np.arange(1.0, h.shape[1] + 1)
    marks = []
    for held in (False, True):
        for code, sign in enumerate((-1.0, 1.0)):
            rows = np.flatnonzero((memory.sign == sign) & ((np.arange(len(h)) >= HALF) == held))
            x = np.tile(np.r_[t, np.nan], len(rows))
            y = np.c_[h[rows], np.full(len(rows), np.nan)].ravel()
            label = "" if held else f"began with {'plus' if code else 'minus'}"
            marks.append(line(x, y, colour=code, width=0.9, dashed=held, label=label))
    marks.append(line(t, h[i], colour="warn", width=2.4, label="h of the followed one"))
    return plane("states", marks)


def slope_panel(back: Array) -> Panel:
    t, size = np.arange(1, len(back) + 1), np.maximum(np.abs(back), LEAST)
    label = "slope ∂J/∂h"
    return plane("slopes", [line(t, size), points(t, size, group="accent", size=0.8, label=label)])


def next_panel(w: float, b: float) -> Panel:
    h = np.linspace(-1, 1, 81)
    marks = [line(h, np.tanh(w * h + b), label="w h + b, bent")]
    stay = kept(w, b)
    if len(stay):
        marks.append(points(stay, stay, group="warn", ring=np.ones(len(stay), bool), label="keeps"))
    return plane("next", marks)
