"""Attention: five letters, each with a question and a key, learn to look at the right one.

The steps are those of ``pellucid.textbook``; a test holds its attention equal to that of
``pellucid.deep``, whose transformers do the same for many heads in PyTorch.
What breaks it: too few numbers in a key, a start that is too sure, equal keys, and a mask.
"""

from typing import Any

from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import number
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.attending import parts
from pellucid.lab.pages.attending.parts import SPEECH, Lookup
from pellucid.lab.trace import Trace

OBJECTIVE = "mean |o − t|² / 2, o the weights and t the letter that is asked for"
CODE = """import numpy as np
from pellucid.textbook.networks.attention import attention, backward

letters = {letters!r}
E = np.array([[a == b for b in sorted(set(letters))] for a in letters], float)
V, target = np.eye(len(E)), np.roll(np.eye(len(E)), -{shift}, axis=0)
rng = np.random.default_rng({seed})
Wq, Wk = ({start!r} * rng.normal(size=(E.shape[1], {d})) for _ in range(2))
for _ in range({steps}):
    Q, K = E @ Wq, E @ Wk
    output, weights = attention(Q, K, V, {causal})
    dQ, dK, _ = backward(Q, K, V, weights, (output - target) / len(E))
    Wq, Wk = Wq - {rate!r} * E.T @ dQ, Wk - {rate!r} * E.T @ dK
result, weights = attention(E @ Wq, E @ Wk, V, {causal})
objective = float(((result - target) ** 2).sum(axis=1).mean()) / 2
"""


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """Steps of descent on questions and keys; not all are shown."""
    lookup = Lookup.of(params, seed)
    frames = parts.frames(lookup)
    last = frames[-1].numbers
    said = {key: params[key] for key in ("start", "d", "steps", "rate")}
    said |= {"letters": lookup.letters, "shift": lookup.shift, "causal": lookup.causal}
    card = {
        "representation": "weights = softmax(QK′ / √d), output = weights V; Q = E W_q, K = E W_k",
        "evaluation": "mean |output − target|² / 2",
        "optimisation": f"gradient descent on W_q and W_k, η = {params['rate']:g}",
    }
    words = ("Where to look", OBJECTIVE, verdict(last), CODE.format(seed=seed, **said))
    shown = {"kind": "none", "panels": parts.still(lookup)}
    return Trace("attention", params, shown, card, tuple(frames), *words)


def verdict(last: dict[str, Any]) -> str:
    """A sentence for the end."""
    words = (
        f"{last['questions answered']} of {last['questions']} questions give the right letter the "
    )
    words += f"largest weight; the least such weight is {number(last['least right weight'])}"
    return words + f", J = {number(last['J'])}."


SUMMARY = "Every letter asks a question and offers a key; likeness decides who listens to whom."
CONTROLS = (
    choice("method", "Method", ("attention",)),
    choice("letters", "Letters", SPEECH),
    choice("task", "Each asks for", ("itself", "the next one")),
    choice("mask", "May look", ("everywhere", "back only")),
    counter("d", "Numbers in a question and a key", 2, 1, 4),
    slider("start", "Spread of the start", 0.5, 0.1, 8.0, 0.1),
    slider("rate", "Rate η", 3.0, 0.1, 10.0, 0.1),
    counter("steps", "Steps", 300, 10, 500, 10),
)
PRESETS = read_presets(
    """
Find yourself | Five letters, two numbers in a question and in a key. Each is to find its own key.
The next one | The same, but each asks for the letter after it, the last for the first.
! One number each | With one number, the largest key and the smallest drown all between.
! Too sure at the start | Long random vectors: the softmax is all or nothing, and its slope is 0.
! Two of a kind | A stands twice. Equal letters have equal keys: attention knows no places.
! No looking ahead | Each asks for the next letter, and may only look back.
""",
    given(),
    given(task="the next one"),
    given(d=1),
    given(start=6.0),
    given(letters="A B C A D"),
    given(task="the next one", mask="back only"),
)
PAGE = make_page("attending", "none", run, SUMMARY, CONTROLS, PRESETS)
