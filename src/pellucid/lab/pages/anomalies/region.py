"""One-class SVM: a region that holds most rows, two multipliers a step."""

import warnings
from typing import Any, NamedTuple

import numpy as np

from pellucid import OneClassSVM
from pellucid.core.arrays.typing import Array
from pellucid.kernel import GaussianKernel
from pellucid.lab.drawing import heard, hushed, literal, number, short, told
from pellucid.lab.page import LabData
from pellucid.lab.pages.anomalies.parts import CELLS, COLOURS, named_rows
from pellucid.lab.scene import (
    COARSE,
    Panel,
    around,
    bars,
    contours,
    heat,
    lattice,
    plane,
    points,
    rule,
)
from pellucid.lab.trace import Frame, Trace

METHOD = "one-class SVM"
TOL, MOST_STEPS, SHOWN = 1e-6, 2000, 30
ON_EDGE = 1e-4  # of the largest sum: a row this near to the edge lies on it
OBJECTIVE = "½ a′K a, which the steps lower"
CODE = """import numpy as np
{hushed}
from pellucid import OneClassSVM
from pellucid.kernel import GaussianKernel

X = {rows}
kernel = GaussianKernel({sigma!r})
model = OneClassSVM(kernel=kernel, nu={nu!r}, tol={tol!r}, max_iter={most!r}).fit(X)
a = model.dual_coef_[0]
objective = float(a @ kernel(X, X)[np.ix_(model.support_, model.support_)] @ a) / 2
"""


class Region(NamedTuple):
    """The rows, two of them by name, and what the multipliers are chosen from."""

    X: Array
    nu: float
    kernel: Any
    K: Array
    row: dict[str, int]
    box: Any

    @classmethod
    def of(cls, X: Array, nu: float, sigma: float) -> "Region":
        kernel = GaussianKernel(sigma)
        return cls(X, nu, kernel, kernel(X, X), named_rows(X), around(X, 0.15))

    def fit(self, steps: int) -> Any:
        return OneClassSVM(kernel=self.kernel, nu=self.nu, tol=TOL, max_iter=steps).fit(self.X)

    def quiet_fit(self, steps: int) -> Any:
        with warnings.catch_warnings(action="ignore"):  # stopped on purpose
            return self.fit(steps)

    def multipliers(self, model: Any) -> Array:
        a = np.zeros(len(self.X))
        a[model.support_] = model.dual_coef_[0]
        return a


def region_trace(data: LabData, params: dict[str, Any], still: Any) -> Trace:
    """A frame for the start, then steps of SMO; not all are shown."""
    region = Region.of(data.X, params["nu"], params["sigma"])
    n = int(region.quiet_fit(MOST_STEPS).n_iter_)
    counts = np.unique(np.rint(np.geomspace(1, n, min(n, SHOWN))).astype(int)).tolist()
    models = [region.quiet_fit(k) for k in (0, *counts)]
    top = max(float((region.K @ region.multipliers(m)).max()) for m in models)
    frames, before = [], None
    for i, (k, model) in enumerate(zip([0, *counts], models, strict=True)):
        frames.append(frame(region, model, i, k, before, top))
        before = region.multipliers(model)
    fitted, warned = heard(lambda: region.fit(n))
    settings = {"sigma": params["sigma"], "nu": params["nu"], "tol": TOL, "most": n}
    code = CODE.format(rows=literal(data.X), hushed=hushed(warned), **settings)
    last = frames[-1].numbers
    words = ("A region for most rows", OBJECTIVE, verdict(region, last), code)
    shown, card = told(data, "points", [still(region)]), fitted.card().to_dict()
    return Trace("OneClassSVM", params, shown, card, tuple(frames), *words)


def verdict(region: Region, last: dict[str, Any]) -> str:
    """A sentence for the end."""
    n, nu, out = len(region.X), region.nu, last["rows outside"]
    words = f"{out} of {n} rows lie outside, a share of {number(out / n)}, at most ν = {number(nu)}"
    words += f"; {last['support vectors']} are support vectors, at least ν n = {number(nu * n)}."
    if out == 0:
        words += " No row is outside: each that would be stands on an edge of its own."
    return words


