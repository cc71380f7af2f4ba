"""Naive Bayes, Bayes' rule, conjugate updates, Laplace's approximation, Metropolis.

What breaks them: a count of zero, a posterior with two peaks, parameters that go together.
"""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.drawing import rows_code, told
from pellucid.lab.page import LabData, given, make_page, read_presets
from pellucid.lab.pages.bayes.conjugate import conjugate
from pellucid.lab.pages.bayes.counts import counted
from pellucid.lab.pages.bayes.rows import gaussian, make_rows
from pellucid.lab.pages.bayes.targets import TARGETS
from pellucid.lab.pages.bayes.walks import laplace, metropolis
from pellucid.lab.pages.samples import blobs, labelled
from pellucid.lab.trace import Trace

TELL = {
    "Gaussian naive Bayes": gaussian,
    "Bayes rule on counts": counted,
    "conjugate updates": conjugate,
    "Laplace approximation": laplace,
    "Metropolis": metropolis,
}
METHODS = tuple(TELL)
NAIVE, WALKS = METHODS[:2], METHODS[3:]


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """Tell the method that was chosen."""
    assert data is not None
    rows = make_rows(data, params)
    method = params["method"]
    story = TELL[method](rows, params, seed)
    data_told, code = told(data, "classes", story.panels), rows_code(data, story.between)
    frames, end = tuple(story.frames), (method, story.objective, story.verdict, code + story.code)
    return Trace(story.algorithm, params, data_told, story.card, frames, *end)


def gap(rng: Rng) -> LabData:
    """Class 1 was never seen with a small x1, however large its x2 is."""
    n = 70
    y = np.arange(n) % 2
    x1 = np.where(y == 1, rng.uniform(3.0, 10.0, n), rng.uniform(0.0, 10.0, n))
    x2 = np.where(y == 1, rng.uniform(5.0, 10.0, n), 10.0 * rng.beta(1.3, 2.0, n))
    return labelled(np.column_stack([x1, x2]), y)


def two_groups(rng: Rng) -> LabData:
    """Two clouds side by side, few rows."""
    return blobs(rng, 30, ((0, 0), (3.2, 0.8)), 0.7)


def near(rng: Rng) -> LabData:
    """Two clouds that overlap."""
    return blobs(rng, 60, ((0, 0), (1.4, 1.0)), 0.9)


def far_off(rng: Rng) -> LabData:
    """x2 follows a line in x1, and x1 is far from 0."""
    x = rng.uniform(8.0, 11.0, size=40)
    z = 2.0 + 0.6 * x + 0.5 * rng.normal(size=40)
    return labelled(np.column_stack([x, z]), z > 2.0 + 0.6 * x)


def diagonal(rng: Rng) -> LabData:
    """Two long clouds side by side, both along the diagonal."""
    z, y = rng.normal(size=80), np.arange(80) % 2
    X = np.column_stack([z, z]) + 0.25 * rng.normal(size=(80, 2)) + np.outer(y - 0.5, [0.9, -0.9])
    return labelled(X, y)


SUMMARY = """
Start from a belief, multiply by what the rows say, divide by the total. Where that cannot be
written down, a normal density or a random walk stands in.
"""
CONTROLS = (
    choice("method", "Method", METHODS),
    slider("query_x", "Query, from left to right", 0.45, 0.0, 1.0, 0.01, method=NAIVE),
    slider("query_y", "Query, from bottom to top", 0.6, 0.0, 1.0, 0.01, method=NAIVE),
    counter("ranges", "Ranges of each column", 4, 2, 8, method=METHODS[1]),
    slider("alpha", "Pseudo-counts α (Laplace: 1)", 1.0, 0.0, 5.0, 0.25, method=METHODS[1]),
    slider("prior_a", "Prior a", 1.0, 0.5, 30.0, 0.5, method=METHODS[2]),
    slider("prior_b", "Prior b", 1.0, 0.5, 30.0, 0.5, method=METHODS[2]),
    choice("target", "Posterior of", TARGETS, method=WALKS),
    slider("step", "Step of the walk", 1.0, 0.02, 5.0, log=True, method=METHODS[4]),
    counter("draws", "Moves", 400, 20, 2000, 20, method=METHODS[4]),
)
PRESETS = read_presets(
    """
Gaussian naive Bayes | Each class has a normal density for each column; their product with the prior
    is the posterior.
Bayes' rule | Columns in ranges: the prior, then one piece of evidence after the other. α = 1 is
    Laplace's smoothing.
Conjugate updates | The share of class 1: a Beta belief that narrows with every row.
Laplace's approximation | Newton climbs to the peak of the posterior of a boundary; the curvature
    there gives a normal density.
Metropolis and boundaries | A walk over the posterior; every draw is a boundary, and together they
    show how sure it is.
! Zero count | Class 1 was never seen with x1 this small. Without pseudo-counts one empty cell makes
    its posterior 0, although x2 speaks clearly for it. α = 1 keeps it in play.
! Bimodal: Laplace | Exchanging the two means changes nothing, so the posterior has two peaks. The
    normal density sits on one of them and does not know of the other.
! Bimodal: Metropolis | Small steps never cross the valley between the two peaks: the chain looks
    settled and has seen half of the posterior.
! Correlated target | x1 is far from 0, so intercept and slope can hardly be told apart: the
    posterior is a thin ridge. Round steps either leave it and are refused or creep along it.
! Columns that go together | Inside a class the columns move together, and the classes differ across
    that direction. A product of one density per column cannot say so.
! A stubborn prior | The prior is worth 31 rows and nearly sure of class 1. The 56 rows say
    otherwise and move it only part of the way.
One imaginary row | The same query with α = 1: an imaginary row of each class in every range.
""",
    given(blobs),
    given(blobs, method=METHODS[1]),
    given(blobs, method=METHODS[2], prior_a=2.0, prior_b=6.0),
    given(near, method=METHODS[3]),
    given(near, method=METHODS[4]),
    given(gap, method=METHODS[1], alpha=0.0, query_x=0.17, query_y=0.85),
    given(two_groups, method=METHODS[3], target="two means"),
    given(two_groups, method=METHODS[4], target="two means", step=0.35),
    given(far_off, method=METHODS[4], target="line"),
    given(diagonal),
    given(blobs, method=METHODS[2], prior_a=30.0, prior_b=1.0),
    given(gap, method=METHODS[1], alpha=1.0, query_x=0.17, query_y=0.85),
)
PAGE = make_page("bayes", "classes", run, SUMMARY, CONTROLS, PRESETS)
