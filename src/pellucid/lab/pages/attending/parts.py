"""Letters that learn whom to look at: weights, questions and keys."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.lab.drawing import braced, number, short
from pellucid.lab.scene import Panel, bars, heat, plane, points, rule, segments, text
from pellucid.lab.trace import Frame
from pellucid.textbook.networks.attention import attention, backward

SHOWN = 36
SPEECH = ("A B C D E", "A B C A D", "A B C")


class State(NamedTuple):
    Q: Array  # (T, d)
    K: Array
    weights: Array  # (T, T)
    slope: float  # the largest of all weights'


class Lookup(NamedTuple):
    """The letters, what they ask for, and every step of learning."""

    letters: list[str]
    shift: int  # 0: itself, 1: the next one
    causal: bool
    target: Array  # (T, T)
    states: list[State]
    row: int  # the question that is followed: the worst at the end

    @classmethod
    def of(cls, params: dict[str, Any], seed: int) -> "Lookup":
        """Gradient descent with the textbook's slopes."""
        letters = params["letters"].split()
        E = np.array([[a == b for b in sorted(set(letters))] for a in letters], float)
        n, shift = len(E), int(params["task"] == "the next one")
        causal, rate = params["mask"] == "back only", params["rate"]
        V, target = np.eye(n), np.roll(np.eye(n), -shift, axis=0)
        rng = np.random.default_rng(seed)
        Wq, Wk = (params["start"] * rng.normal(size=(E.shape[1], params["d"])) for _ in range(2))
        states = []
        for _ in range(params["steps"] + 1):
            Q, K = E @ Wq, E @ Wk
            output, weights = attention(Q, K, V, causal)
            dQ, dK, _ = backward(Q, K, V, weights, (output - target) / n)
            dWq, dWk = E.T @ dQ, E.T @ dK
            largest = max(float(np.abs(dWq).max()), float(np.abs(dWk).max()))
            states.append(State(Q, K, weights, largest))
            Wq, Wk = Wq - rate * dWq, Wk - rate * dWk
        worst = ((states[-1].weights - target) ** 2).sum(axis=1).argmax()
        return cls(letters, shift, causal, target, states, int(worst))

    def name(self, i: int) -> str:
        """A letter, with its place where it stands twice."""
        twice = self.letters.count(self.letters[i]) > 1
        return f"{self.letters[i]}{i + 1}" if twice else self.letters[i]


def frames(lookup: Lookup) -> list[Frame]:
    last = len(lookup.states) - 1
    shown = np.unique(np.r_[0, np.geomspace(1, last, SHOWN).round()].astype(int))
    return [frame(lookup, int(k)) for k in shown]


def still(lookup: Lookup) -> list[Panel]:
    """The panels with the letters on their axes."""
    n = len(lookup.letters)
    title, alt = "Weights: a row looks at columns", "Who looks at whom, as a table of shades."
    names = [lookup.name(i) for i in range(n)]
    at = np.arange(n) + 1.0
    marks = [text(at, np.full(n, n + 0.75), names), text(np.full(n, 0.25), n + 1 - at, names)]
    box = (-0.1, n + 0.5, 0.5, n + 1.1)
    weights = plane("weights", marks, title=title, box=box, bare=True, equal=True, alt=alt)
    d = lookup.states[0].Q.shape[1]
    title = "Questions and keys" + (", first two numbers" if d > 2 else "")
    reach = 1.15 * max(float(np.abs(v[:, :2]).max()) for s in ends(lookup) for v in (s.Q, s.K))
    look: dict[str, Any] = {"box": (-reach, reach, -reach, reach), "equal": True}
    if d == 1:
        look = {"box": (-reach, reach, -1.0, 1.0), "equal": False}
    alt = "The key of every letter as a point, its question as an arrow."
    vectors = plane("vectors", [], title=title, x="first number", y="second", alt=alt, **look)
    alt = "The weight of the right letter for each question."
    right = plane("right", [], title="Weight on the right letter", alt=alt)
    return [weights, vectors, right]


