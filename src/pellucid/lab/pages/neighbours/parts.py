"""The steps of nearest neighbours: by k, by neighbour, by row."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid import KNeighborsClassifier, StandardScaler
from pellucid.lab.drawing import held_rows, number, row_points, sub
from pellucid.lab.page import LabData
from pellucid.lab.scene import (
    around,
    lattice,
    line,
    place_in,
    plane,
    points,
    regions,
    rule,
    spanned,
)
from pellucid.lab.trace import Frame
from pellucid.neighbors import select_n_neighbors, voronoi_cells

CELLS = 44  # of the regions, along each side
MOST_STEPS = 30
MOST_ROWS = 20  # frames of arriving rows
NOISE_CODE = """noise = np.random.default_rng([{seed}, 11]).normal(size=(len(X), {columns}))
X = np.hstack([X, X.std() * noise])
"""
SCALE_CODE = """from pellucid import StandardScaler
scaler = StandardScaler().fit(X)
X = scaler.transform(X)
"""


class Space(NamedTuple):
    """The rows as distances see them, and the plane in which they are drawn."""

    data: LabData
    Z: Any  # training rows
    y: Any
    Z_test: Any
    y_test: Any
    lift: Callable[[Any], Any]  # points of the plane -> the space of distances
    drop: Callable[[Any], Any] | None  # back again, where that is possible
    query: Any  # (2,) in the plane
    box: Any
    noise_code: str
    scale_code: str


class Made(NamedTuple):
    """Frames and what the verdict reads off them."""

    model: Any
    panels: list[Any]
    frames: list[Frame]
    ks: list[int]
    held_out: list[float]
    contrast: float


def make_space(data: LabData, params: dict[str, Any], seed: int) -> Space:
    """Add noise and scale, as the settings say."""
    columns = params["noise"]
    noise = np.random.default_rng([seed, 11]).normal(size=(len(data.X), columns))
    X = np.hstack([data.X, data.X.std() * noise])
    held = held_rows(data)
    with warnings.catch_warnings(action="ignore"):  # a constant column is left as it is
        scaler = StandardScaler().fit(X[~held]) if params["standardise"] else None

    def scaled(rows: np.ndarray) -> Any:
        return rows if scaler is None or not len(rows) else scaler.transform(rows)

    def lift(rows: np.ndarray) -> Any:
        return scaled(np.hstack([rows, np.zeros((len(rows), columns))]))

    def drop(rows: np.ndarray) -> Any:
        return rows if scaler is None else scaler.inverse_transform(rows)

    box = roomy(around(data.X))
    query = place_in(box, params["query_x"], params["query_y"])
    noise_code = NOISE_CODE.format(seed=seed, columns=columns) if columns else ""
    code = (noise_code, "" if scaler is None else SCALE_CODE)
    rows = (scaled(X[~held]), data.y[~held], scaled(X[held]), data.y[held])
    return Space(data, *rows, lift, None if columns else drop, query, box, *code)


def roomy(box: Sequence[float]) -> Any:
    """A box whose sides are equal, where they are not in different units: circles look round."""
    left, right, bottom, top = box
    more = (right - left) - (top - bottom)
    if not 1 / 3 < (right - left) / (top - bottom) < 3:
        return box
    x, y = max(-more, 0.0) / 2, max(more, 0.0) / 2
    return left - x, right + x, bottom - y, top + y


def neighbours(space: Space, params: dict[str, Any], k: int) -> Any:
    model = KNeighborsClassifier(k, weights=params["weights"], metric=params["metric"])
    return model.fit(space.Z, space.y)


def errors(model: BaseEstimator, space: Space) -> tuple[float, float]:
    """Shares of training and held-out rows that are wrong."""
    train = float((model.predict(space.Z) != space.y).mean())
    if not len(space.y_test):
        return train, train
    return train, float((model.predict(space.Z_test) != space.y_test).mean())


def painted(model: BaseEstimator, space: Space) -> Any:
    """The regions in the plane; columns of noise are held at 0."""
    n = CELLS if space.drop is not None else 2 * CELLS // 3  # many columns take longer
    codes = model.predict(space.lift(lattice(space.box, n)[2])).astype(int)
    return regions(codes.reshape(n, n), space.box, label="ŷ")


def data_panel(space: Space, marks: list[Any], alt: str) -> Any:
    names = space.data.names
    sides = (space.box[1] - space.box[0]) / (space.box[3] - space.box[2])
    title, y, equal = "Rows and regions", names[1], 0.3 < sides < 3.0
    return plane("data", marks, title=title, x=names[0], y=y, box=space.box, equal=equal, alt=alt)


def still(space: Space) -> Any:
    return data_panel(space, [row_points(space.data)], "Rows of the table by class.")


def circle(space: Space, radius: float, metric: str) -> Any:
    """The places at that distance from the query, in the plane."""
    turn = np.linspace(0.0, 2.0 * np.pi, 73)
    round_ = np.column_stack([np.cos(turn), np.sin(turn)])
    size = {
        "euclidean": np.hypot(*round_.T),
        "manhattan": np.abs(round_).sum(axis=1),
        "chebyshev": np.abs(round_).max(axis=1),
    }[metric]
    if space.drop is None:
        return line([], [])
    centre = space.lift(space.query[None])
    path = space.drop(centre + radius * round_ / size[:, None])
    return line(path[:, 0], path[:, 1], colour="accent", width=2.0, label="edge of N")


def asked(space: Space) -> Any:
    return points(space.query[:1], space.query[1:], group="accent", size=1.8, label="query")


def voters(space: Space, vote: Any) -> Any:
    train = np.flatnonzero(~held_rows(space.data))
    rows = space.data.X[train[vote.indices]]
    ring = np.ones(len(rows), bool)
    group = space.y[vote.indices].astype(int)
    return points(rows[:, 0], rows[:, 1], group=group, ring=ring, label="voters")


def vote_words(vote: Any, k: int) -> str:
    totals = ", ".join(f"class {c}: {number(t)}" for c, t in enumerate(vote.totals))
    return f"ŷ = argmax_c Σ_(i ∈ N{sub(k)}) wᵢ [yᵢ = c]: {totals} → class {vote.winner}"


def distance_panel(all_distances: Any, k: int) -> Any:
    rank = np.arange(1, len(all_distances) + 1)
    high = 1.05 * max(float(all_distances[-1]), 1e-12)
    marks = [
        line(rank, all_distances, colour="quiet"),
        points([k], [all_distances[k - 1]], group="accent", size=1.6, label="d"),
        rule(x=k, colour="accent", label=f"k = {k}"),
    ]
    title, x, box = "Distance from the query", "rows, nearest first", (0, len(rank) + 1, 0, high)
    alt = f"Distances of all rows from the query; the {k}th is {number(all_distances[k - 1])}."
    return plane("distances", marks, title=title, x=x, y="distance", box=box, alt=alt)


def query_panel(space: Space, model: Any, vote: Any, params: dict[str, Any], alt: str) -> Any:
    """The regions, and the neighbours that the query asks."""
    edge = circle(space, float(vote.distances[-1]), params["metric"])
    marks = [painted(model, space), edge, voters(space, vote), asked(space)]
    return data_panel(space, marks, alt)


def usable_ks(space: Space, most: int, steps: int) -> list[int]:
    """1, 2, 3, ..., then farther apart, up to the largest k asked for."""
    top = min(most, len(space.y) - 1)
    if top < 2:
        raise ValueError(f"the regions by k need 3 training rows, got {len(space.y)}")
    found = np.unique(np.rint(np.geomspace(1, top, steps)).astype(int))
    return list(range(1, top + 1)) if top <= steps else found.tolist()


def by_k(space: Space, params: dict[str, Any]) -> Made:
    """One frame for every k: regions, the circle of the query, the errors so far."""
    ks = usable_ks(space, params["k"], MOST_STEPS)
    how = {"weights": params["weights"], "metric": params["metric"]}
    alone = select_n_neighbors(space.Z, space.y, ks, **how)
    place, everyone = space.lift(space.query[None]), neighbours(space, params, len(space.y))
    whole = np.sort(everyone.explain(place)[0].distances)
    models = [neighbours(space, params, k) for k in ks]
    made = [errors(model, space) for model in models]
    top = 1.1 * max(0.1, float(np.max(made)), float(alone.errors.max()))
    frames = []
    for i, (k, model) in enumerate(zip(ks, models, strict=True)):
        vote = model.explain(place)[0]
        train, test = made[i]
        numbers = {"k": k, "training error": train, "leave-one-out": float(alone.errors[i])}
        numbers |= {"held-out error": test, "radius of the query": float(vote.distances[-1])}
        scene = [
            query_panel(space, model, vote, params, f"Regions of {k} neighbours."),
            error_panel(ks[: i + 1], np.array(made[: i + 1]), alone.errors[: i + 1], ks[-1], top),
            distance_panel(whole, k),
        ]
        frames.append(Frame(i, train, None, vote_words(vote, k), numbers, {"panels": scene}, test))
    tests = [test for _, test in made]
    return Made(model, [still(space)], frames, ks, tests, contrast(whole))


def contrast(distances: Any) -> float:
    return float(distances[-1] / max(distances[0], 1e-12))


def error_panel(ks: list[int], train_test: Any, alone: Any, last: int, top: float) -> Any:
    curves = (
        ("training", train_test[:, 0], "accent"),
        ("leave-one-out", alone, 3),
        ("held-out", train_test[:, 1], 1),
    )
    marks = [line(ks, values, colour=colour, label=name) for name, values, colour in curves]
    marks += [points(ks[-1:], values[-1:], group=colour) for _, values, colour in curves]
    box, alt = (0, last + 1, 0, top), "Errors against k: training, leave-one-out and held-out rows."
    return plane("errors", marks, title="Share of wrong rows", x="k", y="error", box=box, alt=alt)


def by_neighbour(space: Space, params: dict[str, Any]) -> Made:
    """One frame for every neighbour of the query, nearest first."""
    ks = list(range(1, min(params["k"], len(space.y)) + 1))
    place = space.lift(space.query[None])
    whole = np.sort(neighbours(space, params, len(space.y)).explain(place)[0].distances)
    frames, tests = [], []
    for i, k in enumerate(ks):
        model = neighbours(space, params, k)
        vote = model.explain(place)[0]
        train, test = errors(model, space)
        tests.append(test)
        radius, y = float(vote.distances[-1]), int(space.y[vote.indices[-1]])
        formula = f"d(x, x{sub(k)}) = {number(radius)}, y{sub(k)} = {y}; {vote_words(vote, k)}"
        numbers = {"k": k, "distance": radius, "its class": y, "winner": int(vote.winner)}
        numbers["farthest / nearest"] = contrast(whole)
        alt = f"The {k} nearest rows of the query."
        scene = [query_panel(space, model, vote, params, alt), distance_panel(whole, k)]
        frames.append(Frame(i, train, None, formula, numbers, {"panels": scene}, test))
    return Made(model, [still(space)], frames, ks, tests, contrast(whole))


def by_row(space: Space, params: dict[str, Any]) -> Made:
    """Rows arrive; the cells of one nearest neighbour divide the plane."""
    n = len(space.y)
    sizes = np.unique(np.rint(np.geomspace(1, n, MOST_ROWS)).astype(int)).tolist()
    frames, tests = [], []
    for i, m in enumerate(sizes):
        model = KNeighborsClassifier(1, metric=params["metric"]).fit(space.Z[:m], space.y[:m])
        train, test = errors(model, space)
        tests.append(test)
        distance, nearest = model.kneighbors(space.lift(space.query[None]))
        near = int(nearest[0, 0])
        formula = (
            f"cell of x{sub(m)} = {{z : |z − x{sub(m)}| ≤ |z − xᵢ| for i ≤ {m}}}; the query is in "
            f"cell {near + 1} (distance {number(distance[0, 0])}) → class {space.y[near]}"
        )
        numbers = {"rows so far": m, "cell of the query": near + 1}
        numbers |= {"training rows wrong": train, "held-out error": test}
        marks = [painted(model, space), *cell_lines(space, m, params), asked(space)]
        panel = data_panel(space, marks, f"Cells of the first {m} rows.")
        frames.append(Frame(i, train, None, formula, numbers, {"panels": [panel]}, test))
    return Made(model, [still(space)], frames, [1], tests, 1.0)


def cell_lines(space: Space, m: int, params: dict[str, Any]) -> list[Any]:
    """The edges of the exact cells, where the distance has straight ones."""
    rows = space.data.X[~held_rows(space.data)][:m]
    group = space.y[:m].astype(int)
    seen = points(*rows.T, group=group, ring=np.ones(m, bool), label="rows so far")
    if space.drop is None or params["metric"] != "euclidean":
        return [seen]
    corners = space.lift(np.array([[space.box[0], space.box[2]], [space.box[1], space.box[3]]]))
    gap, path = np.full((1, 2), np.nan), []
    for cell in voronoi_cells(space.Z[:m], bounds=spanned(*corners)).polygons:
        path += [space.drop(np.vstack([cell, cell[:1]])), gap] if len(cell) else []
    return [line(*np.vstack(path).T, colour="quiet", width=1.0, label="cells"), seen]
