"""Pictures of algebra, calculus, probability and beliefs: the numbers against their definitions."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.testing import assert_allclose
from scipy.special import betaln
from sklearn.pipeline import make_pipeline

from pellucid import GraphicalLasso, LedoitWolf, StandardScaler, plots
from pellucid.inference import (
    Bernoulli,
    Beta,
    BetaBernoulli,
    Binomial,
    DirichletCategorical,
    Exponential,
    Gamma,
    GammaPoisson,
    MultivariateNormal,
    Normal,
    NormalInverseGamma,
    NormalMean,
    Poisson,
    StudentT,
    Uniform,
    study_estimator,
)
from pellucid.maths import AffineSubspace, Quadratic

UNIT = ((-1, 1), (-1, 1))


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


REPEATED = set()  # kinds whose SVG was already compared with a second one: drawing is slow


def drawn(picture, *said):
    """It draws, has words, gives the same SVG twice, and the texts given are on it."""
    found = picture.plot()
    assert isinstance(found, Axes | Figure)
    assert len(picture.alt) > 30
    assert picture.alt.endswith(".")
    figure = getattr(found, "figure", found)
    texts = " ".join(t.get_text() for t in figure.findobj(Text)).replace("\n", " ")
    for word in said:
        assert word in texts, f"{word!r} is not in the picture"
    plt.close(figure)
    if type(picture) not in REPEATED:
        REPEATED.add(type(picture))
        assert plots.svg(picture) == plots.svg(picture)


def cubic(x):
    return x[0] ** 3 - 3 * x[0] + x[1] ** 2


# --- algebra ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["svd", "spectral"])
def test_matrix_action_ends_in_the_image_of_the_circle(kind):
    A = np.array([[2.0, 1.0], [1.0, -1.0]])
    picture = plots.matrix_action(A, kind=kind)
    circle, turned, stretched, image = picture.curves
    assert_allclose(image, circle @ A.T, atol=1e-12)
    assert_allclose(np.linalg.norm(turned, axis=1), 1.0)
    assert_allclose(stretched, turned * picture.values, atol=1e-12)
    assert_allclose(picture.arrows[1], np.eye(2), atol=1e-12)  # the right vectors on the axes
    drawn(picture, "the unit circle", "stretched by the")


def test_matrix_action_refuses_other_shapes():
    with pytest.raises(ValueError, match="2 x 2"):
        plots.matrix_action(np.eye(3))
    with pytest.raises(ValueError, match="kind"):
        plots.matrix_action(np.eye(2), kind="lu")


def test_low_rank_errors_are_those_of_the_matrices():
    A = np.random.default_rng(0).normal(size=(9, 6))
    picture = plots.low_rank(A, [1, 3, 6])
    for k, image in zip(picture.ranks, picture.images, strict=True):
        assert np.linalg.matrix_rank(image) == k
        gap = np.linalg.norm(A - image) / np.linalg.norm(A)
        assert_allclose(picture.error[k], gap, atol=1e-12)
    assert (np.diff(picture.error) < 0).all()
    assert_allclose(picture.storage[0], (9 + 6 + 1) / 54)
    drawn(picture, "9 x 6", "rank 3")
    assert plots.low_rank(pd.DataFrame(A)).ranks == (1, 4, 6)
    with pytest.raises(ValueError, match="ranks from 0 to 6"):
        plots.low_rank(A, 7)
    with pytest.raises(ValueError, match="not all of them zero"):
        plots.low_rank(np.zeros((2, 2)))


def test_projection_has_a_right_angle():
    for x, B, point in (
        ([1.0, 2.0], [2.0, 1.0], [0.0, -1.0]),
        ([1.0, 2.0, 3.0], [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], None),
        ([1.0, 2.0, 3.0], [1.0, 1.0, 0.0], None),
    ):
        picture = plots.projection(x, B, point)
        assert_allclose((picture.x - picture.foot) @ np.asarray(B), 0, atol=1e-12)
        assert_allclose(picture.distance, np.linalg.norm(picture.x - picture.foot))
        assert picture.linear == (point is None)
        drawn(picture, "foot: the nearest point", "residual")
    line = plots.projection([1.0, 2.0], AffineSubspace([1.0, 0.0], [0.0, 1.0]))
    assert_allclose(line.foot, [1.0, 1.0])
    with pytest.raises(ValueError, match="dimension 2 in 2"):
        plots.projection([1.0, 2.0], np.eye(2))
    with pytest.raises(ValueError, match="flat axes"):
        line.plot(plt.figure().add_subplot(projection="3d"))


def test_ellipse_is_the_level_set():
    A, c, m = np.array([[3.0, 1.0], [1.0, 3.0]]), 4.0, np.array([1.0, -2.0])
    picture = plots.ellipse(A, c, center=m)
    gap = picture.curves[2] - m
    assert_allclose(np.einsum("ni,ij,nj->n", gap, A, gap), c)
    assert_allclose(picture.radii, np.sqrt(c / np.array([2.0, 4.0])))
    drawn(picture, "unit circle", "turned to the eigenvectors")
    with pytest.raises(ValueError, match="positive definite"):
        plots.ellipse([[1.0, 0.0], [0.0, -1.0]])
    with pytest.raises(ValueError, match="2 x 2"):
        plots.ellipse(np.eye(3))


# --- calculus -----------------------------------------------------------------------------------


def test_contours_find_the_critical_points_and_the_slope():
    picture = plots.contours(cubic, ((-2, 2), (-2, 2)), point=(0.5, 1.0), direction=(3, -4))
    found = {p.kind: (p.x, p.y, p.value) for p in picture.critical}
    assert_allclose(found["local minimum"], (1.0, 0.0, -2.0), atol=1e-6)
    assert_allclose(found["saddle point"], (-1.0, 0.0, 2.0), atol=1e-6)
    for (x, y), g in zip(picture.at[::9], picture.gradients[::9], strict=True):
        assert_allclose(g, [3 * x**2 - 3, 2 * y], atol=1e-6)
    gradient = np.array([3 * 0.25 - 3, 2.0])
    assert_allclose(picture.slope, gradient @ [0.6, -0.8], atol=1e-6)
    assert_allclose(picture.field.z[5, 7], cubic([picture.field.x[7], picture.field.y[5]]))
    drawn(picture, "local minimum", "saddle point", "direction", "slope -2.95")


def test_contours_mark_maxima_and_refuse_nonsense():
    hill = plots.contours(lambda x: -(x @ x), UNIT)
    assert [p.kind for p in hill.critical] == ["local maximum"]
    drawn(plots.contours(lambda x: 3.0, UNIT))
    drawn(plots.contours(lambda x: x[0], UNIT))
    with pytest.raises(ValueError, match="go together"):
        plots.contours(cubic, UNIT, point=(0, 0))
    with pytest.raises(ValueError, match="box must be"):
        plots.contours(cubic, ((1, 0), (0, 1)))
    with pytest.raises(ValueError, match="finite in the whole box"):
        plots.contours(lambda x: float("nan"), UNIT)
    with pytest.raises(TypeError, match="function of a vector"):
        plots.contours(3, UNIT)


@pytest.mark.parametrize(
    ("A", "b", "shape"),
    [
        ([[2, 0], [0, 1]], None, "bowl"),
        ([[-2, 0], [0, -1]], None, "dome"),
        ([[1, 0], [0, -1]], None, "saddle"),
        ([[1, 1], [1, 1]], None, "valley"),
        ([[-1, 0], [0, 0]], None, "ridge"),
        ([[1, 0], [0, 0]], [0.0, 1.0], "sloping valley"),
        ([[0, 0], [0, 0]], [1.0, 1.0], "slope"),
        ([[0, 0], [0, 0]], None, "plane"),
    ],
)
def test_surface_names_the_shape_of_a_quadratic(A, b, shape):
    picture = plots.surface(Quadratic(A, b), UNIT)
    assert picture.shape == shape
    if shape in ("bowl", "saddle", "slope"):
        drawn(picture, shape.capitalize())
    if shape == "valley":
        drawn(picture, "Valley: a line of minima")


def test_surface_needs_three_dimensions():
    picture = plots.surface(cubic, ((-2, 2), (-2, 2)))
    assert picture.shape == ""
    assert {p.kind for p in picture.critical} == {"local minimum", "saddle point"}
    with pytest.raises(ValueError, match="projection='3d'"):
        picture.plot(plt.figure().add_subplot())


def test_taylor_polynomials_close_in():
    picture = plots.taylor("exp", (1, 3, 6), span=(-1, 1))
    for order, values in picture.polynomials:
        exact = sum(picture.x**k / float(np.prod(range(1, k + 1))) for k in range(order + 1))
        assert_allclose(values, exact, atol=1e-12)
    gaps = [np.abs(values - picture.f).max() for _, values in picture.polynomials]
    assert gaps[0] > gaps[1] > gaps[2]
    drawn(picture, "order 6", "exp")
    assert plots.taylor("log1p").radius == 1.0
    drawn(plots.taylor(lambda x: x**2, 2, x0=1.0), "order 2")
    with pytest.raises(ValueError, match="give span="):
        plots.taylor("log1p", span=(-2, 1))
    with pytest.raises(ValueError, match="low, high"):
        plots.taylor("exp", span=(1, 1))


def test_convexity_compares_graph_and_chord():
    picture = plots.convexity(lambda x: x**4 - x**2, 1.0, -1.0)
    assert picture.holds  # one chord refutes nothing: this one only touches the graph
    assert_allclose(picture.chord, 0.0, atol=1e-12)
    assert_allclose(picture.ends[:, 0], [-1.0, 1.0])
    assert not plots.convexity(lambda x: x**4 - x**2, -1.0, 0.9).holds
    drawn(plots.convexity(lambda x: x**4 - x**2, -1.0, 0.9), "rises above this chord")
    bowl = plots.convexity(lambda x: x @ x, [1.0, 0.0], [0.0, 2.0])
    assert_allclose(bowl.graph - bowl.chord, -bowl.t * (1 - bowl.t) * 5.0, atol=1e-12)
    drawn(bowl, "share of the way")
    line = plots.convexity(lambda x: 3 * x, 0.0, 1.0)
    assert line.holds  # equality is allowed


def test_convexity_of_sets():
    def ring(x):
        return bool(1 <= x @ x <= 4)

    assert not plots.convexity(ring, [1.5, 0.0], [-1.5, 0.0]).holds
    drawn(plots.convexity(ring, [1.5, 0.0], [-1.5, 0.0]), "leaves the set")
    assert plots.convexity(lambda x: bool(x @ x < 4), [1.5, 0.0], [-1.5, 0.0]).holds
    with pytest.raises(ValueError, match="both points must be in the set"):
        plots.convexity(ring, [0.0, 0.0], [1.5, 0.0])
    with pytest.raises(ValueError, match="two different points"):
        plots.convexity(ring, 1.0, 1.0)


# --- probability --------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [Normal(1.0, 2.0), Gamma(2.0, 1.0), Beta(0.5, 0.5), Uniform(0, 2)])
def test_distribution_of_continuous_laws(law):
    picture = plots.distribution(law)
    assert_allclose(picture.density, law.density(picture.x))
    slope = np.diff(picture.cdf) / np.diff(picture.x)
    middle = law.density((picture.x[1:] + picture.x[:-1]) / 2)
    assert_allclose(slope[5:-5], middle[5:-5], rtol=0.02, atol=1e-3)
    assert picture.mean == pytest.approx(law.mean)
    assert picture.std == pytest.approx(np.sqrt(law.variance))
    assert_allclose(law.cdf(np.array(picture.interval)), [0.025, 0.975])


def test_distribution_of_whole_numbers_and_heavy_tails():
    picture = plots.distribution(Poisson(3.0))
    assert picture.discrete
    assert picture.density.sum() > 0.998
    assert_allclose(np.cumsum(picture.density), picture.cdf - picture.cdf[0] + picture.density[0])
    drawn(picture, "mean 3", "probability")
    drawn(plots.distribution(Bernoulli(0.3)), "Bernoulli(p = 0.3)")
    cauchy = plots.distribution(StudentT(1.0))
    assert (cauchy.mean, cauchy.std) == (None, None)
    drawn(cauchy, "mode 0")
    with pytest.raises(TypeError, match="distribution of one number"):
        plots.distribution(MultivariateNormal([0.0, 0.0], np.eye(2)))


def test_gaussian_ellipses_hold_their_share():
    mean, cov = np.array([1.0, 2.0]), np.array([[2.0, 1.2], [1.2, 1.0]])
    picture = plots.gaussian(mean, cov)
    draws = np.random.default_rng(0).multivariate_normal(mean, cov, 20_000) - mean
    distance = np.einsum("ni,ij,nj->n", draws, np.linalg.inv(cov), draws)
    for level, curve in zip(picture.levels, picture.curves, strict=True):
        gap = curve - mean
        radius = np.einsum("ni,ij,nj->n", gap, np.linalg.inv(cov), gap)
        assert_allclose(radius, radius[0])
        assert (distance < radius[0]).mean() == pytest.approx(level, abs=0.01)
    assert_allclose(picture.axes @ picture.axes.T, cov, atol=1e-12)
    drawn(picture, "holds 90%", "correlation 0.849")
    drawn(plots.gaussian(MultivariateNormal(mean, cov), surface=True), "density")


def test_gaussian_on_a_line_and_refusals():
    drawn(plots.gaussian([0.0, 0.0], np.ones((2, 2))), "correlation 1")
    with pytest.raises(ValueError, match="no density surface"):
        plots.gaussian([0.0, 0.0], np.ones((2, 2)), surface=True)
    with pytest.raises(ValueError, match="two dimensions, got 3"):
        plots.gaussian(np.zeros(3), np.eye(3))
    with pytest.raises(ValueError, match="give a mean and a cov"):
        plots.gaussian([0.0, 0.0])
    with pytest.raises(ValueError, match="one point"):
        plots.gaussian([0.0, 0.0], np.zeros((2, 2)))


def test_likelihood_names_the_likelier():
    x = pd.Series([1.1, 0.3, 2.2, 1.9, 0.8])
    picture = plots.likelihood(x, {"near": Normal(1.0, 1.0), "far": Normal(4.0, 1.0)})
    assert_allclose(picture.log_likelihood, np.log(picture.at).sum(axis=1))
    exact = -0.5 * ((x - 1.0) ** 2).sum() - 2.5 * np.log(2 * np.pi)
    assert picture.log_likelihood[0] == pytest.approx(exact)
    assert picture.best == "near"
    drawn(picture, "5 outcomes are likelier under near")
    counts = plots.likelihood([1, 2, 2, 5], [Poisson(2.0), Poisson(6.0)])
    assert (counts.discrete, counts.best) == (True, "1: Poisson")
    drawn(counts, "probability")
    with pytest.raises(ValueError, match="all discrete or all continuous"):
        plots.likelihood([1.0], [Poisson(2.0), Normal(0.0, 1.0)])
    with pytest.raises(ValueError, match="at least one distribution"):
        plots.likelihood([1.0], {})


def test_hypercube_edge_is_the_root_of_the_share():
    picture = plots.hypercube_edge([0.01, 0.1], [1, 10])
    assert_allclose(picture.edge ** np.array([[1], [10]]), [[0.01, 0.1]] * 2)
    drawn(picture, "p = 10", "share of the data")
    with pytest.raises(ValueError, match="fractions"):
        plots.hypercube_edge([0.0])
    with pytest.raises(ValueError, match="dimensions >= 1"):
        plots.hypercube_edge(p=[0])


def test_limit_theorems_stay_below_their_bounds():
    picture = plots.limit_theorems(Uniform(0.0, 1.0), (1, 10, 100), repeats=1000)
    found = picture.found
    assert (found.frequency <= np.minimum(found.chebyshev, 1) + 0.02).all()
    assert (found.frequency <= np.minimum(found.hoeffding, 1) + 0.02).all()
    for values in picture.standardised:
        assert values.mean() == pytest.approx(0, abs=0.12)
        assert values.std() == pytest.approx(1, abs=0.08)
    drawn(picture, "Hoeffding", "normal", "n = 100")
    unbounded = plots.limit_theorems(Exponential(1.0), (4,), repeats=200)
    assert unbounded.found.hoeffding is None
    with pytest.raises(ValueError, match="a mean and a variance"):
        plots.limit_theorems(StudentT(1.5), (4,), repeats=50)


def test_estimator_error_adds_up_and_draws_the_bound():
    study = study_estimator(
        np.mean, Normal(0.0, 2.0), 0.0, n=(5, 50), repeats=2000, bound="mean", random_state=0
    )
    picture = plots.estimator_error(study)
    assert_allclose(picture.mse, picture.squared_bias + picture.variance)
    assert_allclose(picture.bound, [4 / 5, 4 / 50])
    drawn(picture, "Cramér-Rao bound", "no bias found, consistent")
    biased = study_estimator(np.var, Normal(0.0, 2.0), 4.0, n=(5, 50), random_state=0)
    assert plots.estimator_error(biased).bound is None
    drawn(plots.estimator_error(biased), "biased, consistent")
    with pytest.raises(TypeError, match="study_estimator"):
        plots.estimator_error(3)


# --- beliefs ------------------------------------------------------------------------------------


def test_posterior_update_of_a_coin():
    data = [1, 0, 1, 1, 1, 0, 1, 1]
    picture = plots.posterior_update(BetaBernoulli(2.0, 2.0), data, at=[3, 8])
    assert picture.seen == (0, 3, 8)
    (part,) = picture.parts
    for row, (a, b) in zip(part.densities, [(2, 2), (4, 3), (8, 4)], strict=True):
        exact = np.exp((a - 1) * np.log(part.grid) + (b - 1) * np.log1p(-part.grid) - betaln(a, b))
        assert_allclose(row, exact, rtol=1e-9)
    ratio = part.likelihood / (part.grid**6 * (1 - part.grid) ** 2)
    assert_allclose(ratio, ratio[0], rtol=1e-9)
    assert_allclose(np.trapezoid(part.likelihood, part.grid), 1.0)
    assert picture.predictive[-1].mean == pytest.approx(8 / 12)
    drawn(picture, "prior", "likelihood, scaled", "n = 8", "probability of success")


def test_posterior_update_sharpens_for_every_belief():
    rng = np.random.default_rng(0)
    normal = rng.normal(1.5, 1.0, 60)
    labels = rng.choice(["a", "b", "c"], 60)
    for prior, data, names in (
        (NormalMean(1.0, 0.0, 4.0), normal, ["mean"]),
        (NormalInverseGamma(), pd.Series(normal), ["mean", "variance"]),
        (GammaPoisson(), rng.poisson(3.0, 60), ["rate"]),
        (DirichletCategorical(1.0, ["a", "b", "c"]), labels,
         ["probability of a", "probability of b", "probability of c"]),
    ):  # fmt: skip
        picture = plots.posterior_update(prior, data)
        assert [part.name for part in picture.parts] == names
        assert picture.seen == (0, 1, 5, 25, 60)
        for part in picture.parts:
            peaks = part.densities.max(axis=1)
            assert peaks[-1] > peaks[2]
            assert_allclose(np.trapezoid(part.densities[-1], part.grid), 1.0, atol=0.02)
        drawn(picture, names[0], "n = 60")


def test_posterior_update_refuses_nonsense():
    with pytest.raises(TypeError, match="must be a belief"):
        plots.posterior_update(Binomial(3, 0.5), [1])
    with pytest.raises(ValueError, match="at least one observation"):
        plots.posterior_update(BetaBernoulli(), [])
    with pytest.raises(ValueError, match="at must rise"):
        plots.posterior_update(BetaBernoulli(), [1, 0], at=[2, 1])


def test_a_dependence_graph_has_the_cells_of_the_inverse_and_the_names_of_the_columns():
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(400, 4)).cumsum(axis=1) * [1.0, 1.0, 1.0, -1.0]
    frame = pd.DataFrame(steps, columns=["mon", "tue", "wed", "thu"])
    scaler = StandardScaler().set_output(transform="pandas")
    for model in (
        make_pipeline(scaler, GraphicalLasso(0.05)).fit(frame),
        make_pipeline(StandardScaler(), GraphicalLasso(0.05)).fit(frame),
    ):
        picture = plots.dependence_graph(model)
        T = model[-1].precision_
        expected = -T / np.sqrt(np.outer(np.diag(T), np.diag(T)))
        np.fill_diagonal(expected, 0.0)
        assert_allclose(picture.partial, expected)
        assert picture.names == ("mon", "tue", "wed", "thu")
        edges = int((np.triu(T, 1) != 0).sum())
        assert picture.title.startswith(f"{edges} of 6 pairs")
    drawn(
        picture, "mon", "rise together", "one falls as the other rises", "pairs of columns depend"
    )
    alone = plots.dependence_graph(GraphicalLasso(2.0, covariance="precomputed").fit(np.eye(3)))
    assert (
        alone.alt
        == "Graph of 3 columns: 0 of 3 pairs of columns depend on each other given the rest."
    )
    drawn(alone, "0 of 3 pairs")
    with pytest.raises(
        ValueError, match="needs an estimator with get_precision, got StandardScaler"
    ):
        plots.dependence_graph(StandardScaler().fit(frame))
    with pytest.raises(ValueError, match="2 to 60 columns, got 61"):
        plots.dependence_graph(LedoitWolf().fit(rng.normal(size=(80, 61))))
