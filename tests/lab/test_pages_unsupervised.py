"""Networks, clusters, projections, Bayesian networks and control: the lab shows the real run."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pellucid import (
    DBSCAN,
    PCA,
    AgglomerativeClustering,
    GaussianMixture,
    KMeans,
    ProbabilisticPCA,
)
from pellucid.graphical import BayesianNetwork
from pellucid.lab.page import make_trace
from pellucid.lab.pages import folder_of as page_of
from pellucid.lab.pages.bayesian_networks.parts import PLACES, make_network
from pellucid.lab.pages.clusters.parts import _kmeans_verdict
from pellucid.lab.pages.clusters.trees import _rows
from pellucid.lab.pages.control.agents import agent_trace
from pellucid.lab.pages.control.parts import make_world
from pellucid.lab.scene import points
from pellucid.reinforcement import QLearning, ValueIteration
from pellucid.reinforcement.worlds.worlds import Watched


def preset(page, name):
    """The trace of a preset by its name, and its training rows."""
    page = page_of(page)
    i = next(i for i, one in enumerate(page.presets) if one.name == name)
    made = page.presets[i].data
    rows = None if made is None else made(np.random.default_rng(0))
    return make_trace(page, i), rows


def marks(frame, panel, kind):
    scene = next(one for one in frame.state["panels"] if one["name"] == panel)
    return [mark for mark in scene["marks"] if mark["mark"] == kind]


def objectives(trace):
    return np.array([frame.objective for frame in trace.frames], float)


# --- control ---------------------------------------------------------------------------------


def test_value_iteration_is_the_planners():
    trace, _ = preset("control", "Value iteration")
    world = make_world(trace.params)
    best = ValueIteration(tol=1e-9).fit(world.mdp)
    U = np.zeros(world.mdp.n_states)
    for frame in trace.frames[:6]:  # each frame is one Bellman sweep of the one before
        assert frame.objective == pytest.approx(world.mdp.residual(U), abs=1e-12)
        U = world.mdp.bellman(U)
    shown = marks(trace.frames[-1], "world", "text")[0]["label"]
    assert_allclose([float(v.replace("−", "-")) for v in shown], best.values_, atol=0.011)


def test_the_first_sweep_changes_the_exits():
    """What the question of the page says is what its frames show."""
    trace, _ = preset("control", "Value iteration")
    world = make_world(trace.params)
    start, first = (
        np.array([float(v.replace("−", "-")) for v in marks(f, "world", "text")[0]["label"]])
        for f in trace.frames[:2]
    )
    assert not start.any()
    far = np.abs(first - start) > 0.04 + 1e-9
    assert_array_equal(far, world.mdp.terminal)
    assert trace.frames[1].numbers["largest change"] == 1.0
    agent, _ = preset("control", "Q-learning, step by step")
    shown = marks(agent.frames[0], "world", "text")[0]["label"]
    assert sorted(set(shown)) == ["0", "1", "−1"]  # the exits have their worth from the start


def test_discount_one_never_settles():
    trace, _ = preset("control", "Break it: γ = 1")
    tail = objectives(trace)[20:]
    assert (tail > 0.039).all()
    assert "no finite value" in trace.verdict
    healthy, _ = preset("control", "Value iteration")
    assert healthy.frames[-1].objective < 1e-4


def test_without_exploration_the_small_exit_wins():
    broken, _ = preset("control", "Break it: no exploration")
    page = page_of("control")
    world = make_world(broken.params)
    assert broken.frames[-1].numbers["return"] == pytest.approx(0.95 * 0.2)
    cured = agent_trace(world, {**broken.params, "epsilon": 0.5}, 0)
    assert cured.frames[-1].objective < 0.5 * broken.frames[-1].objective
    assert cured.frames[-1].numbers["Q at the start"] == pytest.approx(0.95**3, abs=0.01)
    with pytest.raises(ValueError, match="discount below 1"):
        page.run(None, {**broken.params, "discount": 1.0}, 0)


def test_sarsa_keeps_away_from_the_cliff():
    """Its own greedy way has a row between itself and the edge; that of Q-learning has none."""
    trace, _ = preset("control", "SARSA at the cliff")
    world = make_world(trace.params)
    lowest = {}
    for method in ("SARSA", "Q-learning"):
        run = agent_trace(world, {**trace.params, "method": method}, 0)
        arrows = marks(run.frames[-1], "world", "segments")[-1]
        turn = {(round(x), round(y - 0.14)): (round((x1 - x) / 0.34), round((y1 - y) / 0.34))
                for x, y, x1, y1 in zip(*(arrows[k] for k in ("x0", "y0", "x1", "y1")),
                                        strict=True)}  # fmt: skip
        here, way = (1, 1), []
        while here in turn and len(way) < 40:
            here = (here[0] + turn[here][0], here[1] + turn[here][1])
            way.append(here)
        assert way[-1] == (8, 1)  # the exit
        lowest[method] = min(y for x, y in way if 3 <= x <= 6)
    assert lowest == {"SARSA": 3, "Q-learning": 2}


def test_a_watched_walk_has_the_bits_of_the_compiled_one():
    world = make_world(page_of("control").settings())
    settings = {"discount": 0.95, "step_size": 0.2, "random_state": 3}
    plain = QLearning(n_episodes=30, **settings).fit(world.mdp)
    agent = QLearning(**settings)
    place = Watched(world.mdp, look=lambda: agent.q_.copy())
    agent.partial_fit(place, n_episodes=30)
    assert_array_equal(agent.q_, plain.q_)
    assert len(place.walks) == 30
    assert [len(walk) for walk in place.walks] == plain.history_["length"].tolist()
    move, after = place.walks[0][0], place.walks[0][1].tables
    changed = np.argwhere(move.tables != after)
    assert changed.tolist() in ([], [[move.state, move.action]])


# --- clusters --------------------------------------------------------------------------------


def test_kmeans_frames_are_half_steps():
    trace, data = preset("clusters", "k-means")
    X, _ = data.train
    values = objectives(trace)
    assert (np.diff(values) <= 1e-12).all()
    centres = marks(trace.frames[-1], "rows", "points")[-1]
    best = KMeans(3, n_init=10, random_state=0).fit(X)
    assert values[-1] == pytest.approx(best.inertia_ / len(X))
    found = np.column_stack([centres["x"], centres["y"]])
    assert_allclose(found[np.lexsort(found.T)], best.cluster_centers_[
        np.lexsort(best.cluster_centers_.T)], atol=1e-5)  # fmt: skip


def test_words_of_kmeans_say_what_is_so():
    page = page_of("clusters")
    data = page.presets[0].data(np.random.default_rng(0))
    one = page.run(data, page.settings({"k": 1}), 0)
    assert "c₁ = " in one.frames[0].formula
    assert "c₂" not in one.frames[0].formula
    assert "none was more than 2 % better" in one.verdict
    assert "Nothing moves" in _kmeans_verdict(5, False, 1.01, 1.0)
    assert "still move after 28 rounds" in _kmeans_verdict(28, True, 1.0, 1.0)
    assert _rows([0]) == "row 1"


def test_a_bad_start_stays_bad():
    trace, data = preset("clusters", "Break it: bad start")
    X, _ = data.train
    best = KMeans(3, n_init=10, random_state=0).fit(X).inertia_ / len(X)
    assert trace.frames[-1].objective > 2 * best
    assert "local optimum" in trace.verdict


def test_rings_and_unequal_sizes_break_kmeans():
    trace, data = preset("clusters", "Break it: rings")
    groups = np.asarray(marks(trace.frames[-1], "rows", "points")[0]["group"])
    ring = np.linalg.norm(data.train[0], axis=1) > 1.5
    share = [np.mean(groups[ring] == 1), np.mean(groups[~ring] == 1)]
    assert max(abs(share[0] - share[1]), 0) < 0.6  # both rings are cut
    spectral, data = preset("clusters", "Spectral")
    groups = np.asarray(marks(spectral.frames[-1], "rows", "points")[0]["group"])
    ring = np.linalg.norm(data.X, axis=1) > 1.5
    assert len(set(groups[ring])) == len(set(groups[~ring])) == 1
    trace, data = preset("clusters", "Break it: unequal sizes")
    X = data.train[0]
    groups = np.asarray(marks(trace.frames[-1], "rows", "points")[0]["group"])
    wide = X[:, 0] < 3.5  # the small group stands at 4.2
    assert len(set(groups[wide])) == 2


def test_mixture_and_bound():
    trace, data = preset("clusters", "Mixture by EM")
    X, _ = data.train
    values = objectives(trace)
    assert (np.diff(values) >= -1e-9).all()
    model = GaussianMixture(2, init_params="k-means++", max_iter=50, tol=1e-4, random_state=0)
    assert values[-1] == pytest.approx(model.fit(X).score(X), rel=1e-9)
    for before, frame in zip(trace.frames, trace.frames[1:], strict=False):
        bound = frame.numbers["bound before E"]
        assert before.objective - 1e-4 <= bound <= frame.objective + 1e-4


def test_trees_and_density():
    trace, data = preset("clusters", "Hierarchy")
    model = AgglomerativeClustering(3, linkage="average").fit(data.X)
    assert_allclose(objectives(trace)[1:], model.distances_[: len(data.X) - 3])
    last = marks(trace.frames[-1], "rows", "points")[0]["group"]
    assert last == model.labels_.tolist()
    trace, data = preset("clusters", "Density")
    model = DBSCAN(0.31, min_samples=4).fit(data.X)
    assert trace.frames[-1].numbers["clusters"] == model.labels_.max() + 1 == 2
    assert trace.frames[-1].numbers["noise"] == (model.labels_ < 0).sum()
    assert (np.diff(objectives(trace)) <= 0).all()  # noise only shrinks as the radius grows


def test_colours_and_groups_side_by_side():
    mark = points([0, 1], [0, 1], group=[3, "quiet"])
    assert mark["group"] == [3, "quiet"]


# --- projections -----------------------------------------------------------------------------


def test_no_direction_beats_the_component():
    trace, data = preset("projections", "PCA")
    values = objectives(trace)
    assert values[-1] == values.min()
    model = PCA(1).fit(data.train[0])
    assert values[-1] == pytest.approx(model.reconstruction_error_ / len(data.train[0]))
    scale = [f.numbers["error"] + f.numbers["variance along v"] for f in trace.frames]
    assert_allclose(scale, scale[0], rtol=1e-3)
    scree = next(p for p in trace.data["panels"] if p["name"] == "scree")["marks"][0]["height"]
    assert sum(scree) == pytest.approx(scale[0], rel=1e-3)  # eigenvalues and means over n alike
    assert scree[0] == pytest.approx(trace.frames[-1].numbers["variance along v"], rel=1e-3)


def test_unscaled_and_isotropic_break_pca():
    trace, data = preset("projections", "Break it: unscaled")
    assert trace.frames[-1].numbers["angle (degrees)"] == pytest.approx(90.0, abs=0.01)
    page = page_of("projections")
    cured = page.run(data, {**trace.params, "standardize": True}, 0)
    assert cured.frames[-1].numbers["angle (degrees)"] == pytest.approx(45.0, abs=0.1)
    assert "z = v'((x − x̄)/s)" in cured.frames[-1].formula
    assert "x̂ = x̄ + s z v" in cured.frames[-1].formula
    assert "in deviations" in cured.objective
    trace, _ = preset("projections", "Break it: isotropic")
    values = objectives(trace)
    assert values.max() < 1.6 * values.min()
    assert "overlap" in trace.verdict


def test_two_components_rebuild_six_columns():
    trace, _ = preset("projections", "Six columns")
    values = objectives(trace)
    assert (np.diff(values) < 0).all()
    assert values[-1] == 0.0
    assert values[2] < 0.1 * values[0] < values[1]  # the rows have two directions
    shares = [frame.numbers["share explained"] for frame in trace.frames]
    assert_allclose(shares, 1 - values / values[0], atol=1e-4)


def test_ppca_climbs_to_the_closed_form():
    trace, data = preset("projections", "Probabilistic PCA")
    X, _ = data.train
    values = objectives(trace)
    best = ProbabilisticPCA(1).fit(X)
    assert (np.diff(values) >= -1e-12).all()
    assert values[-1] == pytest.approx(best.log_likelihood_ / len(X), abs=1e-6)
    assert trace.frames[-1].numbers["σ²"] == pytest.approx(best.noise_variance_, rel=1e-3)
    S = np.cov(X.T, bias=True)
    path = marks(trace.frames[-1], "loadings", "line")[0]
    way = np.column_stack([path["x"], path["y"]])
    noise = [frame.numbers["σ²"] for frame in trace.frames[:4]]  # rounds 0 to 3
    for k in range(3):  # what the formula of a round says
        w, new, s2 = way[k], way[k + 1], noise[k]
        M = w @ w + s2
        assert_allclose(S @ w / (s2 + w @ S @ w / M), new, rtol=2e-3)
        assert np.trace(S - np.outer(S @ w, new) / M) / 2 == pytest.approx(noise[k + 1], rel=2e-3)
    assert trace.frames[-1].held_out == pytest.approx(best.score(data.test[0]), abs=1e-3)


# --- networks --------------------------------------------------------------------------------


def test_networks_learn_and_break():
    healthy, _ = preset("networks", "Moons")
    assert healthy.frames[-1].objective < 0.1
    for name, words in (
        ("Break it: dead ReLU", "dead"),
        ("Break it: zero init", "same weights"),
        ("Break it: deep sigmoid", "vanishing"),
    ):
        trace, _ = preset("networks", name)
        assert trace.frames[-1].objective > 0.69
        assert words in trace.verdict
    dead, _ = preset("networks", "Break it: dead ReLU")
    assert all(f.numbers["units without gradient"] == "100 %" for f in dead.frames)


def test_one_row_forward_and_back():
    trace, _ = preset("networks", "Forward and back")
    assert len(trace.frames) == 5 * 5  # two layers forward, two back, the update
    losses = objectives(trace)[4::5]
    assert (np.diff(losses) < 0).all()
    units = next(p for p in trace.frames[2].state["panels"] if p["name"] == "units")
    _, _, a, delta = units["rows"][0]
    gap = float(a.replace("−", "-")) - float(delta.replace("−", "-"))
    assert gap == pytest.approx(1.0, abs=2e-3)  # delta = p - t of a row of class 1


# --- Bayesian networks -----------------------------------------------------------------------


def test_explaining_away():
    trace, _ = preset("bayesian_networks", "Evidence")
    network = make_network("sprinkler")
    wet, both = trace.frames[-2:]
    told = {"Wet": "yes"}, {"Wet": "yes", "Rain": "yes"}
    want = [network.probability({"Sprinkler": "yes"}, given) for given in told]
    shown = [frame.numbers["P(Sprinkler) now"] for frame in (wet, both)]
    assert_allclose(shown, want, rtol=1e-3)
    assert shown[1] < 0.3 < shown[0]


def test_every_network_stands_where_it_is_drawn():
    for name, places in PLACES.items():
        assert set(places) == set(make_network(name).dag_.nodes)


def test_a_collider_opens():
    trace, _ = preset("bayesian_networks", "Break it: collider observed")
    before, after = trace.frames[1], trace.frames[-1]
    assert before.numbers["d-separated"] == "yes"
    assert before.objective < 1e-12
    assert after.numbers["d-separated"] == "no"
    assert after.objective > 0.5
    for name in PLACES:  # a path is drawn as open exactly where the graph says so
        page = page_of("bayesian_networks")
        network = make_network(name)
        seen = network.dag_.topological_order()[-1]
        first, last = list(PLACES[name])[:2]
        params = page.settings({"method": "d-separation", "network": name, f"{name}_query": last,
                                f"{name}_from": first, f"{name}_{seen}": "yes"})  # fmt: skip
        for frame in page.run(None, params, 0).frames:
            if "d-separated" in frame.numbers:
                given = [seen] if frame.numbers["observed"] else []
                free = network.dag_.d_separated(first, last, given)
                assert frame.numbers["d-separated"] == ("yes" if free else "no")
                assert (frame.numbers["open paths"] == 0) == free


def test_a_zero_cell_cannot_be_revived():
    trace, _ = preset("bayesian_networks", "Break it: zero CPT cell")
    assert trace.frames[-1].numbers["answer"] in ("0", "none")
    assert trace.frames[-1].numbers["new rows impossible"] > 0
    page = page_of("bayesian_networks")
    cured = page.run(None, {**trace.params, "alpha": 1.0}, 0)
    assert cured.frames[-1].numbers["new rows impossible"] == 0
    assert float(cured.frames[-1].numbers["answer"]) > 0.05


def test_em_counts():
    trace, _ = preset("bayesian_networks", "EM")
    values = objectives(trace)
    assert (np.diff(values) >= -1e-12).all()
    for frame in trace.frames[1:]:
        cells = next(p for p in frame.state["panels"] if p["name"] == "table")["rows"]
        total = sum(float(row[-2]) + float(row[-1]) for row in cells)
        assert total == pytest.approx(150, abs=0.5)  # expected counts add up to the rows


def test_the_m_step_with_a_prior_adds_up():
    page = page_of("bayesian_networks")
    params = page.settings({"method": "EM", "alpha": 1.0})
    trace = page.run(None, params, 0)
    assert "log-posterior" in trace.frames[0].formula
    for frame in trace.frames[2:5]:
        found = re.search(r"\(([\d.]+) \+ 1\) / \(([\d.]+) \+ 2\) = ([\d.]+);", frame.formula)
        top, below, theta = map(float, found.groups())
        assert (top + 1) / (below + 2) == pytest.approx(theta, abs=2e-3)


def test_a_round_of_em_has_its_counts():
    """A model seen at a step of EM holds the expected counts, like the fitted one."""
    from pellucid.plots.panels.replay import watched

    rows = [["a", "x"], ["a", None], ["b", "y"], [None, "y"]]
    model = BayesianNetwork([(0, 1)], random_state=0, max_iter=3, tol=0)
    fitted, recorder = watched(model, rows)
    steps = next(iter(recorder.runs.values()))
    assert_allclose(steps[-1].counts_[1], fitted.counts_[1])
    assert steps[0].counts_[0].sum() == pytest.approx(4)
