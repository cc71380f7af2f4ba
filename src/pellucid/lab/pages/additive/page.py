"""Non-negative factorisation: small pictures as sums of parts, none of which takes anything away.

What breaks it: fewer parts than there are, and parts that always come together.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np

from pellucid import NMF, PCA
from pellucid.core.arrays.typing import Array
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import literal, number, quietly, short
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.scene import Panel, bars, heat, plane, text
from pellucid.lab.trace import Frame, Trace

SIDE, SHOWN, MOST = 5, 16, 400
ROWS = ("strokes", "strokes that come in pairs")
CODE = """import warnings

import numpy as np
from pellucid import NMF

X = {X}
settings = {{"solver": "mu", "init": "random", "random_state": {start!r}}}
{fit}objective = float(model.reconstruction_err_**2 / len(X))
"""


class Pictures(NamedTuple):
    """Pictures, one a row, the strokes that made them, and the picture that is followed."""

    X: Array
    parts: Array
    row: int


def drawn(params: dict[str, Any], seed: int) -> Pictures:
    """Sums of four strokes, each with a strength of its own."""
    rng = np.random.default_rng([seed, 23])
    parts = np.zeros((4, SIDE, SIDE))
    parts[0, 0], parts[1, :, 0], parts[2, :, -1], parts[3, -1] = 1.0, 1.0, 1.0, 1.0
    n = params["pictures"]
    there = rng.random((n, 4)) < 0.5
    if params["rows"] == ROWS[1]:
        there[:, 1], there[:, 3] = there[:, 0], there[:, 2]
    there[~there.any(axis=1), 0] = True
    if params["rows"] == ROWS[1]:
        there[:, 1] = there[:, 0]
    W = np.where(there, rng.uniform(0.5, 1.5, (n, 4)), 0.0)
    if params["rows"] == ROWS[1]:
        W[:, 1], W[:, 3] = W[:, 0], W[:, 2]
    flat = parts.reshape(4, -1)
    X = np.abs(W @ flat + params["noise"] * rng.normal(size=(n, SIDE * SIDE)))
    row = int(there.sum(axis=1).argmax())
    return Pictures(X.round(2) + 0.0, flat, row)


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The random start's first rounds, then ever fewer of them."""
    pictures = drawn(params, seed)
    X, k, start = pictures.X, params["parts"], params["start"]
    settings: dict[str, Any] = {"solver": "mu", "init": "random", "random_state": start}
    counts = np.unique(np.geomspace(1, MOST, SHOWN).round().astype(int)).tolist()
    frames = [
        frame(pictures, *fitted(X, NMF(k, **settings, max_iter=c, tol=0.0)), c, i)
        for i, c in enumerate(counts)
    ]
    make = NMF(k, **settings, max_iter=MOST, tol=0.0)
    fitted(X, make)
    fit = f"model = NMF({k}, **settings, max_iter={MOST}, tol=0.0).fit(X)\n"
    code = CODE.format(X=literal(X), start=start, fit=quietly(fit, "as many rounds as asked for"))
    words = ("Pictures as sums of parts", "squares that are left, per picture")
    shown, card = {"kind": "none", "panels": []}, make.card().to_dict()
    return Trace("NMF", params, shown, card, tuple(frames), *words, verdict(pictures, frames), code)


def fitted(X: Array, model: Any) -> tuple[Any, Array]:
    """The model after as many rounds as it may make, and its weights."""
    with warnings.catch_warnings(action="ignore"):  # stopped on purpose
        return model, model.fit_transform(X)


def matched(pictures: Pictures, H: Array) -> list[float]:
    """For every stroke the cosine of the part that is most like it."""
    size = np.linalg.norm(H, axis=1, keepdims=True)
    units = H / np.where(size > 0, size, 1.0)
    strokes = pictures.parts / np.linalg.norm(pictures.parts, axis=1, keepdims=True)
    return [float(v) for v in (strokes @ units.T).max(axis=1)]


def verdict(pictures: Pictures, frames: list[Frame]) -> str:
    """A sentence for the end."""
    last = frames[-1].numbers
    found, n = last["strokes found"], len(pictures.parts)
    words = f"{found} of the {n} strokes are parts of their own"
    axis = PCA(len(last["weights of the picture"].split(","))).fit(pictures.X)
    negative = float((axis.components_ < -0.05).mean())
    return f"{words}; of the cells of as many principal components {negative:.0%} are negative."


