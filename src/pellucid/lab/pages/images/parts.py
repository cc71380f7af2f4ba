"""A kernel that slides over a picture, or is learned from what another one made of it."""

from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.deep import convolve, pool
from pellucid.lab.drawing import braced, number, short
from pellucid.lab.scene import Panel, heat, line, plane, segments, text
from pellucid.lab.trace import Frame
from pellucid.solvers.rules import UNADORNED, Memory, stepped
from pellucid.textbook.networks.convolution import backward

SIDE, SHOWN = 3, 36  # of the kernel; frames of a lesson
KERNELS = {
    "edge |": ((-1, 0, 1), (-1, 0, 1), (-1, 0, 1)),
    "edge —": ((-1, -1, -1), (0, 0, 0), (1, 1, 1)),
    "corner": ((-1, -1, -1), (-1, 2, 2), (-1, 2, 2)),
    "spot": ((-1, -1, -1), (-1, 8, -1), (-1, -1, -1)),
}
PICTURES = {
    "square": ("........",) * 2 + ("..###...",) * 3 + ("........",) * 3,
    "moved square": ("........",) * 3 + ("...###..",) * 3 + ("........",) * 2,
    "lying bar": ("........",) * 3 + ("########",) * 2 + ("........",) * 3,
    "dots": (
        *("#..##...", ".#...#.#", "..##....", "#....##."),
        *(".##.#..#", "...#..#.", "#.#...##", ".#..##.."),
    ),
    "stripes": ("..##..##",) * 8,
}


class Sight(NamedTuple):
    """A picture of zeros and ones, and a kernel."""

    f: Array
    k: Array

    @property
    def z(self) -> Array:
        return convolve(self.f, self.k)


def still(sight: Sight, learn: bool) -> list[Panel]:
    """The picture, and the panels that frames draw into."""
    f, z = sight.f, sight.z
    title = "Picture f (click a cell)"
    box, alt = boxed(f), "A picture of dark and light cells."
    marks = [cells_of(f, 1.0), grid(f)]
    picture = plane("world", marks, title=title, box=box, alt=alt, bare=True, equal=True)
    alt = "The nine weights."
    kernel = plane(
        "kernel", [], title="Kernel k", box=boxed(sight.k), bare=True, equal=True, alt=alt
    )
    title = "Map z of the weights so far" if learn else "Map z of all places"
    alt = "What the kernel answers at every place."
    maps = plane("map", [], title=title, box=boxed(z), bare=True, equal=True, alt=alt)
    if learn:
        alt = "What is left between the map and that of the hidden kernel."
        title = "What is left to the hidden kernel's, z − t"
        left = plane("left", [], title=title, box=boxed(z), bare=True, equal=True, alt=alt)
        return [picture, kernel, maps, left]
    title, alt = "Pooled: the largest of each tile", "The largest of every two by two cells."
    box = boxed(pool(z, 2))
    pooled = plane("pooled", [], title=title, box=box, bare=True, equal=True, alt=alt)
    return [picture, kernel, maps, pooled]


def boxed(values: Array) -> tuple[float, float, float, float]:
    return 0.5, values.shape[1] + 0.5, 0.5, values.shape[0] + 0.5


def cells_of(values: Array, top: float, diverging: bool = False, label: str = "") -> Any:
    """Rows from the top, as a picture is read."""
    low = -top if diverging else 0.0
    look: dict[str, Any] = {"diverging": diverging, "label": label}
    return heat(values[::-1], boxed(values), low=low, high=max(top, 1e-12), **look)


def grid(values: Array) -> Any:
    """The borders of the cells."""
    rows, columns = values.shape
    up, across = np.arange(rows + 1) + 0.5, np.arange(columns + 1) + 0.5
    x0, x1 = np.r_[across, np.full(rows + 1, 0.5)], np.r_[across, np.full(rows + 1, columns + 0.5)]
    y0, y1 = np.r_[np.full(columns + 1, 0.5), up], np.r_[np.full(columns + 1, rows + 0.5), up]
    return segments(x0, y0, x1, y1, width=0.6)


def figures(values: Array, known: Any = None) -> Any:
    """The numbers in the cells, those that are known, with one decimal at most."""
    known = np.ones(values.shape, bool) if known is None else known
    i, j = np.nonzero(known)
    said = [number(round(float(v), 1) + 0.0) for v in values[known]]
    return text(j + 1.0, values.shape[0] - i + 0.0, said)


def frame_round(i: int, j: int, height: int, width: int, rows: int, **look: Any) -> Any:
    """A rectangle round cells that begin at row i, column j."""
    left, top = j + 0.5, rows - i + 0.5
    x = [left, left + width, left + width, left, left]
    return line(x, [top, top, top - height, top - height, top], **look)


