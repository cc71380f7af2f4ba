"""Epochs of an autoencoder of two columns, and their picture."""

from copy import copy
from typing import Any, NamedTuple

import numpy as np

from pellucid import PCA
from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.random import generator
from pellucid.lab.drawing import held_rows, number, short, vector
from pellucid.lab.page import LabData
from pellucid.lab.scene import (
    COARSE,
    Panel,
    around,
    heat,
    lattice,
    line,
    place_in,
    plane,
    points,
    rule,
    segments,
)
from pellucid.lab.trace import Frame
from pellucid.neural.network import Network
from pellucid.plots.panels.replay import Recorder

CELLS = 40


class Middle(NamedTuple):
    """The rows and the model after 0, 1, ... epochs."""

    data: LabData
    X: Array
    models: list[Any]
    fitted: Any
    width: int  # numbers in the code
    adam: bool
    row: int  # the row that is followed
    stranger: Array
    line: float  # share of the variance that the best line gives back
    box: Any

    @classmethod
    def of(cls, data: LabData, model: Any, seed: int) -> "Middle":
        X, _ = data.train
        recorder = Recorder()
        model.set_callbacks(recorder).fit(X)
        steps = next(iter(recorder.runs.values()), [])
        if not steps or not np.isfinite(steps[-1].vector_).all():
            raise ValueError("the steps leave the finite numbers: lower the rate, or scale rows")
        begin = copy(steps[0])
        start = Network(begin.network_.layers, n_inputs=2, random_state=generator(seed))
        begin.vector_ = start.vector
        far = int(((X - X.mean(axis=0)) ** 2).sum(axis=1).argmax())
        box = around(data.X, 0.3)
        share, width = PCA(1).fit(X).explained_variance_ratio_, model.n_components
        adam = model.solver.rule is not None
        far_off, line = place_in(box, 0.5, 0.93), float(share[0])
        return cls(data, X, [begin, *steps], model, width, adam, far, far_off, line, box)


def still(middle: Middle) -> Panel:
    data = middle.data
    label = "rows (open: held out)"
    look: dict[str, Any] = {"x": data.names[0], "y": data.names[1]}
    marks = [points(*data.X.T, group="quiet", faint=held_rows(data), data=True, label=label)]
    alt = "The rows, what comes back of each, and the code everywhere as a shade."
    title = "Rows and what comes back (shade: the code z)"
    return plane("rows", marks, title=title, box=middle.box, alt=alt, **look)


def shade(middle: Middle, model: Any) -> Any:
    """The first number of the code everywhere, between those of the rows."""
    n = CELLS // 2 if COARSE.get() else CELLS
    codes = model.transform(middle.X)[:, 0]
    z = model.transform(lattice(middle.box, n)[2])[:, 0].reshape(n, n)
    return heat(z, middle.box, low=float(codes.min()), high=float(codes.max()), diverging=True)


def frame(middle: Middle, i: int) -> Frame:
    """The network after i epochs."""
    model, X = middle.models[i], middle.X
    Z, back = model.transform(X), model.inverse_transform(model.transform(X))
    error = ((X - back) ** 2).sum(axis=1)
    J, kept = float(error.mean()) / 2, 1 - float(error.sum() / ((X - X.mean(0)) ** 2).sum())
    x, z, x_hat = X[middle.row], Z[middle.row], back[middle.row]
    own = float(error[middle.row])
    begins = "start: random weights"
    if i:
        begins = f"epoch {i}: θ ← θ − η {'m̂ / √v̂, m̂ and v̂ from ∇J' if middle.adam else '∇J'}"
    formula = (
        f"{begins}; x = {vector(x)} → z = {number(z[0]) if middle.width == 1 else vector(z)} → "
        f"x̂ = {vector(x_hat)}, |x − x̂|² / 2 = {number(own / 2)}; "
        f"J = mean |x − x̂|² / 2 = {number(J)}"
    )
    far = middle.stranger[None]
    odd = float(model.reconstruction_error(far)[0]) / 2
    numbers: dict[str, Any] = {"epoch": i, "J": short(J), "variance kept": short(kept)}
    numbers |= {"kept by the best line": short(middle.line), "error of the stranger": short(odd)}
    edge = np.argsort(Z[:, 0])[[0, -1]]
    ends = float(np.linalg.norm(X[edge[0]] - X[edge[1]]))
    numbers["from one end of z to the other"] = short(ends)
    test, _ = middle.data.test
    held = float(model.reconstruction_error(test).mean()) / 2 if len(test) else None
    marks = [shade(middle, model), segments(*X.T, *back.T, label="what is lost")]
    if middle.width == 1:
        low, high = float(Z.min()), float(Z.max())
        air = 0.15 * (high - low)
        way = model.inverse_transform(np.linspace(low - air, high + air, 80)[:, None])
        marks.append(line(*way.T, label="x̂ of every z"))
    marks.append(points(*back.T, group=0, size=0.6, label="x̂ of the rows"))
    marks.append(points(*x[:, None], group="warn", ring=[True], label="x"))
    marks.append(points(*x_hat[:, None], group="warn", size=0.8, label="x̂"))
    marks.append(points(*far.T, group=3, ring=[True], size=1.2, label="stranger"))
    panels = [plane("rows", marks), code_panel(middle, Z, error / 2, J)]
    gap = None if i == 0 else float(np.abs(model.vector_ - middle.models[i - 1].vector_).max())
    return Frame(i, J, gap, formula, numbers, {"panels": panels}, held)


def code_panel(middle: Middle, Z: Array, loss: Array, J: float) -> Panel:
    """What the code keeps of the rows, and what it costs: one point per row."""
    i, title = middle.row, "Every row by its code"
    if middle.width > 1:
        marks = [points(*Z.T, group="quiet", size=0.8, label="rows")]
        marks.append(points(*Z[[i]].T, group="warn", ring=[True], label="z"))
        alt = "The two numbers of every row."
        return plane("codes", marks, title=title, x="z₁", y="z₂", alt=alt)
    marks = [points(Z[:, 0], loss, group="quiet", size=0.8, label="rows")]
    marks.append(rule(y=J, colour="accent", label="J"))
    marks.append(points(Z[[i], 0], loss[[i]], group="warn", ring=[True], label="z"))
    alt = "The code of every row and what is lost of it."
    return plane("codes", marks, title=title, x="z", y="|x − x̂|² / 2", alt=alt)