def ends(lookup: Lookup) -> list[State]:
    return [lookup.states[0], lookup.states[len(lookup.states) // 2], lookup.states[-1]]


def frame(lookup: Lookup, k: int) -> Frame:
    """Weights, questions and keys after k steps."""
    Q, K, weights, slope = lookup.states[k]
    target, i = lookup.target, lookup.row
    n, d = Q.shape
    j = int(target[i].argmax())
    J = float(((weights - target) ** 2).sum(axis=1).mean()) / 2
    scores = Q @ K.T / d**0.5
    seen = np.arange(n) <= i if lookup.causal else np.ones(n, bool)
    begins = "start" if k == 0 else f"step {k}: W ← W − η ∇J"
    a, b = lookup.name(i), lookup.name(j)
    formula = f"{begins}; {a} looks for {b}: "
    if seen[j]:
        terms = " + ".join(f"{braced(q)}·{braced(x)}" for q, x in zip(Q[i], K[j], strict=True))
        high = float(scores[i][seen].max())  # as the softmax is computed, so that none is too large
        top, total = float(np.exp(scores[i, j] - high)), float(np.exp(scores[i][seen] - high).sum())
        formula += (
            f"s = q·k / √d = ({terms}) / {number(d**0.5)} = {number(scores[i, j])}; "
            f"w = exp(s − max) / (Σ exp(s − max)) = {number(top)} / {number(total)} = "
            f"{number(weights[i, j])}"
        )
    else:
        formula += "it stands ahead, where the mask hides it: w = exp(−∞) = 0"
    formula += f"; J = mean |o − t|² / 2 = {number(J)}"
    right = weights[np.arange(n), target.argmax(axis=1)]
    numbers: dict[str, Any] = {"step": k, "J": short(J), "questions": n}
    others = np.where(target > 0, -1.0, weights).max(axis=1)
    numbers["questions answered"] = int((right > others + 1e-9).sum())
    numbers["least right weight"] = short(float(right.min()))
    numbers[f"weight of {b} for {a}"] = short(float(weights[i, j]))
    numbers["largest slope"] = short(slope)
    numbers["largest weight"] = short(float(weights.max()))
    box = (0.5, n + 0.5, 0.5, n + 0.5)
    marks = [heat(weights[::-1], box, low=0.0, high=1.0), figures(weights)]
    up, ends_ = np.array([n - i + 0.5, n - i - 0.5]), np.full(2, n + 0.5)
    row = segments([0.5, 0.5], up, ends_, up, colour="warn", width=2.0)
    marks.append(row | {"label": f"question of {a}"})
    panels = [plane("weights", marks), vectors(lookup, Q, K), shares(lookup, right)]
    return Frame(k, J, slope, formula, numbers, {"panels": panels})


def figures(weights: Array) -> Any:
    n = len(weights)
    i, j = np.indices(weights.shape)
    said = [number(round(float(v), 2) + 0.0) for v in weights.ravel()]
    return text(j.ravel() + 1.0, n - i.ravel() + 0.0, said)


def vectors(lookup: Lookup, Q: Array, K: Array) -> Panel:
    """Keys as points, questions as arrows from the middle."""
    n, i = len(Q), lookup.row
    two = [np.c_[v, np.zeros(n)][:, :2] if v.shape[1] == 1 else v[:, :2] for v in (Q, K)]
    q, k = two
    zero = np.zeros(n)
    rest = np.arange(n) != i
    marks = [rule(x=0.0), rule(y=0.0)]
    tips = segments(zero[rest], zero[rest], *q[rest].T, colour="quiet", width=1.4, arrow=True)
    marks.append(tips | {"label": "questions q"})
    mine = segments([0.0], [0.0], *q[[i]].T, colour="warn", width=2.4, arrow=True)
    marks.append(mine | {"label": f"q of {lookup.name(i)}"})
    marks.append(points(*k.T, group="accent", size=1.3, label="keys k"))
    names = [lookup.name(j) for j in range(n)]
    marks.append(text(1.08 * k[:, 0], 1.08 * k[:, 1] + 0.02, names))
    return plane("vectors", marks)


def shares(lookup: Lookup, right: Array) -> Panel:
    at = np.arange(1, len(right) + 1)
    colours = ["warn" if i == lookup.row else "accent" for i in range(len(right))]
    marks = [bars(at, right, colour=colours, width=0.6, label="w")]
    marks.append(rule(y=1 / len(right), label="by chance"))
    names = ", ".join(f"{k} {lookup.name(k - 1)}" for k in at.tolist())
    box = (0.4, len(right) + 0.6, 0.0, 1.05)
    return plane("right", marks, x=names, y="w", box=box)
