"""Recurrence: one number that is carried along a sequence has to remember how it began.

The passes forwards and back are those of ``pellucid.textbook``; a test holds them equal to the
cells of ``pellucid.deep``, which run many sequences at once in PyTorch.
What breaks it: slopes that die on their way back, and slopes that grow.
"""

from typing import Any

from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import number
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.recurrence import parts
from pellucid.lab.pages.recurrence.parts import GOAL, HALF, Memory
from pellucid.lab.trace import Trace

OBJECTIVE = "mean (h_T − t)² / 2"
CODE = """import numpy as np
from pellucid.textbook.networks.recurrent_network import backward, recurrent_network

rng = np.random.default_rng({seed})
n, T = {half}, {T}  # sequences side by side: a state each, the same weights for all
x = {noise!r} * rng.normal(size=(T, n))
sign = np.where(np.arange(n) % 2, 1.0, -1.0)
x[0], one = sign, np.eye(n)
u, w, b = 0.5, {w!r}, 0.0
for _ in range({steps}):
    h = recurrent_network(x, u * one, w * one, np.full(n, b))
    d = np.zeros_like(h)
    d[-1] = (h[-1] - {goal} * sign) / n  # only the last state is asked for
    dU, dW, db = backward(x, h, w * one, d)
    u, w, b = u - {rate!r} * dU.trace(), w - {rate!r} * dW.trace(), b - {rate!r} * db.sum()
result = recurrent_network(x, u * one, w * one, np.full(n, b))[-1]
objective = float(((result - {goal} * sign) ** 2).mean()) / 2
"""


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """Steps of descent through time; not all are shown."""
    memory = Memory.of(params, seed)
    frames = parts.frames(memory)
    said = {"T": params["length"], "w": params["start"], "half": HALF, "goal": GOAL, "seed": seed}
    code = CODE.format(**said, **{key: params[key] for key in ("noise", "steps", "rate")})
    card = {
        "representation": "h_t = tanh(u x_t + w h_(t−1) + b)",
        "evaluation": "mean (h_T − t)² / 2, t the sign that came first",
        "optimisation": f"gradient descent, slopes back through time, η = {params['rate']:g}",
    }
    words = ("A state that is carried along", OBJECTIVE, verdict(frames[-1].numbers), code)
    shown = {"kind": "none", "panels": parts.still(memory)}
    return Trace("recurrent_network", params, shown, card, tuple(frames), *words)


def verdict(last: dict[str, Any]) -> str:
    """A sentence for the end."""
    words = f"w = {number(last['w'])}: "
    if last["right of the held-out"] == 1 and last["states it can keep"] == 2:
        words += "two states keep themselves, and every held-out sequence ends at the right one."
    elif last["states it can keep"] == 2:
        share = last["right of the held-out"]
        words += f"two states keep themselves, but {share:.0%} of the held-out sequences end right."
    else:
        words += "one state alone keeps itself, so that whatever came first is forgotten."
    return words


SUMMARY = "A plus or a minus, then noise. At the end: which was it? One number must remember."
CONTROLS = (
    choice("method", "Method", ("recurrence",)),
    counter("length", "Steps of a sequence", 6, 2, 40),
    slider("start", "w at the start", 0.5, -1.5, 2.0, 0.1),
    slider("noise", "Noise after the first step", 0.1, 0.0, 0.5, 0.05),
    slider("rate", "Rate η", 0.1, 0.01, 1.0, 0.01, log=True),
    counter("steps", "Steps of descent", 300, 10, 400, 10),
)
PRESETS = read_presets(
    """
Six steps | Plus or minus first, five steps of faint noise after it. w starts at 0.5.
Begin near 1 | Twenty-five steps, and w starts at 1.1: what is carried neither dies nor runs away.
! Twenty-five steps | The first network, more steps: what comes back from the end is nothing when it
    arrives at the first.
! Louder noise | Twenty-five steps from w = 1.1, noise twice as loud: slopes that grow on their
    way back throw w away.
""",
    given(),
    given(length=25, start=1.1),
    given(length=25),
    given(length=25, start=1.1, noise=0.2),
)
PAGE = make_page("recurrence", "none", run, SUMMARY, CONTROLS, PRESETS)
