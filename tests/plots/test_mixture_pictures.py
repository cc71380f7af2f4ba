"""Pictures of mixtures: densities, ellipses, rounds and bounds by their definitions."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.integrate import trapezoid
from scipy.stats import multivariate_normal, norm, poisson

from pellucid import GaussianMixture, GradientGaussianMixture, KMeans, Mixture, plots
from pellucid.mixture import BernoulliComponent, PoissonComponent

TRUE = GaussianMixture.from_parameters(
    [0.5, 0.3, 0.2],
    [[0, 0], [4, 1], [1, 4.5]],
    [[[1, 0.6], [0.6, 1]], [[0.5, 0], [0, 1.5]], [[1, -0.3], [-0.3, 0.4]]],
)
TRUE_LINE = GaussianMixture.from_parameters(
    [0.6, 0.4], [[0.0], [4.0]], [1.0, 1.5], covariance_type="spherical"
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def plane():
    return pd.DataFrame(TRUE.sample(150, random_state=1)[0], columns=["income", "age"])


@pytest.fixture(scope="module")
def fitted(plane):
    """Three random starts, of which the best was kept."""
    model = GaussianMixture(
        3, init_params="random", n_init=3, tol=1e-5, reg_covar=0, random_state=1, max_iter=300
    )
    return model.fit(plane)


REPEATED = set()


def drawn(picture):
    """It draws on its own axes, gives the same SVG twice and has words."""
    found = picture.plot()
    assert isinstance(found, Axes | Figure)
    assert len(picture.alt) > 30
    assert picture.alt.endswith(".")
    if type(picture) in REPEATED:
        (found if isinstance(found, Figure) else found.figure).draw_without_rendering()
    else:
        REPEATED.add(type(picture))
        assert plots.svg(picture) == plots.svg(picture)
    return found


def texts(found):
    figure = found if isinstance(found, Figure) else found.figure
    return " | ".join(text.get_text() for text in figure.findobj(Text))


# --- densities and ellipses ---------------------------------------------------------------------


def test_density_of_one_column_is_the_sum_of_weighted_normals():
    x = TRUE_LINE.sample(200, random_state=0)[0]
    picture = plots.mixture_density(TRUE_LINE, x, truth=TRUE_LINE)
    g = picture.grid
    assert np.allclose(picture.components[0], 0.6 * norm.pdf(g, 0, 1))
    assert np.allclose(picture.components[1], 0.4 * norm.pdf(g, 4, np.sqrt(1.5)))
    assert np.allclose(picture.total, picture.components.sum(axis=0))
    assert np.allclose(picture.truth, picture.total)
    assert np.array_equal(picture.labels, TRUE_LINE.predict(x))
    assert "weight 0.60" in texts(drawn(picture))
    named = GaussianMixture(2, random_state=0).fit(pd.DataFrame(x, columns=["size"]))
    known = plots.mixture_density(named, x, truth=named)  # arrays for a model that has names
    assert np.allclose(known.truth, known.total)
    assert known.name == "size"
    by_function = plots.mixture_density(TRUE_LINE, x, truth=lambda t: norm.pdf(t, 1, 2))
    assert np.allclose(by_function.truth, norm.pdf(g, 1, 2))


def test_density_of_a_column_of_several_is_the_marginal(plane):
    picture = plots.mixture_density(TRUE, plane, column="age")
    g = picture.grid
    marginal = 0.5 * norm.pdf(g, 0, 1) + 0.3 * norm.pdf(g, 1, np.sqrt(1.5))
    marginal += 0.2 * norm.pdf(g, 4.5, np.sqrt(0.4))
    assert np.allclose(picture.total, marginal)
    assert abs(trapezoid(picture.total, g) - 1) < 0.02
    assert "marginal" in picture.note
    assert "age" in texts(drawn(picture)).split(" | ")


def test_density_of_counts_stands_on_whole_numbers():
    rng = np.random.default_rng(0)
    x = rng.poisson(np.where(rng.random(200) < 0.5, 2, 9))[:, None].astype(float)
    parts = [PoissonComponent([1.0]), PoissonComponent([5.0])]
    model = Mixture(parts, random_state=0).fit(x)
    picture = plots.mixture_density(model, x)
    assert np.array_equal(picture.grid, np.arange(picture.grid[0], picture.grid[-1] + 1))
    rates = [np.ravel(c.rates)[0] for c in model.components_]
    expected = sum(
        w * poisson.pmf(picture.grid, r) for w, r in zip(model.weights_, rates, strict=True)
    )
    assert np.allclose(picture.total, expected)
    assert "probability" in texts(drawn(picture))


@pytest.mark.parametrize("structure", ["full", "tied", "diag", "spherical", "tied_spherical"])
def test_contours_have_the_ellipses_of_the_components(plane, structure):
    model = GaussianMixture(2, covariance_type=structure, random_state=0).fit(plane)
    picture = plots.mixture_contours(model, plane, truth=TRUE)
    places = np.stack(np.meshgrid(*picture.lines), axis=-1).reshape(-1, 2)
    density = np.exp(model.score_samples(pd.DataFrame(places, columns=plane.columns)))
    assert np.allclose(picture.density.ravel(), density)
    total = sum(
        w * multivariate_normal(m, S).pdf(places)
        for w, m, S in zip(picture.weights, picture.means, picture.covariances, strict=True)
    )
    assert np.allclose(picture.density.ravel(), total)
    assert np.allclose(picture.responsibilities, model.predict_proba(plane))
    assert np.allclose(picture.true_means, TRUE.means_)
    drawn(picture)


def test_contours_of_many_columns_are_the_marginal_in_the_plane(plane):
    rng = np.random.default_rng(2)
    X = np.hstack([plane.to_numpy(), rng.normal(size=(150, 2))])
    model = GaussianMixture(2, random_state=0).fit(X)
    picture = plots.mixture_contours(model, X)
    Z = model.sample(20_000, random_state=0)[0] - X.mean(axis=0)
    V = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:2]
    V = V * np.sign(V[np.arange(2), np.abs(V).argmax(axis=1)])[:, None]
    mean = picture.weights @ picture.means
    assert np.allclose((Z @ V.T).mean(axis=0), mean, atol=0.08)
    inside = picture.covariances + np.einsum("ki,kj->kij", picture.means, picture.means)
    total = np.einsum("k,kij->ij", picture.weights, inside) - np.outer(mean, mean)
    assert np.allclose(np.cov((Z @ V.T).T), total, atol=0.2)
    assert np.allclose(picture.responsibilities, model.predict_proba(X))  # of the whole rows
    assert "marginal" in picture.note
    named = plots.mixture_contours(model, X, columns=[3, 1])
    assert np.allclose(named.means, model.means_[:, [3, 1]])
    with pytest.raises(ValueError, match="mixture_density"):
        plots.mixture_contours(TRUE_LINE, [[0.0], [1.0]])
    with pytest.raises(ValueError, match="needs a fitted mixture"):
        plots.mixture_contours(KMeans(2, random_state=0).fit(X), X)
    bits = Mixture([BernoulliComponent([0.2, 0.8]), BernoulliComponent([0.8, 0.2])])
    with pytest.raises(ValueError, match="Gaussian mixture"):
        plots.mixture_contours(bits.fit(np.round(rng.random((30, 2)))), np.eye(2))


# --- rounds -------------------------------------------------------------------------------------


def test_em_steps_are_the_rounds_of_the_fit(plane, fitted):
    picture = plots.em_steps(fitted, plane, at=(0, 3, 6, -1), truth=TRUE)
    assert picture.rounds.tolist() == [0, 3, 6, fitted.n_iter_]
    assert np.allclose(picture.log_likelihood, fitted.history_["log_likelihood"][picture.rounds])
    assert np.allclose(picture.pictures[-1].means, fitted.means_)
    assert np.allclose(picture.pictures[0].true_means, TRUE.means_)
    assert "start" in texts(drawn(picture))


def test_em_steps_of_one_column_and_one_start(tmp_path):
    x = TRUE_LINE.sample(120, random_state=0)[0]
    model = GaussianMixture(2, random_state=0, init_params="random", tol=1e-6).fit(x)
    picture = plots.em_steps(model, x, at=(0, 2, 10_000), truth=TRUE_LINE)
    assert picture.rounds[-1] == model.n_iter_  # beyond the end is the end
    assert np.allclose(picture.pictures[0].truth, np.exp(TRUE_LINE.score_samples(
        picture.pictures[0].grid[:, None])))  # fmt: skip
    drawn(picture)
    assert picture.animate(tmp_path / "em.gif").stat().st_size > 0
    climb = GradientGaussianMixture(2, random_state=0, max_iter=100, learning_rate=0.1).fit(x)
    steps = plots.em_steps(climb, x, at=(0, 5))
    assert np.allclose(steps.log_likelihood, climb.history_["log_likelihood"][[0, 5]])


@pytest.mark.parametrize("n_init", [1, 3])
def test_rounds_of_any_mixture(n_init):
    rng = np.random.default_rng(0)
    x = rng.poisson(np.where(rng.random(200) < 0.5, 2, 9))[:, None].astype(float)
    parts = [PoissonComponent([1.0]), PoissonComponent([5.0])]
    model = Mixture(parts, n_init=n_init, random_state=0).fit(x)
    value = model.history_["log_likelihood"]
    picture = plots.em_bound(model, x)
    assert (value[:-1] <= picture.bound + 1e-8).all()
    assert (picture.bound <= value[1:] + 1e-8).all()
    steps = plots.em_steps(model, x, at=(0, 1, -1))
    assert np.allclose(steps.log_likelihood, value[[0, 1, -1]])


def test_rounds_need_the_same_rows_and_seed(plane, fitted):
    with pytest.raises(ValueError, match="fixed random_state"):
        plots.em_steps(fitted, plane[:100])
    with pytest.raises(ValueError, match="at must hold"):
        plots.em_steps(fitted, plane, at=(0, -3))
    with pytest.raises(ValueError, match="history_"):
        plots.em_steps(TRUE, plane)


def test_bound_lies_between_the_likelihoods_of_two_rounds(plane, fitted):
    picture = plots.em_bound(fitted, plane)
    value = picture.log_likelihood
    assert np.allclose(value, fitted.history_["log_likelihood"])
    assert (value[:-1] <= picture.bound + 1e-8).all()  # the M step raises the bound from l
    assert (picture.bound <= value[1:] + 1e-8).all()  # and it is a bound
    assert picture.rises
    assert "never falls" in texts(drawn(picture))
    short = plots.em_bound(fitted, plane, most=4)
    assert len(short.log_likelihood) == 5
    assert len(short.bound) == 4
    alone = plots.em_bound(fitted)
    assert alone.bound is None
    drawn(alone)


def test_hardening_ends_in_the_assignments_of_k_means(plane, fitted):
    picture = plots.hardening(fitted, plane)
    assert (np.diff(picture.eps) < 0).all()
    assert picture.nearest[-1] == 1
    assert picture.mean[-1] > 0.99
    e = picture.eps[8]
    d = ((plane.to_numpy()[:, None] - fitted.means_) ** 2).sum(axis=2)
    r = fitted.weights_ * np.exp(-(d - d.min(axis=1, keepdims=True)) / (2 * e))
    assert np.allclose(picture.largest[8], (r / r.sum(axis=1, keepdims=True)).max(axis=1))
    drawn(picture)
    with pytest.raises(ValueError, match="positive"):
        plots.hardening(fitted, plane, eps=[1.0, 0.0])
