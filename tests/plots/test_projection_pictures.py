"""Pictures of projections: axes, spectra, scores, reconstructions and the story of PPCA."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from sklearn.pipeline import make_pipeline

from pellucid import PCA, KernelPCA, KMeans, ProbabilisticPCA, TruncatedSVD, plots
from pellucid.decomposition import subspace_stability
from pellucid.features import StandardScaler

COLUMNS = ["height", "weight", "age", "income"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4)) * [3.0, 1.0, 1.0, 0.5] + [1, 2, 3, 4]
    return pd.DataFrame(A, columns=COLUMNS)


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


# --- axes, feet and residuals -------------------------------------------------------------------


@pytest.mark.parametrize("whiten", [False, True])
def test_feet_are_orthogonal_projections(data, whiten):
    X = data[["height", "weight"]]
    model = PCA(2, whiten=whiten).fit(X)
    picture = plots.principal_axes(model, X)
    v = model.components_[0]
    C = X.to_numpy() - X.to_numpy().mean(axis=0)
    assert np.allclose(picture.feet - model.mean_, np.outer(C @ v, v))
    assert np.allclose((picture.at - picture.feet) @ v, 0, atol=1e-10)  # right angles
    assert np.isclose(picture.residual, ((picture.at - picture.feet) ** 2).sum() / 80)
    assert np.isclose(picture.share, model.explained_variance_ratio_[0])
    scale = np.sqrt(79 / 80)  # arrows are standard deviations of the scores
    assert np.allclose(np.linalg.norm(picture.arrows, axis=1),
                       scale * np.sqrt(model.explained_variance_))  # fmt: skip
    assert "height" in texts(drawn(picture)).split(" | ")


def test_axes_of_many_columns_lie_on_the_page_axes(data):
    model = PCA(3).fit(data)
    picture = plots.principal_axes(model, data)
    assert np.allclose(picture.feet[:, 1], 0, atol=1e-9)  # the first page axis is the direction
    assert np.allclose(picture.feet[:, 0], picture.at[:, 0])
    assert np.isclose(picture.share, model.explained_variance_ratio_[0])
    two = plots.principal_axes(model, data, n_components=2, columns=("age", "income"))
    assert np.isclose(two.share, model.explained_variance_ratio_[:2].sum())
    assert two.names == ("age", "income")
    drawn(two)
    with pytest.raises(ValueError, match="n_components must be at most 3"):
        plots.principal_axes(model, data, n_components=4)
    with pytest.raises(ValueError, match="at least two columns"):
        plots.principal_axes(PCA(1).fit(data[["age"]]), data[["age"]])
    with pytest.raises(ValueError, match="inverse_transform"):
        plots.principal_axes(KMeans(2, random_state=0).fit(data), data)


def test_feet_of_ppca_are_shrunken(data):
    model = ProbabilisticPCA(1).fit(data)
    picture = plots.principal_axes(model, data)
    plain = plots.principal_axes(PCA(1).fit(data), data)
    spread = [np.ptp(p.feet[:, 0]) for p in (picture, plain)]
    values = model.eigenvalues_
    assert np.isclose(spread[0] / spread[1], 1 - model.noise_variance_ / values[0])


# --- spectra ------------------------------------------------------------------------------------


def test_scree_of_pca(data):
    model = PCA(2).fit(data)
    picture = plots.scree(model)
    values = np.linalg.eigvalsh(np.cov(data.to_numpy().T))[::-1]
    assert np.allclose(picture.eigenvalues, values)
    assert np.allclose(picture.cumulative, np.cumsum(values) / values.sum())
    assert np.allclose(picture.residual, [values[k:].sum() for k in range(5)])
    assert np.isclose(79 * picture.residual[2], model.reconstruction_error_)
    assert np.allclose(picture.intervals, model.eigenvalue_intervals())
    assert "2 of 4 directions" in texts(drawn(picture))
    line = make_pipeline(StandardScaler(), PCA(1)).fit(data)
    assert np.isclose(plots.scree(line).eigenvalues.sum(), 4 * 80 / 79)


def test_scree_of_leading_parts_and_others(data):
    wide = np.random.default_rng(0).normal(size=(60, 40))
    part = PCA(3, svd_solver="randomized", random_state=0).fit(wide)
    picture = plots.scree(part)
    assert np.isclose(picture.total, wide.var(axis=0, ddof=1).sum())  # not of the leading part
    assert picture.cumulative[-1] < 0.5
    drawn(plots.scree(PCA(5).fit(wide)))
    assert plots.scree(ProbabilisticPCA(2).fit(data)).n_components == 2
    svd = TruncatedSVD(2, random_state=0).fit(data)
    assert np.allclose(plots.scree(svd).cumulative, np.cumsum(svd.explained_variance_ratio_))
    kernel = plots.scree(KernelPCA(2, kernel="rbf").fit(data))
    assert kernel.whole == "what the fit found"
    assert "what the fit found" in texts(drawn(kernel))
    with pytest.raises(ValueError, match="no eigenvalues_"):
        plots.scree(KMeans(2, random_state=0).fit(data))


# --- maps and rebuilt rows ----------------------------------------------------------------------


def test_scores_with_loadings(data):
    model = PCA(3).fit(data)
    y = pd.Series(["a", "b"] * 40, name="kind")
    picture = plots.scores(model, data, y, components=(0, 2))
    assert np.allclose(picture.at, model.transform(data)[:, [0, 2]])
    assert np.allclose(picture.loadings, model.loadings_[:, [0, 2]])
    Z = picture.at  # loadings are correlations of columns and scores
    for j, column in enumerate(picture.columns):
        assert np.isclose(picture.loadings[j, 0], np.corrcoef(data[column], Z[:, 0])[0, 1])
    ends = picture.factor * picture.loadings
    assert (np.abs(ends) <= np.abs(Z).max(axis=0)).all()
    shown = texts(drawn(picture))
    assert "kind" in shown
    assert "income" in shown
    number = plots.scores(model, data, data["age"])
    assert np.array_equal(number.values, data["age"])
    assert number.target == "age"
    drawn(number)


def test_scores_without_loadings_in_pipelines_and_of_many_columns(data):
    kernel = plots.scores(KernelPCA(2, kernel="rbf").fit(data), data)
    assert kernel.loadings is None
    drawn(kernel)
    line = make_pipeline(StandardScaler(), PCA(2)).fit(data)
    assert plots.scores(line, data).columns == tuple(COLUMNS)
    wide = np.random.default_rng(0).normal(size=(30, 40))
    picture = plots.scores(PCA(2).fit(wide), wide)
    assert len(picture.columns) == 12
    lengths = (PCA(2).fit(wide).loadings_ ** 2).sum(axis=1)
    assert set(picture.columns) == {f"x{j}" for j in np.argsort(-lengths)[:12]}
    with pytest.raises(ValueError, match="two different positions"):
        plots.scores(PCA(2).fit(data), data, components=(0, 2))


def test_reconstructions_from_best_to_worst(data):
    model = PCA(2).fit(data)
    picture = plots.reconstructions(model, data)
    assert (np.diff(picture.errors) >= 0).all()
    errors = model.reconstruction_errors(data)
    assert np.isclose(picture.errors[0], errors.min())
    assert np.isclose(picture.errors[-1], errors.max())
    assert np.allclose(
        picture.rebuilt, model.inverse_transform(model.transform(data))[picture.rows]
    )
    assert "height" in texts(drawn(picture))
    assert isinstance(plots.reconstructions(model, data, rows=[3]).plot(), Axes)
    svd = TruncatedSVD(2, random_state=0).fit(data)
    assert np.allclose(plots.reconstructions(svd, data, rows=[1]).rebuilt, svd.reconstruct(data)[1])
    with pytest.raises(ValueError, match="cannot rebuild"):
        plots.reconstructions(KMeans(2, random_state=0).fit(data), data)


def test_reconstructed_images():
    images = np.random.default_rng(0).random((20, 12))
    picture = plots.reconstructions(PCA(11).fit(images), images, (3, 4), most=5)
    assert picture.original.shape == (5, 3, 4)
    everything = plots.reconstructions(PCA().fit(images), images, (3, 4))
    assert np.allclose(everything.original, everything.rebuilt)
    drawn(picture)
    with pytest.raises(ValueError, match="no images of shape"):
        plots.reconstructions(PCA(2).fit(images), images, (5, 5))


# --- stories ------------------------------------------------------------------------------------


def test_ppca_story_parts_add_up(data):
    X = data[["height", "weight"]]
    model = ProbabilisticPCA(1).fit(X)
    picture = plots.ppca_story(model, X, z=[-1.5])
    W = model.loadings_
    assert np.allclose(picture.place, model.mean_ - 1.5 * W[:, 0])
    assert np.allclose(picture.noise, model.noise_variance_ * np.eye(2))
    assert np.allclose(picture.directions.T @ picture.directions + picture.noise,
                       picture.covariance)  # fmt: skip
    assert np.allclose(picture.covariance, model.covariance_)
    assert "pancake" in texts(drawn(picture))


def test_ppca_story_of_many_columns_without_rows(data):
    model = ProbabilisticPCA(2).fit(data)
    picture = plots.ppca_story(model)
    assert np.allclose(picture.noise, model.noise_variance_ * np.eye(2))  # a ball from every side
    assert np.allclose(picture.directions.T @ picture.directions + picture.noise,
                       picture.covariance)  # fmt: skip
    drawn(picture)
    named = plots.ppca_story(model, data, columns=("age", "income"))
    assert np.allclose(named.covariance, model.covariance_[2:, 2:])
    with pytest.raises(ValueError, match="z must hold 2 numbers"):
        plots.ppca_story(model, z=[1.0])
    with pytest.raises(ValueError, match="ProbabilisticPCA"):
        plots.ppca_story(PCA(1).fit(data))


def test_subspace_angles(data):
    found = subspace_stability(data, 2, n_resamples=40, random_state=0)
    picture = plots.subspace_angles(found)
    assert np.isclose(picture.median, np.median(found.angles))
    assert (found.angles <= picture.upper).mean() >= 0.95 - 1 / 40
    assert picture.intervals.shape == (2, 2)
    drawn(picture)
    round_cloud = np.random.default_rng(0).normal(size=(50, 3))
    loose = plots.subspace_angles(subspace_stability(round_cloud, 1, random_state=0))
    assert "unsteady" in loose.title
    with pytest.raises(ValueError, match="subspace_stability"):
        plots.subspace_angles([1.0])
