"""Choosing the number of clusters: catalogue values, all criteria, rows without clusters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import Birch
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import ClusterNumberSearch, KMeans
from pellucid.cluster.choosing import criteria as judges
from pellucid.cluster.choosing.number_search import elect


def three_groups():
    r = np.random.RandomState(42)
    groups = (((1, 1), 0.4), ((3, 2), 0.5), ((2, 4), 0.3))
    return np.vstack([r.normal(c, s, (100, 2)) for c, s in groups])


def test_example_4_criteria():
    X = three_groups()
    search = ClusterNumberSearch(
        KMeans(n_init=150),
        n_clusters=range(1, 6),
        criteria=("elbow", "silhouette", "calinski_harabasz", "stability", "aic", "bic", "gap"),
        random_state=0,
    ).fit(X)
    found = search.results_
    assert_allclose(found["inertia"], [765.344, 334.300, 88.244, 72.740, 62.100], atol=6e-4)
    assert_allclose(found["calinski_harabasz"][1:4], [384.238, 1139.447, 939.474], atol=6e-4)
    # the catalogue's 1300.291 at k = 4 is that of J = 72.762, a local optimum
    assert_allclose(found["bic"][:4], [1865.875, 1774.483, 1262.872, 1299.087], atol=6e-4)
    assert np.isnan(found["silhouette"][0])
    assert set(search.choices_.values()) == {3}
    assert (search.best_n_clusters_, search.kind_, search.findings_) == (3, "one", ())
    assert search.elbow_.n_clusters == 3
    assert_array_equal(search.predict(X), search.labels_)
    assert search.best_estimator_.n_clusters == 3
    assert "3 cluster(s)" in str(search.card())


def test_example_14_mixture_criteria():
    """A mixture is asked through its own methods: bic, aic, score_samples."""
    X = three_groups()
    search = ClusterNumberSearch(
        GaussianMixture(n_init=5, reg_covar=0.0),
        n_clusters=range(2, 5),
        criteria=("bic", "aic", "heldout_log_likelihood"),
        random_state=0,
    ).fit(X)
    assert_allclose(search.results_["bic"][:2], [1416.573, 1269.123], atol=0.05)
    assert search.choices_["bic"] == 3
    assert search.choices_["heldout_log_likelihood"] >= 3
    assert search.best_estimator_.n_components == search.best_n_clusters_


@pytest.mark.parametrize("criterion", ["aic", "bic"])
def test_a_clusterer_without_a_likelihood_is_refused_by_the_criterion_it_lacks(criterion):
    search = ClusterNumberSearch(Birch(), n_clusters=(2, 3), criteria=[criterion])
    with pytest.raises(ValueError, match=rf"{criterion}.*inertia_"):
        search.fit(three_groups()[::6])


def test_heldout_inertia_by_hand():
    X = three_groups()[::3]
    model = ClusterNumberSearch(
        n_clusters=(2, 3), criteria=["heldout_inertia"], cv=4, random_state=0
    ).fit(X)
    from sklearn.model_selection import KFold

    values = []
    for i, (train, test) in enumerate(KFold(4, shuffle=True, random_state=0).split(X)):
        fit = KMeans(3, n_init=10, random_state=i).fit(X[train])
        values.append(-fit.score(X[test]) / len(test))
    assert_allclose(model.results_["heldout_inertia"][1], np.mean(values))
    assert_allclose(model.results_["heldout_inertia_error"][1], np.std(values, ddof=1) / 2)
    assert model.choices_["heldout_inertia"] == 3


def test_spherical_criteria_by_hand():
    X = three_groups()
    labels = np.arange(300) % 3
    means = np.array([X[labels == g].mean(axis=0) for g in range(3)])
    J = ((X - means[labels]) ** 2).sum()
    s2 = J / 600
    density = -np.log(2 * np.pi * s2) - ((X - means[labels]) ** 2).sum(axis=1) / (2 * s2)
    value = (np.log(1 / 3) + density).sum()
    aic, bic = judges.spherical_criteria(X, labels, J)
    assert_allclose([aic, bic], [2 * 9 - 2 * value, 9 * np.log(300) - 2 * value])


def clustered(seed):
    rng = np.random.default_rng(seed)
    middle = ([0, 0, 0], [4, 0, 0], [0, 4, 0], [0, 0, 4])
    return np.vstack([rng.normal(m, 0.6, (40, 3)) for m in middle])


QUICK = {"n_clusters": range(1, 6), "n_runs": 4, "random_state": 0}


def test_rows_without_clusters_are_called_so():
    """Even rows, one normal cloud, a long one: one cluster, although the others prefer several."""
    answers = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        for X in (
            rng.uniform(size=(200, 2)),
            rng.normal(size=(150, 3)),
            rng.normal(size=(150, 2)) * [1.0, 6.0],
        ):
            search = ClusterNumberSearch(KMeans(n_init=2), **QUICK).fit(X)
            answers.append((search.best_n_clusters_, search.kind_))
            if search.kind_ == "none":
                assert "no clusters" in search.findings_[0]
    assert answers.count((1, "none")) >= len(answers) - 1  # the test has level 5 %


def test_clusters_are_found():
    for seed in range(4):
        search = ClusterNumberSearch(KMeans(n_init=5), **QUICK).fit(clustered(seed))
        assert (search.best_n_clusters_, search.kind_) == (4, "one")


@pytest.mark.slow
def test_level_of_the_answer_none():
    """Of 100 even tables about one in twenty may pass for clustered."""
    wrong = 0
    for seed in range(100):
        X = np.random.default_rng(seed).uniform(size=(100, 2))
        options = {"n_clusters": range(1, 5), "criteria": ["elbow"], "random_state": seed}
        wrong += ClusterNumberSearch(KMeans(), **options).fit(X).kind_ != "none"
    assert wrong <= 12  # 99.8 % quantile of the binomial


def test_nested_groups_are_several():
    """Three pairs of groups far apart: three and six are both right, and it says so."""
    corners = np.array([(0.0, 0.0), (12.0, 0.0), (6.0, 10.4)])
    apart = np.array([(-1.5, 0.0), (1.5, 0.0)])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = np.vstack([rng.normal(m + d, 0.3, (30, 2)) for m in corners for d in apart])
        search = ClusterNumberSearch(n_clusters=range(1, 9), random_state=0).fit(X)
        assert (search.best_n_clusters_, search.kind_) == (3, "several")
        assert set(search.choices_.values()) == {3, 6}
        assert "the criteria disagree" in search.findings_[0]
        assert "3 and 6 have 2 votes each" in search.findings_[0]


def test_votes():
    assert elect({"a": 2, "b": 3, "c": 3}, [1, 2, 3]) == (3, "one")
    assert elect({"a": 2, "b": 3}, [1, 2, 3]) == (2, "several")
    assert elect({"a": None, "b": None}, [1, 2, 3]) == (1, "none")
    assert elect({"a": 1, "b": 1, "c": 2}, [1, 2, 3]) == (1, "none")


def test_pipelines_and_one_number():
    X = clustered(0) * [1.0, 10.0, 100.0]
    pipe = make_pipeline(StandardScaler(), KMeans(n_init=5))
    search = ClusterNumberSearch(pipe, n_clusters=range(2, 6), n_runs=4, random_state=0).fit(X)
    assert search.best_n_clusters_ == 4
    assert_array_equal(search.predict(X), search.labels_)
    single = ClusterNumberSearch(n_clusters=3, n_runs=4, random_state=0).fit(X)
    assert single.best_n_clusters_ == 3


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"criteria": ("elbow", "silhouete")}, "did you mean 'silhouette'"),
        ({"criteria": "bic"}, "list of names"),
        ({"criteria": ()}, "at least one of"),
        ({"n_clusters": (1, 2, 4)}, "consecutive"),
        ({"n_clusters": (2, 3), "criteria": ["gap"]}, "from 1"),
        ({"n_clusters": ()}, "n_clusters must be a whole number"),
        ({"n_clusters": (0, 1)}, "n_clusters must be a whole number"),
        ({"n_clusters": range(1, 999)}, "at most the number of rows"),
        ({"criteria": ["heldout_log_likelihood"], "n_clusters": (1, 2)}, "score_samples"),
    ],
)
def test_bad_parameters_are_one_sentence(params, sentence):
    with pytest.raises(ValueError, match=sentence):
        ClusterNumberSearch(**params, random_state=0).fit(clustered(0))


def test_an_estimator_without_a_number_is_refused():
    with pytest.raises(TypeError, match="n_clusters or n_components"):
        ClusterNumberSearch(StandardScaler()).fit(clustered(0))


# --- simulations: none, one, several -------------------------------------------------------


def unclustered(kind, rng):
    if kind == "even":
        return rng.uniform(size=(150, 2))
    if kind == "even in ten columns":
        return rng.uniform(size=(200, 10))
    if kind == "normal":
        return rng.normal(size=(150, 3))
    if kind == "long normal":
        return rng.normal(size=(150, 2)) @ np.array([[3.0, 2.0], [0.0, 0.5]])
    angle, radius = rng.uniform(0, 2 * np.pi, 150), np.sqrt(rng.uniform(size=150))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def three_apart(rng, p=2):
    """Equal distances, any direction, sizes between 30 and 70."""
    corners = np.zeros((3, p))
    corners[:, :2] = [(0.0, 0.0), (1.0, 0.0), (0.5, 0.866)]
    turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
    sizes = rng.integers(30, 70, 3)
    return np.vstack([
        rng.normal(8.0 * c @ turn, 1.0, (n, p)) for c, n in zip(corners, sizes, strict=True)
    ])  # fmt: skip


def groups_of_groups(rng, inner):
    """Three groups of ``inner`` groups each, the outer ones five times as far apart."""
    angle = 2 * np.pi * np.arange(3) / 3 + rng.uniform(0, np.pi)
    outer = 17.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    middles = []
    for centre in outer:
        turn = 2 * np.pi * np.arange(inner) / inner + rng.uniform(0, np.pi)
        spread = 3.4 if inner == 3 else 2.9
        middles += list(centre + spread * np.column_stack([np.cos(turn), np.sin(turn)]))
    return np.vstack([rng.normal(m, 0.6, (25, 2)) for m in middles])


UNCLUSTERED = ("even", "even in ten columns", "normal", "long normal", "disc")


def answer(X, seed, **options):
    settings = {"n_clusters": range(1, 12), "random_state": seed, **options}
    search = ClusterNumberSearch(KMeans(n_init=5), **settings).fit(X)
    return search.best_n_clusters_, search.kind_, set(search.good_)


@pytest.mark.slow
@pytest.mark.parametrize("kind", UNCLUSTERED)
def test_simulation_none(kind):
    """Of 40 tables without clusters at least 36 are called so; even ones are the hardest."""
    found = [
        answer(unclustered(kind, np.random.default_rng(s)), s, n_clusters=range(1, 7), n_runs=4)
        for s in range(40)
    ]
    assert sum(f[:2] == (1, "none") for f in found) >= 36


@pytest.mark.slow
@pytest.mark.parametrize("p", [2, 5])
def test_simulation_one(p):
    found = [answer(three_apart(np.random.default_rng(s), p), s) for s in range(40)]
    assert sum(f[:2] == (3, "one") for f in found) >= 38


@pytest.mark.slow
@pytest.mark.parametrize("inner", [2, 3])
def test_simulation_several(inner):
    """Both numbers are named."""
    found = [answer(groups_of_groups(np.random.default_rng(s), inner), s) for s in range(40)]
    right = [f[1] == "several" and {3, 3 * inner} <= f[2] and f[0] in (3, 3 * inner) for f in found]
    assert sum(right) >= 36


def test_simulation_in_short():
    """Two tables of each kind."""
    for seed in (100, 101):
        rng = np.random.default_rng(seed)
        for kind in ("even", "normal"):
            few = {"n_clusters": range(1, 6), "n_runs": 4}
            assert answer(unclustered(kind, rng), seed, **few)[:2] == (1, "none")
        assert answer(three_apart(rng), seed)[:2] == (3, "one")
        best, kind, good = answer(groups_of_groups(rng, 3), seed)
        assert (best in (3, 9), kind) == (True, "several")
        assert {3, 9} <= good