def frame(pictures: Pictures, model: Any, W: Array, c: int, step: int) -> Frame:
    X, H = pictures.X, np.asarray(model.components_)
    objective = float(model.reconstruction_err_) ** 2 / len(X)
    i = pictures.row
    like = matched(pictures, H)
    cell = int(X[i].argmax())
    terms = [W[i, j] * H[j, cell] for j in range(len(H))]
    whole = " + ".join(f"{number(W[i, j])}·{number(H[j, cell])}" for j in range(len(H)))
    formula = (
        f"round {c}: H ← H · W′X / (W′W H), W likewise; the darkest cell of picture {i + 1}: "
        f"{whole} = {number(float(sum(terms)))}, wanted {number(X[i, cell])}"
    )
    numbers: dict[str, Any] = {"round": c, "squares left per picture": short(objective)}
    numbers["strokes found"] = sum(v > 0.95 for v in like)
    numbers["least like a part"] = short(min(like))
    numbers["weights of the picture"] = ", ".join(number(v, 2) for v in W[i])
    numbers["cells of H near 0"] = short(float((0.05 * H.max() > H).mean()))
    panels = [parts_panel(H), picture_panel(X[i], W[i] @ H), weights_panel(W[i])]
    return Frame(step, objective, None, formula, numbers, {"panels": panels})


def parts_panel(H: Array) -> Panel:
    """The parts side by side."""
    k = len(H)
    tiles = np.full((SIDE, k * (SIDE + 1) - 1), 0.0)
    top = max(float(H.max()), 1e-12)
    for j in range(k):
        at = j * (SIDE + 1)
        tiles[:, at : at + SIDE] = H[j].reshape(SIDE, SIDE)[::-1] / max(float(H[j].max()), 1e-12)
    box = (0.0, float(tiles.shape[1]), 0.0, float(SIDE))
    names = text(
        [j * (SIDE + 1) + SIDE / 2 for j in range(k)], [SIDE + 0.5] * k,
        [f"part {j + 1}" for j in range(k)], colour="quiet",
    )  # fmt: skip
    marks = [heat(tiles, box, low=0.0, high=1.0, label="H"), names]
    look: dict[str, Any] = {"equal": True, "bare": True}
    whole = (-0.3, box[1] + 0.3, -0.3, SIDE + 1.0)
    alt = f"{k} parts as small pictures, the strongest cell {number(top)}."
    return plane("parts", marks, title="The parts H", box=whole, alt=alt, **look)


def picture_panel(x: Array, again: Array) -> Panel:
    """A picture and what the parts make of it."""
    tiles = np.zeros((SIDE, 2 * SIDE + 1))
    tiles[:, :SIDE] = x.reshape(SIDE, SIDE)[::-1]
    tiles[:, SIDE + 1 :] = again.reshape(SIDE, SIDE)[::-1]
    box = (0.0, float(tiles.shape[1]), 0.0, float(SIDE))
    names = text([SIDE / 2, 1.5 * SIDE + 1], [SIDE + 0.5] * 2, ["picture", "sum of parts"],
                 colour="quiet")  # fmt: skip
    top = max(float(x.max()), 1e-12)
    marks = [heat(tiles, box, low=0.0, high=top, label="X and W H"), names]
    whole = (-0.3, box[1] + 0.3, -0.3, SIDE + 1.0)
    alt = "One picture, and the sum of the parts that stands for it."
    return plane("picture", marks, title="One picture", box=whole, equal=True, bare=True, alt=alt)


def weights_panel(w: Array) -> Panel:
    at = np.arange(1, len(w) + 1)
    marks = [bars(at, w, width=0.6, label="W")]
    alt = "How strong every part is in this picture."
    return plane("weights", marks, title="How much of each part", x="part", y="weight", alt=alt)


SUMMARY = "Pictures as sums of parts: nothing may be taken away, so parts become pieces."
CONTROLS = (
    choice("method", "Method", ("NMF",)),
    choice("rows", "Pictures of", ROWS),
    counter("parts", "Parts", 4, 2, 7),
    counter("pictures", "Pictures", 60, 10, 120, 10),
    slider("noise", "Noise", 0.02, 0.0, 0.5, 0.02),
    counter("start", "Random start", 0, 0, 20),
)
PRESETS = read_presets(
    """
Four strokes | Pictures of strokes along the edges. Nobody says what a stroke is.
! Too few parts | Two parts for four strokes: each must stand for several.
! Always together | Two pairs of strokes that always come together, equally strong: no one can tell
    that they are two.
As many as there are | The pairs with two parts: each part is a pair, and nothing is left over.
""",
    given(),
    given(parts=2),
    given(rows=ROWS[1]),
    given(rows=ROWS[1], parts=2),
)
PAGE = make_page("additive", "none", run, SUMMARY, CONTROLS, PRESETS)
