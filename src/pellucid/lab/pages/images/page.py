"""Convolution: nine weights that look at every place of a small picture, and how they are learned.

The sums are those of ``pellucid.deep.convolve`` and ``pool``; slopes are the textbook's. A test
holds them equal, and to the layers in PyTorch that do the same for many pictures at once.
What breaks it: a pattern that is turned, and a picture that cannot tell weights apart.
"""

from typing import Any

import numpy as np

from pellucid.lab.controls import cells, choice, counter, slider
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.images import parts
from pellucid.lab.pages.images.parts import KERNELS, PICTURES, Sight
from pellucid.lab.trace import Trace

CARD = {
    "representation": "z[i, j] = Σ f[i + u, j + v] k[u, v], then the largest of each tile",
    "evaluation": "none: the weights are given",
    "optimisation": "none",
}
SLIDE = """import numpy as np
from pellucid.deep import convolve, pool

f = np.array({f})
k = np.array({k}, float)
z = convolve(f, k)
result = pool(z, 2)
objective = float(z.max())
"""
LEARN = """import numpy as np
from pellucid.deep import convolve
from pellucid.textbook.networks.convolution import backward

f = np.array({f})
target = convolve(f, np.array({k}, float))
k = np.zeros((3, 3))
for _ in range({steps}):
    d = (convolve(f, k) - target) / target.size  # of the mean of (z − t)² / 2
    k -= {rate!r} * backward(f, k, d)[1]
result = k
objective = float(((convolve(f, k) - target) ** 2).mean()) / 2
"""


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The kernel place by place, or step by step."""
    drawn = params["cells"] or "/".join(PICTURES[params["picture"]])
    signs = [list(row) for row in drawn.split("/")]
    if len(signs) < 4 or len(signs[0]) < 4:
        raise ValueError("the picture must have at least 4 rows and 4 columns")
    f = (np.array(signs) != ".").astype(float)
    kernel = np.array(KERNELS[params["kernel"]], float)
    sight = Sight(f, kernel)
    learn = params["method"] == "learn"
    code = {"f": f.tolist(), "k": kernel.tolist()}
    shown = {"kind": "none", "cells": drawn.replace("S", "#"), "panels": parts.still(sight, learn)}
    if learn:
        rate, steps = params["rate"], params["steps"]
        frames, verdict = parts.lesson(sight, rate, steps)
        words = ("Learn the kernel", "mean (z − t)² / 2", verdict)
        card = {**CARD, "evaluation": "mean (z − t)² / 2", "optimisation": f"descent, η = {rate:g}"}
        made = LEARN.format(**code, steps=steps, rate=rate)
        return Trace("convolve", params, shown, card, tuple(frames), *words, made)
    frames, verdict = parts.slide(sight)
    words = ("One kernel at every place", "largest z so far", verdict)
    return Trace("convolve", params, shown, CARD, tuple(frames), *words, SLIDE.format(**code))


SUMMARY = "Nine weights look at every place of a picture: the same pattern is found wherever it is."
CONTROLS = (
    choice("method", "Show", ("slide", "learn")),
    choice("picture", "Picture", PICTURES),
    cells("cells", "Its cells (click them)"),
    choice("kernel", "Kernel", KERNELS),
    slider("rate", "Rate η", 0.5, 0.01, 3.0, 0.01, log=True, method="learn"),
    counter("steps", "Steps", 200, 1, 400, method="learn"),
)
PRESETS = read_presets(
    """
An edge finder | A square, and a kernel that takes what is on its left from what is on its right.
Moved by one | The same square one cell down and one to the right: nothing new has to be learned.
Learn the kernel | Dots, the map that a hidden kernel made of them, and nine weights that
    start at 0.
! The pattern turned | A bar that lies. To be moved costs nothing; to be turned is another pattern.
! Stripes teach only sums | The map is matched exactly, and the kernel is wrong: stripes look the
    same to many kernels.
A kernel for it | The bar that lies, and a kernel turned like it.
""",
    given(),
    given(picture="moved square"),
    given(method="learn", picture="dots", kernel="corner"),
    given(picture="lying bar"),
    given(method="learn", picture="stripes", kernel="corner"),
    given(picture="lying bar", kernel="edge —"),
)
PAGE = make_page("images", "none", run, SUMMARY, CONTROLS, PRESETS)
