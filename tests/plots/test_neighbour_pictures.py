"""Pictures of nearest neighbours: the numbers drawn are those of the definitions."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.spatial.distance import cdist
from scipy.stats import norm
from sklearn.pipeline import make_pipeline

from pellucid import (
    CondensedNearestNeighbour,
    EditedNearestNeighbours,
    GaussianNB,
    KernelDensity,
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestPrototypes,
    StandardScaler,
    plots,
)
from pellucid.data import load_iris, make_moons
from pellucid.neighbors import LSHIndex


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


REPEATED = set()  # kinds whose SVG was already compared with a second one: drawing is slow


def drawn(picture):
    """It draws on its own axes, gives the same SVG twice and has words; the texts drawn."""
    found = picture.plot()
    assert isinstance(found, Axes | Figure)
    assert len(picture.alt) > 30
    assert picture.alt.endswith(".")
    figure = found if isinstance(found, Figure) else found.figure
    if type(picture) in REPEATED:
        figure.draw_without_rendering()
    else:
        REPEATED.add(type(picture))
        assert plots.svg(picture) == plots.svg(picture)
    return " | ".join(text.get_text() for text in figure.findobj(Text))


@pytest.fixture(scope="module")
def moons():
    M, c = make_moons(150, noise=0.25, random_state=0)
    return pd.DataFrame(M, columns=["width", "height"]), np.where(c == 1, "low", "high")


# --- cells ----------------------------------------------------------------------------------------


def inside(polygon, place):
    """Whether a place lies in a convex polygon whose corners go counter-clockwise."""
    side, to = np.roll(polygon, -1, axis=0) - polygon, place - polygon
    return bool((side[:, 0] * to[:, 1] - side[:, 1] * to[:, 0] >= -1e-9).all())


def test_voronoi_cells_hold_the_nearest_places(moons):
    X, y = moons
    picture = plots.voronoi(X[:30], y[:30])
    cells = picture.cells[0]
    rng = np.random.default_rng(0)
    low, high = np.array(cells.bounds).reshape(2, 2).T
    for place in rng.uniform(low, high, (50, 2)):
        nearest = int(cdist([place], cells.points).argmin())
        assert inside(cells.polygons[nearest], place)
    assert picture.classes == ("high", "low")
    assert "width" in drawn(picture)


def test_voronoi_of_several_metrics_many_columns_and_no_classes(moons):
    X, y = moons
    picture = plots.voronoi(X[:12], y[:12], ["euclidean", "manhattan"])
    raster, bounds = picture.cells[1].raster, picture.cells[1].bounds
    m = len(raster)
    x = bounds[0] + (np.arange(m) + 0.5) * (bounds[1] - bounds[0]) / m
    h = bounds[2] + (np.arange(m) + 0.5) * (bounds[3] - bounds[2]) / m
    places = np.stack(np.meshgrid(x[::9], h[::9]), axis=-1).reshape(-1, 2)
    nearest = cdist(places, picture.cells[1].points, "cityblock").argmin(axis=1)
    assert (raster[::9, ::9].ravel() == nearest).mean() > 0.97  # pixels on an edge may differ
    drawn(picture)
    iris, _ = load_iris()
    wide = plots.voronoi(iris)
    assert "principal axes" in wide.note
    drawn(plots.voronoi(iris, columns=[0, 1]))
    with pytest.raises(ValueError, match="needs two columns, got 1"):
        plots.voronoi(X[["width"]])


# --- one query ------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 2])
def test_neighbour_query_is_the_vote_of_the_model(moons, p):
    X, y = moons
    model = KNeighborsClassifier(7, weights="distance", p=p).fit(X, y)
    picture = plots.neighbour_query(model, [0.5, 0.3])
    D = cdist([[0.5, 0.3]], X, "minkowski", p=p)[0]
    order = np.argsort(D, kind="stable")[:7]
    assert np.array_equal(picture.indices, order)
    assert np.allclose(picture.weights, 1 / D[order])
    for k, label in enumerate(picture.classes):
        assert np.isclose(picture.totals[k], (1 / D[order])[y[order] == label].sum())
    at = pd.DataFrame([[0.5, 0.3]], columns=X.columns)
    assert picture.answer == model.predict(at)[0]
    i, j = 17, 40  # the reach is the distance of the metric
    place = np.array([picture.lines[0][j], picture.lines[1][i]])
    assert np.isclose(picture.reach[i, j], cdist([place], [[0.5, 0.3]], "minkowski", p=p)[0, 0])
    assert "height" in drawn(picture)


def test_neighbour_query_of_numbers_one_column_and_many(moons):
    X, _ = moons
    model = KNeighborsRegressor(5, weights="distance").fit(X, X["width"] ** 2)
    picture = plots.neighbour_query(model, [0.5, 0.3])
    weighted = picture.weights @ picture.votes / picture.weights.sum()
    assert np.isclose(picture.answer, weighted)
    drawn(picture)
    flat = KNeighborsClassifier(3).fit([[0.0], [1], [2], [5]], list("aabb"))
    assert plots.neighbour_query(flat, [1.6]).answer == "a"
    drawn(plots.neighbour_query(flat, [1.6]))
    iris, species = load_iris()
    many = plots.neighbour_query(KNeighborsClassifier().fit(iris, species), iris.row(60))
    assert "all 4 inputs" in many.note
    assert many.lines == ()
    drawn(many)
    with pytest.raises(ValueError, match="one row of 4 numbers, got 2"):
        plots.neighbour_query(KNeighborsClassifier().fit(iris, species), [1.0, 2.0])
    with pytest.raises(ValueError, match="got GaussianNB"):
        plots.neighbour_query(GaussianNB().fit(iris, species), iris.row(0))


def test_regions_by_k_and_left_out_errors(moons):
    X, y = moons
    picture = plots.regions_by_k(KNeighborsClassifier(), X, y, ks=(1, 9))
    for k in (1, 9):
        model = KNeighborsClassifier(k).fit(X, y)
        left_out = np.mean(model.predict(None) != y)
        assert np.isclose(picture.errors[picture.n_neighbors == k][0], left_out)
    assert picture.regions.errors[0] == 0.0  # k = 1 learns the rows by heart
    assert picture.one_standard_error >= picture.best
    assert "k = 9" in drawn(picture)
    with pytest.raises(ValueError, match="below the number of rows"):
        plots.regions_by_k(KNeighborsClassifier(), X, y, ks=(150,))
    with pytest.raises(ValueError, match="n_neighbors, got GaussianNB"):
        plots.regions_by_k(GaussianNB(), X, y)


# --- smaller training sets, hashing ---------------------------------------------------------------


def test_prototypes_kept_dropped_and_made(moons):
    X, y = moons
    condensed = CondensedNearestNeighbour().fit(X, y)
    picture = plots.prototypes(condensed, X, y)
    assert np.array_equal(np.flatnonzero(picture.kept), np.sort(condensed.sample_indices_))
    assert f"dropped ({150 - picture.n_kept})" in drawn(picture)
    edited = EditedNearestNeighbours().fit(X, y)
    dropped = np.flatnonzero(~plots.prototypes(edited, X, y).kept)
    assert np.array_equal(dropped, edited.removed_indices_)
    means = NearestPrototypes().fit(X, y)
    made = plots.prototypes(means, X, y)
    for k, label in enumerate(made.classes):
        mean = X.to_numpy()[y == label].mean(axis=0)
        assert np.allclose(made.prototypes[made.prototype_codes == k][0], mean)
    places = np.stack(np.meshgrid(*made.lines), axis=-1).reshape(-1, 2)
    nearest = cdist(places, made.prototypes).argmin(axis=1)
    assert np.array_equal(made.regions.ravel(), made.prototype_codes[nearest])
    drawn(made)
    one = X[["width"]]
    drawn(plots.prototypes(NearestPrototypes().fit(one, y), one, y))
    with pytest.raises(ValueError, match="got GaussianNB"):
        plots.prototypes(GaussianNB().fit(X, y), X, y)


def test_collision_curve_is_what_random_functions_do():
    picture = plots.collision_curve(LSHIndex(5, 4, family="cosine"))
    p = 1 - np.arccos(picture.x) / np.pi
    assert np.allclose(picture.curves[0], 1 - (1 - p**4) ** 5)
    assert np.isclose(np.interp(picture.middles[0], picture.x, picture.curves[0]), 0.5)
    drawn(picture)
    rng = np.random.default_rng(0)
    for family, draw in (("euclidean", rng.normal), ("manhattan", rng.standard_cauchy)):
        shown = plots.collision_curve(LSHIndex(1, 1, family=family, bucket_width=2.0), n=9)
        a = draw(size=200_000)  # a . (x - y) of two rows at distance d
        b = rng.uniform(0, 2, 200_000)
        same = [np.mean(np.floor((b + d * a) / 2) == 0) for d in shown.x]
        assert np.allclose(shown.curves[0], same, atol=0.005)
    with pytest.raises(ValueError, match="needs a bucket_width"):
        plots.collision_curve(LSHIndex())
    with pytest.raises(ValueError, match="one family"):
        plots.collision_curve([LSHIndex(family="cosine"), LSHIndex(family="jaccard")])


# --- density ----------------------------------------------------------------------------------


def test_a_density_along_one_column_is_that_of_the_model():
    x = pd.DataFrame({"height": np.random.default_rng(0).normal(size=300)})
    model = KernelDensity(bandwidth=0.3).fit(x)
    picture = plots.density_estimate(model, x, truth=norm.pdf)
    places = pd.DataFrame({"height": picture.lines[0]})
    np.testing.assert_allclose(picture.values, np.exp(model.score_samples(places)))
    np.testing.assert_allclose(picture.truth, norm.pdf(picture.lines[0]))
    assert np.trapezoid(picture.values, picture.lines[0]) == pytest.approx(1.0, abs=0.01)
    said = drawn(picture)
    assert "bandwidth 0.3" in said
    assert "height" in said
    assert "truth" in said


def test_lines_of_a_density_hold_the_rows_they_say(moons):
    X = moons[0]
    picture = plots.density_estimate(KernelDensity(bandwidth=0.2).fit(X), X)
    assert [round(float((picture.at_rows > level).mean()), 2) for level in picture.levels] == [
        0.95,
        0.75,
        0.5,
        0.25,
    ]
    assert "lines hold 95, 75, 50, 25 % of the rows" in drawn(picture).replace("\n", " ")
    flat = plots.density_estimate(KernelDensity(kernel="tophat", bandwidth=9.0).fit(X), X)
    assert len(flat.levels) < 4  # every row has the density of all
    drawn(flat)


def test_what_a_density_needs_is_said(moons):
    X, y = moons
    three = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match="one or two columns, got 3"):
        plots.density_estimate(KernelDensity().fit(three), three)
    with pytest.raises(ValueError, match="score_samples of its own columns"):
        plots.density_estimate(KNeighborsClassifier().fit(X, y), X)
    with pytest.raises(ValueError, match="fit it to the columns as they are"):
        plots.density_estimate(make_pipeline(StandardScaler(), KernelDensity()).fit(X), X)