def frame(region: Region, model: Any, i: int, k: int, before: Any, top: float) -> Frame:
    """The region after k steps."""
    X, a, rho = region.X, region.multipliers(model), float(model.offset_[0])
    sums = region.K @ a
    room, D = ON_EDGE * top, float(a @ sums) / 2
    f = np.where(np.abs(sums - rho) <= room, 0.0, sums - rho)
    out, support = f < 0, a > 0
    total = region.nu * len(X)
    begins = (
        f"start: Σ a = ν n = {number(region.nu)} · {len(X)} = {number(total)}, in the first rows"
    )
    if before is not None:
        moved = np.flatnonzero(np.abs(a - before) > 1e-12)
        pair = sorted(moved, key=lambda j: -abs(a[j] - before[j]))[:2]
        said = ", ".join(f"a[{j + 1}]: {number(before[j])} → {number(a[j])}" for j in sorted(pair))
        more = " mostly" if len(moved) > 2 else ""  # several steps since the last frame
        begins = f"step {k}:{more} {said or 'no change'}, Σ a stays {number(total)}"
    A = region.row["A"]
    formula = (
        f"{begins}; D = ½ a′K a = {number(D)}; f(A) = Σ a_i k(x_i, A) − ρ = {number(sums[A])} − "
        f"{number(rho)} = {number(f[A])}"
    )
    numbers: dict[str, Any] = {"step": k, "ρ": short(rho), "rows outside": int(out.sum())}
    numbers |= {"support vectors": int(support.sum()), "f(A)": short(float(f[A]))}
    numbers["f(B)"] = short(float(f[region.row["B"]]))
    numbers["rows odder than A"] = int((f < f[A]).sum())
    numbers["rows odder than B"] = int((f < f[region.row["B"]]).sum())
    cells = CELLS // 2 if COARSE.get() else CELLS
    x, y, places = lattice(region.box, cells)
    z = model.decision_function(places).reshape(cells, cells)
    marks = [heat(z, region.box, low=-top / 2, high=top / 2, diverging=True, label="f")]
    if z.min() < 0 < z.max():
        marks.append(contours(x, y, z, [0.0], colour=None, width=2.0) | {"label": "f = 0"})
    ring = np.ones(int(support.sum()), bool)
    marks.append(points(*X[support].T, group="quiet", ring=ring, label="support vectors"))
    if out.any():
        marks.append(points(*X[out].T, group="warn", size=0.8, label="outside"))
    panels = [plane("rows", marks), weights(region, a, out), shares(region, out, support)]
    return Frame(i, D, None, formula, numbers, {"panels": panels})


def weights(region: Region, a: Array, out: Any) -> Panel:
    """One bar a row."""
    colours = ["warn" if one else "accent" for one in out]
    for name, i in region.row.items():
        colours[i] = COLOURS[name]
    at = np.arange(1, len(a) + 1)
    marks = [bars(at, a, colour=colours, label="a"), rule(y=1.0, label="most")]
    alt = "The multiplier of every row; most are 0."
    title, box = "Multipliers a of the rows", (0, len(a) + 1, 0, 1.15)
    return plane("multipliers", marks, title=title, x="row", y="a", box=box, alt=alt)


def shares(region: Region, out: Any, support: Any) -> Panel:
    """What ν bounds from either side."""
    values = [float(out.mean()), float(support.mean())]
    marks = [bars([1, 2], values, colour=["warn", "accent"], width=0.5)]
    marks.append(rule(y=region.nu, label="ν"))
    alt = "The share of rows outside and of support vectors, on either side of nu at the end."
    title, x = "Outside ≤ ν ≤ support vectors", "1 outside, 2 support vectors"
    box = (0.4, 2.6, 0.0, 1.15 * max(*values, region.nu))
    return plane("shares", marks, title=title, x=x, y="share of rows", box=box, alt=alt)
