"""Pictures of clusters: the numbers drawn are those of the definitions, and they draw."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from scipy.cluster.hierarchy import dendrogram as scipy_dendrogram
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score, silhouette_samples
from sklearn.pipeline import make_pipeline

from pellucid import (
    DBSCAN,
    OPTICS,
    AgglomerativeClustering,
    ClusterNumberSearch,
    DivisiveClustering,
    FuzzyCMeans,
    GaussianMixture,
    KMeans,
    KMedoids,
    PossibilisticCMeans,
    plots,
)
from pellucid.cluster import Metric, consensus_matrix
from pellucid.data import make_rings
from pellucid.features import StandardScaler

START = [[0.0, 0.0], [0.5, 0.5], [1.0, 0.0]]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    means = ([0, 0], [4, 1], [1, 4.5])
    A = np.vstack([rng.normal(m, [0.9, 0.7], (30, 2)) for m in means])
    return pd.DataFrame(A, columns=["income", "age"])


REPEATED = set()  # kinds whose SVG was already compared with a second one: drawing is slow


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


# --- k-means and its rounds ---------------------------------------------------------------------


def test_clusters_regions_are_those_of_the_nearest_centre(blobs):
    model = KMeans(3, init=START).fit(blobs)
    picture = plots.clusters(model, blobs)
    assert np.array_equal(picture.labels, model.labels_)
    assert np.allclose(picture.centers, model.cluster_centers_)
    places = np.stack(np.meshgrid(*picture.lines), axis=-1).reshape(-1, 2)
    nearest = cdist(places, model.cluster_centers_).argmin(axis=1)
    assert np.array_equal(picture.regions.ravel(), nearest)
    assert {"income", "age"} <= set(texts(drawn(picture)).split(" | "))


def test_clusters_of_many_columns_stand_at_their_shadows(blobs):
    rng = np.random.default_rng(1)
    X = np.hstack([blobs.to_numpy(), rng.normal(size=(90, 3))])
    model = KMeans(3, n_init=3, random_state=0).fit(X)
    picture = plots.clusters(model, X)
    assert "principal axes" in picture.note
    for k in range(3):  # the shadow of a mean is the mean of the shadows
        assert np.allclose(picture.centers[k], picture.at[picture.labels == k].mean(axis=0))
    named = plots.clusters(model, X, columns=[1, 0])
    assert np.allclose(named.centers, model.cluster_centers_[:, [1, 0]])
    drawn(picture)


@pytest.mark.parametrize(
    "model",
    [AgglomerativeClustering(3), DBSCAN(eps=0.7), KMedoids(3), GaussianMixture(3, random_state=0)],
    ids=["agglomerative", "dbscan", "medoids", "mixture"],
)
def test_clusters_of_any_kind(blobs, model):
    labels = model.fit_predict(blobs)
    picture = plots.clusters(model, blobs)
    assert np.array_equal(picture.labels, labels)
    assert (picture.regions is not None) == hasattr(model, "predict")
    drawn(picture)


def test_clusters_in_a_pipeline_one_column_noise_and_many_groups(blobs):
    line = make_pipeline(StandardScaler(), KMeans(3, random_state=0)).fit(blobs)
    picture = plots.clusters(line, blobs)
    for k in range(3):  # centres are back in the units of X
        mine = blobs.to_numpy()[line[-1].labels_ == k]
        assert np.allclose(picture.centers[k], mine.mean(axis=0))
    x = blobs[["age"]]
    drawn(plots.clusters(KMeans(2, random_state=0).fit(x), x))
    noisy = plots.clusters(DBSCAN(eps=0.3).fit(blobs), blobs)
    assert "in none" in noisy.title
    assert (noisy.labels == -1).any()
    many = plots.clusters(KMeans(20, random_state=0).fit(blobs), blobs)
    assert many.plot().get_legend() is None
    with pytest.raises(ValueError, match="cannot label new rows"):
        plots.clusters(AgglomerativeClustering(3).fit(blobs), blobs[:5])


def test_rounds_of_k_means_and_half_steps(blobs, tmp_path):
    model = KMeans(3, init=START, stop="labels").fit(blobs)
    steps = plots.clusters(model, blobs, steps=[0, 1, -1])
    X = blobs.to_numpy()
    first, second = steps.pictures[:2]
    assert np.array_equal(first.labels, cdist(X, START).argmin(axis=1))
    assert np.allclose(first.before, START)
    means = [X[first.labels == k].mean(axis=0) for k in range(3)]
    assert np.allclose(first.centers, means)
    assert np.allclose(second.before, means)
    drawn(steps)
    assert len(list(steps.animate(tmp_path / "frames").glob("*.png"))) == 3

    picture = plots.half_steps(model)
    C, labels = np.array(START), None
    for t in range(len(picture.rounds)):
        D = cdist(X, C) ** 2
        labels = D.argmin(axis=1)
        assert np.isclose(picture.after_assignment[t], D[np.arange(90), labels].sum())
        C = np.array([X[labels == k].mean(axis=0) for k in range(3)])
        assert np.isclose(picture.after_update[t], ((X - C[labels]) ** 2).sum())
    assert picture.falls
    assert "never rises" in texts(drawn(picture))


def test_half_steps_says_when_the_objective_rises():
    rng = np.random.default_rng(3)
    rises = []
    for seed in range(20):
        X = rng.exponential(size=(40, 2)) ** 3
        model = KMeans(4, metric=Metric("manhattan", "mean"), random_state=seed, stop="labels")
        picture = plots.half_steps(model.fit(X))
        pairs = np.column_stack([picture.after_assignment, picture.after_update]).ravel()
        rose = bool((np.diff(pairs) > 1e-9 * pairs[:-1]).any())
        assert picture.falls != rose
        rises.append(rose)
    assert any(rises)
    with pytest.raises(ValueError, match="half_steps is for KMeans"):
        plots.half_steps(FuzzyCMeans(2, random_state=0).fit([[0.0], [1.0], [5.0]]))


def test_steps_refuses_what_keeps_none(blobs):
    with pytest.raises(ValueError, match="keeps no labels"):
        plots.clusters(AgglomerativeClustering(2).fit(blobs), blobs, steps=True)
    with pytest.raises(ValueError, match="rows of the fit"):
        plots.clusters(KMeans(2, random_state=0).fit(blobs), blobs[:9], steps=True)


# --- how many -----------------------------------------------------------------------------------


def test_elbow_one_none_several_and_scan(blobs):
    one = plots.elbow([765.3, 334.3, 88.2, 72.7, 62.1])
    assert one.result.kind == "one"
    assert "k = 3" in texts(drawn(one))
    none = plots.elbow([10, 8.5, 7.2, 6.1, 5.2, 4.5])
    assert none.result.n_clusters is None
    assert "No elbow" in texts(drawn(none))
    several = plots.elbow([100, 50, 40, 15, 12, 10], range(2, 8))
    assert several.result.candidates == (3, 5)
    assert "Ambiguous" in texts(drawn(several))
    search = ClusterNumberSearch(n_clusters=range(1, 6), criteria=("elbow",), random_state=0)
    search.fit(blobs)
    picture = plots.elbow(search)
    assert np.array_equal(picture.errors, search.results_["inertia"])
    assert picture.result == search.elbow_


def test_criteria_side_by_side(blobs):
    criteria = ("elbow", "silhouette", "calinski_harabasz", "stability", "heldout_inertia")
    search = ClusterNumberSearch(
        KMeans(n_init=3), n_clusters=range(1, 6), criteria=criteria, n_runs=3, random_state=0
    ).fit(blobs)
    picture = plots.k_criteria(search)
    assert dict(zip(picture.criteria, picture.choices, strict=True)) == search.choices_
    for name, values in zip(picture.criteria, picture.values, strict=True):
        assert np.array_equal(values, search.results_[name], equal_nan=True)
    assert picture.errors[-1] is not None
    assert f"{search.best_n_clusters_} clusters" in texts(drawn(picture))
    with pytest.raises(ValueError, match="fitted ClusterNumberSearch"):
        plots.k_criteria([1, 2])


def test_silhouettes_by_cluster_and_by_number(blobs):
    labels = KMeans(3, random_state=0).fit(blobs).labels_
    picture = plots.silhouette(blobs, labels)
    s = silhouette_samples(blobs, labels)
    for k in range(3):
        assert np.allclose(picture.values[0][k], np.sort(s[labels == k])[::-1])
    assert np.isclose(picture.means[0], s.mean())
    drawn(picture)
    runs = {f"k = {k}": KMeans(k, n_init=3, random_state=0).fit(blobs).labels_ for k in (4, 2, 3)}
    several = plots.silhouette(blobs, runs)
    assert several.n_clusters.tolist() == [4, 2, 3]
    assert "largest mean at k = 3" in texts(drawn(several))
    alone = plots.silhouette([[0.0], [1.0], [9.0]], [0, 0, 1])
    assert alone.values[0][1].tolist() == [0.0]
    drawn(alone)


# --- trees --------------------------------------------------------------------------------------


@pytest.mark.parametrize("linkage", ["single", "ward", "centroid"])
@pytest.mark.filterwarnings("ignore:.*inversions")
def test_dendrogram_has_the_brackets_of_scipy(blobs, linkage):
    model = AgglomerativeClustering(3, linkage=linkage).fit(blobs)
    picture = plots.dendrogram(model, most=200)
    theirs = scipy_dendrogram(model.linkage_matrix_, no_plot=True)
    ours = {tuple(np.round([min(y[0], y[3]), y[1], max(y[0], y[3])], 9)) for y in picture.y}
    them = {tuple(np.round([min(y[0], y[3]), y[1], max(y[0], y[3])], 9)) for y in theirs["dcoord"]}
    assert ours == them
    assert sorted(map(int, picture.leaves)) == list(range(90))
    order = model.labels_[[int(leaf) for leaf in picture.leaves]]
    if linkage != "centroid":  # clusters stand together, and the cut crosses k branches
        assert (np.diff(order) != 0).sum() == 2
        crossings = sum(
            int((y[foot] < picture.cut) != (y[1] < picture.cut))
            for y in picture.y
            for foot in (0, 3)
        )
        assert crossings == 3
    drawn(picture)


def test_dendrogram_folded_divisive_and_other_cuts(blobs):
    model = AgglomerativeClustering(3).fit(blobs)
    folded = plots.dendrogram(model, most=10)
    assert len(folded.leaves) == 10
    assert folded.sizes.sum() == 90
    assert any(leaf.startswith("(") for leaf in folded.leaves)
    assert np.allclose(np.sort(folded.y[:, 1]), np.sort(model.distances_[-9:]))
    drawn(folded)
    small = blobs.to_numpy()[::9]
    tree = DivisiveClustering(2).fit(small)
    names = [f"shop {i}" for i in range(10)]
    picture = plots.dendrogram(tree, n_clusters=4, names=names)
    assert picture.n_clusters == 4
    assert np.allclose(np.sort(picture.y[:, 1])[::-1], tree.heights_)
    assert set(picture.leaves) == set(names)
    assert "diameter" in texts(drawn(picture))
    height = float(tree.heights_[1]) * 1.0001
    assert plots.dendrogram(tree, height=height).n_clusters == tree.cut(height=height).max() + 1
    with pytest.raises(ValueError, match="one name per row"):
        plots.dendrogram(tree, names=["a"])
    with pytest.raises(ValueError, match="hierarchical"):
        plots.dendrogram(KMeans(2, random_state=0).fit(small))


# --- stability, density, shading, two kinds -----------------------------------------------------


def test_consensus_sorted_into_blocks(blobs):
    C = consensus_matrix(KMeans(3), blobs, n_runs=5, random_state=0)
    labels = KMeans(3, random_state=0).fit(blobs).labels_
    picture = plots.consensus(C, labels)
    assert np.array_equal(picture.matrix, C[np.ix_(picture.rows, picture.rows)], equal_nan=True)
    assert np.array_equal(labels[picture.rows], np.sort(labels))
    assert picture.blocks.tolist() == [0, *np.cumsum(np.bincount(labels))[:-1]]
    off = C[np.triu_indices(90, 1)]
    off = off[np.isfinite(off)]
    assert np.isclose(picture.unsure, ((off > 0.1) & (off < 0.9)).mean())
    drawn(picture)
    shuffled = np.kron(np.eye(2), np.ones((2, 2)))[np.ix_([0, 2, 1, 3], [0, 2, 1, 3])]
    assert np.array_equal(plots.consensus(shuffled).matrix, np.kron(np.eye(2), np.ones((2, 2))))
    with pytest.raises(ValueError, match="square"):
        plots.consensus([[1.0, 0.0]])


def test_k_distances_are_sorted_neighbour_distances(blobs):
    model = DBSCAN(eps=0.6, min_samples=5).fit(blobs)
    picture = plots.k_distances(blobs, 4, eps=model)
    D = np.sort(cdist(blobs, blobs), axis=1)
    assert np.allclose(picture.distances, np.sort(D[:, 4]))
    assert np.isclose(picture.core, len(model.core_sample_indices_) / 90)
    assert "min_samples = 5" in texts(drawn(picture))
    with pytest.raises(ValueError, match="eps"):
        plots.k_distances(blobs, eps=-1.0)


def test_reachability_is_drawn_in_the_order_of_the_visits(blobs):
    model = OPTICS(min_samples=8, xi=0.1).fit(blobs)
    picture = plots.reachability(model)
    assert np.array_equal(picture.heights, model.reachability_[model.ordering_])
    assert np.array_equal(picture.labels, model.labels_[model.ordering_])
    assert np.array_equal(picture.brackets, model.cluster_hierarchy_)
    assert f"{model.labels_.max() + 1} valleys" in texts(drawn(picture))
    assert min(picture.plot().get_yticks()) == 0  # brackets stand below, where no height is
    cut = plots.reachability(OPTICS(cluster_method="dbscan", eps=0.6).fit(blobs))
    assert cut.eps == 0.6
    assert "below eps = 0.6" in texts(drawn(cut))
    with pytest.raises(ValueError, match="OPTICS"):
        plots.reachability(KMeans(2, random_state=0).fit(blobs))


def test_memberships_and_typicalities(blobs):
    fuzzy = FuzzyCMeans(3, random_state=0).fit(blobs)
    picture = plots.memberships(fuzzy, blobs)
    assert np.allclose(picture.values.sum(axis=0), 1)
    assert np.allclose(picture.of_rows, fuzzy.membership_)
    assert "membership" in texts(drawn(picture))
    far = np.vstack([blobs.to_numpy(), [[30.0, -30.0]]])
    means = [[0.0, 0.0], [4.0, 1.0], [1.0, 4.5]]
    possible = PossibilisticCMeans(3, init=means, scale=1.0).fit(far)
    shaded = plots.memberships(possible, far)
    assert shaded.word == "typicality"
    assert shaded.of_rows[-1].max() < 0.05  # an outlier belongs nowhere
    x = blobs[["age"]]
    drawn(plots.memberships(GaussianMixture(2, random_state=0).fit(x), x))
    line = make_pipeline(StandardScaler(), PossibilisticCMeans(2, random_state=0)).fit(blobs)
    inside = line[-1].typicality(line[0].transform(blobs))
    assert np.allclose(plots.memberships(line, blobs).of_rows, inside)
    with pytest.raises(ValueError, match="soft clustering"):
        plots.memberships(KMeans(2, random_state=0).fit(blobs), blobs)


def test_similarity_kinds_on_rings_and_blobs(blobs):
    rings, truth = make_rings(200, noise=0.1, random_state=0)
    picture = plots.similarity_kinds(rings)
    assert adjusted_rand_score(truth, picture.chains) == 1
    assert np.isclose(picture.agreement, adjusted_rand_score(picture.blobs, picture.chains))
    assert "different groups" in texts(drawn(picture))
    far = blobs.to_numpy() + np.repeat([[0, 0], [20, 0], [0, 20]], 30, axis=0)
    assert "the same groups" in plots.similarity_kinds(far, 3).title
    drawn(plots.similarity_kinds(far[:, :1], 2))
