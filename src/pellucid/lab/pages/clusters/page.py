"""Clusters: k-means, mixtures, hierarchies, density and spectra on the same rows."""

import warnings
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Rng
from pellucid.data.generators import make_moons, make_rings
from pellucid.lab.controls import choice, counter, slider
from pellucid.lab.page import LabData, given, hold_out, make_page, read_presets
from pellucid.lab.pages.clusters.graphs import density_trace, spectral_trace
from pellucid.lab.pages.clusters.mixture import mixture_trace
from pellucid.lab.pages.clusters.parts import kmeans_trace
from pellucid.lab.pages.clusters.trees import tree_trace
from pellucid.lab.pages.clusters.visits import visits_trace
from pellucid.lab.trace import Trace

METHODS = {
    "k-means": kmeans_trace,
    "mixture": mixture_trace,
    "agglomerative": tree_trace,
    "divisive": tree_trace,
    "density": density_trace,
    "spectral": spectral_trace,
    "visits": visits_trace,
}


def run(data: LabData | None, params: dict[str, Any], seed: int) -> Trace:
    """The trace of the chosen method."""
    assert data is not None
    with warnings.catch_warnings(action="ignore"):  # the verdict says what went wrong
        return METHODS[params["method"]](data, params, seed)


def _table(X: Any) -> LabData:
    X = np.round(X, 3) + 0.0
    return LabData(X, None, hold_out(len(X), 0))


def blobs(rng: Rng) -> LabData:
    centers = np.repeat([[0.0, 0.0], [4.0, 0.6], [2.0, 3.4]], 20, axis=0)
    return _table(centers + 0.75 * rng.normal(size=(60, 2)))


def far_blobs(rng: Rng) -> LabData:
    centers = np.repeat([[0.0, 0.0], [5.0, 4.4], [5.6, 5.6]], 20, axis=0)
    return _table(centers + 0.3 * rng.normal(size=(60, 2)))


def ellipses(rng: Rng) -> LabData:
    z = rng.normal(size=(60, 2))
    one = z[:30] @ np.array([[1.6, 1.0], [0.0, 0.35]])
    two = z[30:] @ np.array([[0.3, -0.4], [0.0, 0.7]]) + [2.4, -0.6]
    return _table(np.vstack([one, two]))


def moons(rng: Rng) -> LabData:
    X, _ = make_moons(54, noise=0.07, random_state=np.random.RandomState(rng.integers(2**31)))
    return _table(np.vstack([X, [[-1.2, -0.6], [2.2, 1.0], [0.5, 1.4], [-0.9, 1.2]]]))


def rings(rng: Rng) -> LabData:
    random = np.random.RandomState(rng.integers(2**31))
    return _table(make_rings(60, radii=(0.6, 2.4), noise=0.14, random_state=random)[0])


def unequal(rng: Rng) -> LabData:
    wide = rng.normal(size=(48, 2)) * [1.5, 1.5]
    small = rng.normal(size=(7, 2)) * 0.18 + [4.2, 0.3]
    return _table(np.vstack([wide, small]))


COUNTED = tuple(
    name for name in METHODS if name not in ("density", "visits")
)  # these are told how many
LINKAGES = ("single", "average", "complete", "ward")
SUMMARY = """
Five ideas of a group: near a centre, likely under a component, merged before others, densely
connected, cut off in a graph. The same rows can have a different answer in each.
"""
CONTROLS = (
    choice("method", "Method", METHODS),
    counter("k", "Clusters", 3, 1, 8, method=COUNTED),
    choice("start", "Start", ("k-means++", "one corner"), method=("k-means", "mixture")),
    choice("covariance", "Shape of components", ("full", "tied", "spherical"), method="mixture"),
    choice("linkage", "Distance of clusters", LINKAGES, "average", method="agglomerative"),
    slider("eps", "Radius ε", 0.3, 0.01, 10.0, 0.01, log=True, method="density"),
    counter("min_rows", "Rows that make a core", 4, 1, 20, method=("density", "visits")),
    slider("xi", "Steepness ξ of a valley's sides", 0.05, 0.01, 0.9, 0.01, method="visits"),
    counter("neighbours", "Neighbours in the graph", 5, 2, 30, method="spectral"),
)
PRESETS = read_presets(
    """
k-means | Three round groups of one size: what k-means is made for.
Mixture by EM | Two long groups that touch: rows have shares in both, and every round lifts the
    log-likelihood.
Hierarchy | The nearest two clusters merge, again and again; the cut comes last.
Splitting | One cluster is split at its widest, then the widest of the parts.
Density | Core rows within ε of each other belong together; rows in thin places are noise.
Spectral | Two rings: near in the graph, not near a centre.
! Break it: bad start | All centres start in one corner. Two of them share the group there, one is
    left with the two others, and no row or centre wants to move: a local optimum. Several starts,
    or k-means++, avoid it.
! Break it: rings | k-means can only part the plane by straight lines between centres. Rings have
    the same centre, so it cuts both in half.
! Break it: unequal sizes | A wide group of 48 rows beside a small one of 7: cutting the wide one in
    two saves more squared distance than keeping the small one apart. A mixture lets groups have
    sizes and widths.
! Break it: components in one corner | All means start in one corner. The likelihood still climbs
    with every round, but by closing a component in on a few rows: those held out become ever less
    likely.
! Break it: single linkage | Two moons and four stray rows. Single linkage joins what is nearest, so
    a stray row is the last to be joined: the cut takes it for a cluster.
! Break it: splitting rings | The widest cluster is split by distance from its splinter: two rings
    are cut across, as by a ruler.
! Break it: two densities | A wide thin group beside a small dense one. An ε that suits the small
    one leaves the wide one as noise, and a larger one would join the two.
! Break it: too many neighbours | With 30 neighbours each the graph joins the rings: cutting between
    them is no longer cheap.
A better start | The rows of the bad start. k-means++ draws each next centre far from those before.
Means far apart | The rows of the corner, and means that k-means++ put far apart.
Complete linkage | The moons and the strays, joined by their farthest rows.
A walk | Three groups, visited from dense to thin: three valleys.
Two densities at once | The wide thin group beside the small dense one that no ε suits: each has its
    valley.
! Sides too steep | With ξ = 0.4 no side inside is steep enough: all rows are one valley.
! A core of three | With cores of three rows the smallest accident is a valley.
""",
    given(blobs),
    given(ellipses, method="mixture", k=2),
    given(blobs, method="agglomerative"),
    given(blobs, method="divisive", k=5),
    given(moons, method="density", eps=0.31),
    given(rings, method="spectral", k=2),
    given(far_blobs, start="one corner"),
    given(rings, k=2),
    given(unequal, k=2),
    given(far_blobs, method="mixture", start="one corner"),
    given(moons, method="agglomerative", linkage="single", k=2),
    given(rings, method="divisive", k=2),
    given(unequal, method="density", eps=0.45),
    given(rings, method="spectral", k=2, neighbours=30),
    given(far_blobs),
    given(far_blobs, method="mixture"),
    given(moons, method="agglomerative", linkage="complete", k=2),
    given(blobs, method="visits", min_rows=6),
    given(unequal, method="visits", min_rows=5, xi=0.15),
    given(blobs, method="visits", min_rows=6, xi=0.4),
    given(blobs, method="visits", min_rows=3),
)
PAGE = make_page("clusters", "points", run, SUMMARY, CONTROLS, PRESETS)
