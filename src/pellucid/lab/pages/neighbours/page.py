"""Nearest neighbours: the circle around a query, Voronoi cells, regions as k grows.

What breaks them: a column whose units are larger than the others', and columns of noise.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.lab.controls import choice, counter, slider, switch
from pellucid.lab.drawing import number, rows_code, told
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.neighbours import parts
from pellucid.lab.pages.samples import blobs, flipped, labelled, moons
from pellucid.lab.trace import Trace

METHODS = {
    "regions by k": (parts.by_k, "the regions as k grows"),
    "one query": (parts.by_neighbour, "the neighbours of one query, nearest first"),
    "Voronoi cells": (parts.by_row, "the cells of one nearest neighbour, as rows arrive"),
}
VOTED = ("regions by k", "one query")
CODE = """from pellucid import KNeighborsClassifier
model = KNeighborsClassifier({k}, weights={weights!r}, metric={metric!r}).fit(X, y)
objective = float((model.predict(X) != y).mean())  # share of training rows that are wrong
"""


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """Fit KNeighborsClassifier for every step and write down what it does."""
    assert data is not None
    space = parts.make_space(data, params, seed)
    steps, title = METHODS[params["method"]]
    made = steps(space, params)
    k, weights, metric = made.model.n_neighbors, made.model.weights, params["metric"]
    objective = "share of training rows that are wrong"
    fit = CODE.format(k=k, weights=weights, metric=metric)
    code = rows_code(data, space.noise_code) + space.scale_code + fit
    words = (f"Nearest neighbours: {title}", objective, verdict(made, params), code)
    shown, card = told(data, "classes", made.panels), made.model.card().to_dict()
    return Trace("KNeighborsClassifier", params, shown, card, tuple(made.frames), *words)


def verdict(made: Any, params: dict[str, Any]) -> str:
    """A sentence for the end."""
    if params["method"] == "Voronoi cells":
        return (
            "Every row has its own cell, so the training error is 0 and says nothing; "
            f"on held-out rows the error is {number(made.held_out[-1])}."
        )
    best = int(np.argmin(made.held_out))
    words = (
        f"On held-out rows k = {made.ks[best]} has the least error, {number(made.held_out[best])}; "
        f"k = {made.ks[-1]} has {number(made.held_out[-1])}."
    )
    if params["noise"]:
        words += f" The farthest row is only {number(made.contrast)} times as far as the nearest."
    return words


def uneven(rng: Rng) -> LabData:
    """The class depends on x2, from 0 to 1; x1 runs to a thousand and says nothing."""
    n = 90
    X = np.column_stack([1000.0 * rng.uniform(size=n), rng.uniform(size=n)])
    y = X[:, 1] + 0.08 * rng.normal(size=n) > 0.5
    return labelled(X, y, ("weight in grams", "height in metres"))


def wrong(rng: Rng) -> LabData:
    """Two clouds with a fifth of the training labels wrong."""
    return flipped(blobs(rng), 0.2, rng)


SUMMARY = """
Keep the rows; a new one gets the label of most of the rows around it. The distance decides who is
near.
"""
CONTROLS = (
    choice("method", "What to watch", METHODS),
    counter("k", "Neighbours k at most", 25, 2, 60, method=VOTED),
    choice(
        "weights",
        "Weights of the votes",
        ("uniform", "distance"),
        method=VOTED,
    ),
    choice("metric", "Distance", ("euclidean", "manhattan", "chebyshev")),
    switch("standardise", "Standardise the columns"),
    counter("noise", "Columns of noise added", 0, 0, 50),
    slider("query_x", "Query, from left to right", 0.55, 0.0, 1.0, 0.01),
    slider("query_y", "Query, from bottom to top", 0.5, 0.0, 1.0, 0.01),
)
PRESETS = read_presets(
    """
Two moons | Small k follows every row, large k forgets the shape.
One query | The circle grows until it holds k rows; each of them has a vote.
Voronoi cells | With one neighbour a row owns all places nearer to it than to any other row.
! Unscaled axis | x1 is in grams, x2 in metres: a gram counts as much as a metre, so distance is x1
    alone and the column that matters is not seen. Standardise the columns to repair it.
! 50 columns of noise | Fifty columns that say nothing drown the two that do: all rows become about
    equally far away, and the nearest is near by chance.
! Wrong labels | A fifth of the training labels are wrong. Each wrong row owns its whole cell, and
    every new row that falls into it is wrong too.
Standardised columns | Grams and metres again, each divided by its deviation.
""",
    given(moons),
    given(moons, method="one query", k=15),
    given(blobs, method="Voronoi cells"),
    given(uneven, method="regions by k", k=15),
    given(moons, method="one query", noise=50, k=25),
    given(wrong, method="Voronoi cells"),
    given(uneven, method="regions by k", k=15, standardise=True),
)
PAGE = make_page("neighbours", "classes", run, SUMMARY, CONTROLS, PRESETS)