def slide(sight: Sight) -> tuple[list[Frame], str]:
    """Place by place, then the tiles."""
    f, k, z = sight.f, sight.k, sight.z
    known, top = np.zeros(z.shape, bool), max(float(np.abs(z).max()), 1.0)
    scale = float(np.abs(k).max())
    weights = plane("kernel", [cells_of(k, scale, True, "k"), figures(k)])
    frames: list[Frame] = []
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            known[i, j] = True
            seen = [(f[i + u, j + v], k[u, v]) for u in range(SIDE) for v in range(SIDE)]
            terms = [f"{number(a)}·{braced(w)}" for a, w in seen if a and w]
            total = f"{' + '.join(terms) or '0'} = " if len(terms) > 1 else ""
            formula = f"z({i}, {j}) = Σ f({i} + u, {j} + v) k(u, v) = {total}{number(z[i, j])}"
            best = float(z[known].max())
            numbers = {"place": f"({i}, {j})", "z": float(z[i, j]), "largest z so far": best}
            numbers["dark cells in the window"] = int(sum(a for a, _ in seen))
            window = frame_round(i, j, SIDE, SIDE, len(f), colour="warn", label="window")
            here = frame_round(i, j, 1, 1, len(z), colour="warn", label="z")
            done = np.where(known, z, 0.0)
            maps = plane("map", [cells_of(done, top, True), figures(z, known.copy()), here])
            panels = [plane("world", [window]), weights, maps, plane("pooled", [])]
            frames.append(Frame(len(frames), best, None, formula, numbers, {"panels": panels}))
    frames.append(pooled(sight, len(frames), top, weights))
    best = float(z.max())
    verdict = f"{k.size} weights answered at {z.size} places; the largest z is {number(best)}."
    if not np.abs(z).max() > 0:
        verdict = f"{k.size} weights, {z.size} places, and z = 0 at each: it sees nothing here."
    return frames, verdict


def pooled(sight: Sight, step: int, top: float, weights: Panel) -> Frame:
    """The largest of each tile of the map."""
    z, p = sight.z, pool(sight.z, 2)
    i, j = (int(v) for v in np.unravel_index(p.argmax(), p.shape))
    tile = ", ".join(number(float(v)) for v in z[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].ravel())
    formula = (
        f"pooled({i}, {j}) = max({tile}) = {number(p[i, j])}; weights: {sight.k.size}, where a "
        f"layer from every cell to every place has {sight.f.size}·{z.size} = "
        f"{sight.f.size * z.size}"
    )
    a, b = (int(v) for v in np.unravel_index(z.argmax(), z.shape))
    numbers: dict[str, Any] = {"largest z": float(z.max()), "first at": f"({a}, {b})"}
    numbers["places with that z"] = int((z == z.max()).sum())
    numbers |= {"Σ |z|": float(np.abs(z).sum()), "largest of the pooled": float(p.max())}
    numbers |= {"weights": int(sight.k.size), "of a full layer": int(sight.f.size * z.size)}
    here = frame_round(2 * i, 2 * j, 2, 2, len(z), colour="warn", label="tile")
    maps = plane("map", [cells_of(z, top, True), figures(z), here])
    panels = [
        plane("world", []),
        weights,
        maps,
        plane("pooled", [cells_of(p, top, True), figures(p)]),
    ]
    return Frame(step, float(z.max()), None, formula, numbers, {"panels": panels})


def lesson(sight: Sight, rate: float, steps: int) -> tuple[list[Frame], str]:
    """Descent from zero towards the map of the hidden kernel."""
    f, target, k = sight.f, sight.z, np.zeros((SIDE, SIDE))
    shown = set(np.unique(np.r_[0, np.geomspace(1, steps, SHOWN).round()]).astype(int).tolist())
    frames, last, slope = [], k, np.zeros_like(k)
    memory = Memory(slope, slope, 0)
    for step in range(steps + 1):
        d = (convolve(f, k) - target) / target.size
        if step in shown:
            frames.append(lesson_frame(sight, k, last, slope, step, rate))
        last, slope = k, backward(f, k, d)[1]
        k, memory = stepped(UNADORNED, k, slope, rate, memory)
        if not np.isfinite(k).all() or np.abs(k).max() > 1e6:
            raise ValueError(f"the steps run away at η = {rate:g}: lower the rate")
    far = frames[-1].numbers["farthest weight from the hidden one"]
    loss = frames[-1].objective or 0.0
    words = f"J = {number(loss)}; the weights are within {number(far)} of the hidden kernel's."
    if loss < 1e-6 and far > 0.1:
        words += (
            " The map is matched and the kernel is another: this picture cannot tell them apart."
        )
    return frames, words


def lesson_frame(
    sight: Sight, k: Array, last: Array, slope: Array, step: int, rate: float
) -> Frame:
    """The weights after a step, what they answer and what is left."""
    z, target = convolve(sight.f, k), sight.z
    J, far = float(((z - target) ** 2).mean()) / 2, float(np.abs(k - sight.k).max())
    formula = f"start: k = 0, so z = 0; J = mean (z − t)² / 2 = {number(J)}"
    if step:
        u, v = (int(a) for a in np.unravel_index(np.abs(slope).argmax(), slope.shape))
        g = float(slope[u, v])
        formula = (
            f"step {step}: ∂J/∂k({u}, {v}) = Σ d f = {number(g)}; k({u}, {v}) ← "
            f"{number(last[u, v])} − {number(rate)} · {braced(g)} = {number(k[u, v])}; "
            f"J = {number(J)}"
        )
    numbers: dict[str, Any] = {"step": step, "J": short(J)}
    numbers["farthest weight from the hidden one"] = short(far)
    numbers |= {"k(0, 0)": short(float(k[0, 0])), "hidden k(0, 0)": float(sight.k[0, 0])}
    numbers["sum of its first column"] = short(float(k[:, 0].sum()))
    numbers["hidden sum"] = float(sight.k[:, 0].sum())
    top, scale = max(float(np.abs(target).max()), 1.0), float(np.abs(sight.k).max())
    weights = [cells_of(k, scale, True, "k"), figures(k)]
    maps = [cells_of(z, top, True, "z"), figures(z)]
    left = [cells_of(z - target, top, True), figures(z - target)]
    panels = [plane("world", []), plane("kernel", weights), plane("map", maps), plane("left", left)]
    return Frame(step, J, float(np.abs(slope).max()), formula, numbers, {"panels": panels})
