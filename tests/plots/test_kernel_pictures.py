"""Pictures of kernels and support vector machines: numbers by the definitions, and they draw."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from sklearn.pipeline import make_pipeline

from pellucid import (
    SVC,
    SVR,
    GaussianNB,
    LinearSVC,
    MaximumMarginClassifier,
    MultipleKernelClassifier,
    plots,
)
from pellucid.data import load_iris, make_moons, make_rings
from pellucid.features import StandardScaler
from pellucid.kernel import GaussianKernel, PolynomialKernel, WeisfeilerLehmanKernel
from pellucid.kernel import gram as gram_matrix

CORNERS = [[0, 0], [1, 0], [0, 1], [2, 2], [3, 2], [3, 3]]


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
    M, c = make_moons(80, noise=0.25, random_state=0)
    return pd.DataFrame(M, columns=["width", "height"]), np.where(c == 1, "low", "high")


# --- margins --------------------------------------------------------------------------------------


def test_svm_margin_of_example_19():
    y = [0, 0, 0, 1, 1, 1]
    model = MaximumMarginClassifier().fit(CORNERS, y)
    picture = plots.svm_margin(model, CORNERS, y)
    assert np.isclose(picture.width, 2 * 1.0606601718)
    assert picture.categories == ("outside", *["on_margin"] * 3, "outside", "outside")
    assert np.allclose(picture.slack, 0, atol=1e-6)
    i, j = 30, 100
    place = [picture.lines[0][j], picture.lines[1][i]]
    assert np.isclose(picture.scores[i, j], np.dot(place, [2 / 3, 2 / 3]) - 5 / 3)
    drawn(picture)
    stems = plots.multipliers(model)
    assert np.array_equal(stems.rows, [1, 2, 3])
    assert np.allclose(stems.values, [2 / 9, 2 / 9, 4 / 9])
    assert np.isinf(stems.C)
    drawn(stems)


def test_svm_margin_slacks_end_on_the_gutter(moons):
    X, y = moons
    model = SVC(C=1, kernel="linear", tol=1e-6).fit(X, y)
    picture = plots.svm_margin(model, X, y)
    sign = 2.0 * picture.codes - 1
    feet = pd.DataFrame(picture.feet, columns=X.columns)
    assert np.allclose(model.decision_function(feet), sign)
    assert np.allclose(picture.slack, model.slack_, atol=1e-5)
    length = np.linalg.norm(picture.feet - picture.at, axis=1)[picture.slack > 1e-3]
    half = picture.width / 2  # a slack is a distance in units of half the margin's width
    assert np.allclose(length, picture.slack[picture.slack > 1e-3] * half, atol=1e-5)
    assert picture.counts["misclassified"] == (picture.slack > 1).sum()
    assert "width" in drawn(picture)


def test_svm_margin_of_curves_pipelines_other_rows_and_one_column(moons):
    X, y = moons
    curved = plots.svm_margin(SVC(C=3).fit(X, y), X, y)
    assert np.isnan(curved.feet).all()
    drawn(curved)
    line = make_pipeline(StandardScaler(), LinearSVC()).fit(X, y)
    drawn(plots.svm_margin(line, X, y))
    model = SVC(C=1.0, kernel="linear").fit(X[:60], y[:60])
    other = plots.svm_margin(model, X[60:], y[60:])
    f = model.decision_function(X[60:]) * (2.0 * (y[60:] == "low") - 1)
    assert other.counts["misclassified"] == (f < 0).sum()
    x = [[0.0], [1], [2], [3]]  # example 20
    flat = plots.svm_margin(SVC(C=0.1, kernel="linear").fit(x, [0, 0, 1, 1]), x, [0, 0, 1, 1])
    assert set(flat.categories) == {"inside"}
    drawn(flat)
    iris, species = load_iris()
    with pytest.raises(ValueError, match="two classes, got 3"):
        plots.svm_margin(SVC().fit(iris, species), iris, species)
    with pytest.raises(ValueError, match="two classes, got 3"):
        plots.multipliers(SVC().fit(iris, species))
    with pytest.raises(ValueError, match="got GaussianNB"):
        plots.multipliers(GaussianNB().fit(X, y))


def test_multipliers_of_a_regression_have_signs(moons):
    X, _ = moons
    model = SVR().fit(X, X["width"] ** 2)
    picture = plots.multipliers(model)
    assert np.array_equal(picture.rows, np.sort(model.support_))
    assert abs(picture.values.sum()) < 1e-6
    assert set(picture.categories) <= {"on_tube", "outside_tube"}
    drawn(picture)


# --- lifts and Gram matrices ----------------------------------------------------------------------


def test_feature_lift_of_rings():
    X, y = make_rings(100, radii=(1, 3), random_state=0)
    picture = plots.feature_lift(X, y, lambda A: (A**2).sum(axis=1))
    assert picture.separated
    assert np.allclose(picture.lifted[:, 2], (picture.at**2).sum(axis=1))
    i, j = 20, 90
    x = np.array([picture.lines[0][j], picture.lines[1][i]])
    f = np.append(x, x @ x) @ picture.coef + picture.intercept
    assert np.isclose(picture.scores[i, j], f)  # the shadow is where the plane is
    side = np.sign(picture.lifted @ picture.coef + picture.intercept)
    assert np.array_equal(side, 2.0 * picture.codes - 1)
    drawn(picture)
    poly = plots.feature_lift(X, y, PolynomialKernel(2, coef0=0.0))
    assert poly.lifted.shape == (100, 3)
    assert poly.separated
    drawn(poly)


def test_feature_lift_of_a_line_and_of_what_cannot_be_separated(moons):
    X, y = moons
    x = np.linspace(-3, 3, 13)[:, None]
    flat = plots.feature_lift(x, np.abs(x[:, 0]) > 1.4, lambda A: A[:, 0] ** 2)
    assert flat.separated
    assert flat.lifted.shape == (13, 2)
    drawn(flat)
    noisy = plots.feature_lift(X, y, lambda A: A[:, 0] * A[:, 1])
    assert noisy.wrong > 0
    assert noisy.heights[:2] == ("width", "height")
    with pytest.raises(ValueError, match="to 3 numbers per row, got 6"):
        plots.feature_lift(X, y, PolynomialKernel(2))
    with pytest.raises(ValueError, match="one or two inputs, got 4"):
        plots.feature_lift(load_iris()[0], [0, 1] * 75, lambda A: A[:, 0])


def test_gram_is_sorted_by_class(moons):
    X, y = moons
    kernel = GaussianKernel(0.5)
    picture = plots.gram(kernel, y, X=X)
    K = gram_matrix(kernel, X)
    assert np.allclose(picture.K, K[np.ix_(picture.order, picture.order)])
    assert (np.diff(picture.codes) >= 0).all()
    same = y[:, None] == y
    assert np.isclose(picture.within, K[same & ~np.eye(80, dtype=bool)].mean())
    assert np.isclose(picture.between, K[~same].mean())
    assert np.isclose(picture.eigenvalues.sum(), np.trace(K))
    assert "high" in drawn(picture)
    bad = plots.gram(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert not bad.valid
    assert np.allclose(bad.eigenvalues, [3, -1])
    drawn(bad)
    with pytest.raises(ValueError, match="needs the rows X"):
        plots.gram(kernel)


# --- graphs and several kernels -------------------------------------------------------------------


def graph(n, *edges):
    A = np.zeros((n, n), int)
    for i, j in edges:
        A[i, j] = A[j, i] = 1
    return A


def test_graph_labels_of_example_23():
    path = graph(4, (0, 1), (1, 2), (2, 3))
    star = graph(4, (0, 1), (0, 2), (0, 3))
    picture = plots.graph_labels((path, star), h=1)
    assert picture.differ == 1
    assert picture.isomorphic is False
    K = WeisfeilerLehmanKernel(n_iter=1)([path, star])
    counts = [np.concatenate([np.bincount(r, minlength=8) for r in p]) for p in picture.labels]
    assert np.allclose(K, [[a @ b for b in counts] for a in counts])
    drawn(picture)
    ring = graph(6, *[(i, (i + 1) % 6) for i in range(6)])
    two = graph(6, (0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3))
    fooled = plots.graph_labels((ring, two), h=3)
    assert fooled.differ is None
    assert fooled.isomorphic is False
    assert "possibly isomorphic" in drawn(fooled)
    order = np.array([2, 0, 3, 1])
    same = plots.graph_labels((path, path[np.ix_(order, order)]))
    assert same.isomorphic
    for r in range(3):
        assert np.array_equal(same.labels[0][r][order], same.labels[1][r])
    one = plots.graph_labels(path, labels=["a", "a", "b", "a"])
    assert one.labels[0][0].tolist() == [0, 0, 1, 0]
    drawn(one)
    gaps = np.linalg.norm(one.places[0][1:] - one.places[0][:-1], axis=1)
    assert np.allclose(gaps, 1, atol=0.05)  # neighbours of a path stand one apart
    with pytest.raises(ValueError, match="at most 60 nodes"):
        plots.graph_labels(np.zeros((61, 61)))


def test_kernel_weights_of_example_24():
    rng = np.random.RandomState(0)
    A = rng.randn(40, 3)
    y = np.sign(A[:, 0] + 0.3 * rng.randn(40))
    kernels = [GaussianKernel(1).on([j]) for j in range(3)]
    model = MultipleKernelClassifier(kernels).fit(A, y)
    picture = plots.kernel_weights(model)
    assert np.allclose(picture.weights, [0.979, 0, 0.021], atol=2e-3)
    assert np.allclose(picture.history[-1], picture.weights)
    assert np.allclose(picture.history.sum(axis=1), 1)
    assert "GaussianKernel(sigma=1) on 2" in drawn(picture)
    with pytest.raises(ValueError, match=r"one name per kernel \(3\), got 1"):
        plots.kernel_weights(model, names=["a"])
    with pytest.raises(ValueError, match="needs MultipleKernelClassifier"):
        plots.kernel_weights(GaussianNB().fit(A, y))
