"""The steps of kernel PCA, and their pictures."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.lab.drawing import number, short, sub
from pellucid.lab.page import LabData
from pellucid.lab.scene import COARSE, around, bars, contours, heat, lattice, plane, points
from pellucid.lab.trace import Frame

MOST, CELLS = 4, 44  # components; cells of the picture


class Space(NamedTuple):
    """The rows, their Gram matrix, the fitted model."""

    data: LabData
    X: Any
    y: Any
    model: Any
    kernel: Any
    K: Any  # rows by class
    order: Any
    total: float  # variance in the space of the kernel, times n
    row: int  # the row whose hill is shown
    box: Any

    @classmethod
    def of(cls, data: LabData, model: Any, kernel: Any) -> "Space":
        X, y = data.train
        order = np.argsort(y, kind="stable")
        K = kernel(X[order], X[order])
        total = float(K.trace() - K.mean() * len(K))
        if len(K) <= MOST:
            raise ValueError(f"{MOST} directions need {MOST + 1} rows to fit or more, got {len(K)}")
        if not total > 1e-9 * len(K):
            raise ValueError("to this kernel all rows are alike: draw rows that differ, or lower σ")
        row = int(((X - X.mean(axis=0)) ** 2).sum(axis=1).argmax())
        return cls(data, X, y, model, kernel, K, order, total, row, around(data.X))

    def share(self, d: int) -> float:
        """Of the variance in the first d components."""
        return float(self.model.eigenvalues_[:d].sum() / self.total)


def height(space: Space, values: Any) -> list[Any]:
    """A function of the plane as colour with its zero line."""
    n = cells_of()
    x, y, _ = lattice(space.box, n)
    z = values.reshape(n, n)
    marks = [heat(z, space.box)]
    if z.min() < 0 < z.max():
        marks.append(contours(x, y, z, [0.0], colour=None, width=1.6))
    return marks


def cells_of() -> int:
    return CELLS // 2 if COARSE.get() else CELLS


def gram_panel(space: Space, K: Any, title: str, label: str = "K") -> Any:
    n = len(K)
    box = (0.5, n + 0.5, 0.5, n + 0.5)
    top = max(float(np.abs(K).max()), 1e-12)
    signed = K.min() < -1e-9
    look: dict[str, Any] = {"low": -top if signed else 0.0, "high": top, "diverging": signed}
    marks = [heat(K, box, **look, label=label)]
    alt, words = "The Gram matrix: likeness of every two rows.", "row, class by class"
    return plane("gram", marks, title=title, x=words, y="row", box=box, equal=True, alt=alt)


def score_panel(space: Space) -> Any:
    """The rows by their first two scores."""
    Z = space.model.transform(space.X)
    marks = [points(Z[:, 0], Z[:, 1], group=np.asarray(space.y, int), label="z")]
    alt = "The training rows by their first two scores."
    return plane("scores", marks, title="Rows by z₁ and z₂", x="z₁", y="z₂", alt=alt)


def value_panel(space: Space, d: int) -> Any:
    values = space.model.eigenvalues_ / space.total
    colours = [0 if j < d else "quiet" for j in range(len(values))]
    at = np.arange(1, len(values) + 1)
    marks = [bars(at, values, colour=colours, width=0.6, label="λ, as a share")]
    alt = "Shares of the variance of the components; those found so far are coloured."
    title, box = "Share of each direction", (0.3, MOST + 0.7, 0.0, 1.15 * float(values[0]))
    return plane("scree", marks, title=title, x="component", y="share", box=box, alt=alt)


def hill(space: Space) -> Frame:
    """k(x_1, .) over the plane."""
    here = space.X[[space.row]]
    K = np.delete(space.kernel(here, space.X)[0], space.row)
    cells = lattice(space.box, cells_of())[2]
    seen = space.kernel(cells, here)[:, 0]
    ring = points(*here.T, group="warn", ring=[True], label="x")
    formula = (
        f"k(x, z) = exp(−|x − z|² / (2σ²)), σ = {number(space.kernel.sigma)}: with its nearest row "
        f"k = {number(K.max())}, with its farthest k = {number(K.min())}"
    )
    numbers = {"σ": space.kernel.sigma, "k with the nearest row": short(float(K.max()))}
    numbers |= {"k with the farthest row": short(float(K.min())), "rows": len(space.X)}
    n = cells_of()
    shade = heat(seen.reshape(n, n), space.box, low=0.0, high=1.0, label="k")
    panels = [plane("data", [shade, ring]), gram_panel(space, space.K, "All likenesses K")]
    return Frame(0, 1.0, None, formula, numbers, {"panels": panels})


def gram(space: Space) -> Frame:
    """K by blocks of classes."""
    y = np.asarray(space.y)[space.order]
    same = y[:, None] == y[None, :]
    np.fill_diagonal(same, False)
    other = ~same & ~np.eye(len(y), dtype=bool)
    inside = float(space.K[same].mean()) if same.any() else 0.0
    across = float(space.K[other].mean()) if other.any() else 0.0
    formula = (
        f"K_ij = k(x_i, x_j), {len(y)} rows and columns: mean within a class {number(inside)}, "
        f"between the classes {number(across)}, on the diagonal 1"
    )
    numbers = {"mean within a class": short(inside), "mean between classes": short(across)}
    numbers["mean of K"] = short(float(space.K.mean()))
    panels = [plane("data", []), gram_panel(space, space.K, "Gram matrix K")]
    return Frame(1, 1.0, None, formula, numbers, {"panels": panels})


def centred(space: Space) -> Frame:
    K = space.K
    Kc = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    formula = (
        f"K_c = K − row means − column means + {number(K.mean())}; its diagonal sums to the whole "
        f"variance: n − n · {number(K.mean(), 4)} = {number(space.total)}"
    )
    if abs(len(K) * (1 - float(f"{K.mean():.4g}")) - space.total) > 0.004 * space.total:
        formula = formula.split(": n −")[0] + f", {number(space.total)}"
    numbers = {"variance in all": short(space.total), "largest of K_c": short(float(Kc.max()))}
    numbers["least of K_c"] = short(float(Kc.min()))
    panels = [plane("data", []), gram_panel(space, Kc, "Centred Gram matrix", "K_c")]
    return Frame(2, 1.0, None, formula, numbers, {"panels": panels})


def component(space: Space, d: int) -> Frame:
    """The d-th direction as a function of the plane."""
    value = float(space.model.eigenvalues_[d - 1])
    cells = lattice(space.box, cells_of())[2]
    z = space.model.transform(cells)[:, d - 1]
    mine = space.model.transform(space.X)[:, d - 1]
    at, j = float(mine[space.row]), sub(d)
    ring = points(*space.X[[space.row]].T, group="warn", ring=[True], label="x")
    formula = (
        f"K_c a = λ{j} a: λ{j} = {number(value)}, a share of {number(value)} / "
        f"{number(space.total)} = {number(value / space.total)}; of the ringed row "
        f"z{j} = √λ{j} a = {number(at)}"
    )
    wrong, held = cut_errors(space, d)
    numbers = {"component": d, "share": short(value / space.total)}
    numbers["share so far"] = short(space.share(d))
    numbers[f"wrong at the best cut of z{d}"] = short(wrong)
    if held is not None:
        numbers["and of the held-out rows"] = short(held)
    panels = [plane("data", [*height(space, z), ring]), score_panel(space), value_panel(space, d)]
    left = max(1.0 - space.share(d), 0.0)
    return Frame(2 + d, left, None, formula, numbers, {"panels": panels})


def cut_errors(space: Space, d: int) -> tuple[float, float | None]:
    """The share of rows that the best cut of a score puts on the wrong side; then held-out rows."""
    z, y = space.model.transform(space.X)[:, d - 1], np.asarray(space.y) > 0
    order = np.sort(z)
    best = (1.0, 0.0, True)
    for t in (order[1:] + order[:-1]) / 2:
        for up in (True, False):
            error = float((((z > t) == up) != y).mean())
            best = min(best, (error, float(t), up))
    X_test, y_test = space.data.test
    if not len(X_test):
        return best[0], None
    said = (space.model.transform(X_test)[:, d - 1] > best[1]) == best[2]
    return best[0], float((said != (np.asarray(y_test) > 0)).mean())
