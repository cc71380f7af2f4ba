"""Pictures of Bayesian networks: the numbers drawn against their definitions."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from numpy.testing import assert_allclose

from pellucid import ModelAveragingStructure, ScoreBasedStructure, plots
from pellucid.graphical import CPT, DAG, BayesianNetwork, LinearGaussianCPD, structure_score
from pellucid.plots.panels.graphs import (
    crossings,
    edge_of,
    layered,
    layers_of,
    sorted_layers,
    spread,
)

ASIA = [
    ("asia", "tub"), ("smoke", "lung"), ("smoke", "bronc"), ("tub", "either"), ("lung", "either"),
    ("either", "xray"), ("either", "dysp"), ("bronc", "dysp"),
]  # fmt: skip
ON = ["on", "off"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def network():
    joint = [[[0.9, 0.1], [0.6, 0.4]], [[0.7, 0.3], [0.1, 0.9]]]
    return BayesianNetwork(cpds=[
        CPT("A", [0.3, 0.7], states=ON),
        CPT("B", [0.25, 0.75], states=ON),
        CPT("C", joint, parents=["A", "B"], states=ON),
        CPT("D", joint, parents=["A", "C"], states=ON),
    ])  # fmt: skip


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


def random_dag(rng, d, p=0.4):
    names = [f"v{i}" for i in range(d)]
    edges = [(names[i], names[j]) for i in range(d) for j in range(i + 1, d) if rng.random() < p]
    return DAG(edges, names)


# --- layout -------------------------------------------------------------------------------------


def test_parents_are_above_their_children_and_nodes_do_not_overlap():
    rng = np.random.default_rng(0)
    for d in (2, 5, 9, 14):
        dag = random_dag(rng, d)
        sizes = {v: (0.6 + rng.random(), 0.5 + rng.random()) for v in dag.nodes}
        place, bends = layered(dag.nodes, dag.sorted_edges, sizes)
        for a, b in dag.edges:
            assert place[a][1] > place[b][1]
            heights = [place[a][1], *(y for _, y in bends[a, b]), place[b][1]]
            assert heights == sorted(heights, reverse=True)
        for i, a in enumerate(dag.nodes):
            for b in dag.nodes[:i]:
                apart = np.abs(np.subtract(place[a], place[b]))
                room = (np.array(sizes[a]) + sizes[b]) / 2
                assert (apart >= room - 1e-5).any()


def test_sorting_the_layers_removes_crossings():
    edges = [("a", "z"), ("b", "y"), ("c", "x")]
    layers = layers_of(("a", "b", "c", "x", "y", "z"), edges)
    assert crossings(layers) == 3
    assert crossings(sorted_layers(layers)) == 0


def test_spread_is_the_nearest_legal_place():
    # pooled: both want 0, one unit apart, so they sit at -1/2 and 1/2
    assert_allclose(spread(np.zeros(2), np.ones(2)), [-0.5, 0.5])
    assert_allclose(spread(np.array([0.0, 5.0]), np.ones(2)), [0.0, 5.0])


def test_an_edge_leaves_a_node_on_its_rim():
    x, y = edge_of((1.0, 2.0), (2.0, 1.0), (4.0, 5.0))
    assert_allclose((x - 1) ** 2 + ((y - 2) / 0.5) ** 2, 1.0)
    assert edge_of((0.0, 0.0), (2.0, 1.0), (4.0, 0.0), "box") == (1.0, 0.0)


# --- network_graph ------------------------------------------------------------------------------


def test_network_graph_writes_the_tables(network):
    picture = plots.network_graph(network)
    assert {edge[:2] for edge in picture.edges} == network.dag_.edges
    table = picture.tables["C"]
    assert table[0].split() == ["A", "B", "|", "on", "off"]
    for line, (a, b) in zip(table[1:], np.ndindex(2, 2), strict=True):
        cells = line.replace("|", " ").split()
        assert cells[:2] == [ON[a], ON[b]]
        assert_allclose([float(c) for c in cells[2:]], network.cpds_["C"].values[a, b])
    drawn(picture, "on  on | 0.9 0.1", "0.25 0.75", "4 variables, 4 edges")
    assert plots.network_graph(network, tables=False).tables == {}


def test_network_graph_shows_the_equivalence_class():
    dag = DAG(ASIA)
    picture = plots.network_graph(dag, equivalence=True)
    loose = {frozenset(e[:2]) for e in picture.edges if e[2] == "--"}
    assert loose == dag.cpdag().undirected
    assert {e[:2] for e in picture.edges if e[2] == "->"} == dag.cpdag().directed
    drawn(picture, "3 of either direction")


def test_network_graph_of_learners_gaussians_large_tables_and_nonsense():
    x = LinearGaussianCPD("X", 1.0, [], 2.0)
    y = LinearGaussianCPD("Y", 3.0, [0.5], 1.0, parents=["X"])
    drawn(plots.network_graph(BayesianNetwork(cpds=[x, y])), "+ 0.5 X, 1)")
    wide = np.full((4, 5, 2), 0.5)
    cpds = [
        CPT("a", np.full(4, 0.25)), CPT("b", np.full(5, 0.2)), CPT("c", wide, parents=["a", "b"]),
    ]  # fmt: skip
    assert "and 11 more rows" in plots.network_graph(BayesianNetwork(cpds=cpds)).tables["c"][-1]
    with pytest.raises(ValueError, match="after fit"):
        plots.network_graph(BayesianNetwork())
    with pytest.raises(ValueError, match="1 to 60 variables, got 61"):
        plots.network_graph(DAG([], range(61)))


# --- connections and d-separation ---------------------------------------------------------------


def test_connections_are_open_and_blocked_as_the_rules_say():
    cases = {(c.kind, c.observed): c.open for c in plots.connections().cases}
    assert cases == {
        ("tail-to-tail", ()): True, ("tail-to-tail", ("C",)): False,
        ("head-to-tail", ()): True, ("head-to-tail", ("C",)): False,
        ("head-to-head", ()): False, ("head-to-head", ("C",)): True,
        ("head-to-head, a descendant", ()): False, ("head-to-head, a descendant", ("D",)): True,
    }  # fmt: skip
    drawn(plots.connections(), "open: A and B may depend given D", "blocked: A, B independent")


def test_d_separated_exactly_when_every_path_is_blocked():
    rng = np.random.default_rng(1)
    seen = set()
    for _ in range(60):
        dag = random_dag(rng, 6)
        order = list(rng.permutation(dag.nodes))
        given = [str(v) for v in order[2 : 2 + rng.integers(0, 4)]]
        picture = plots.d_separation(dag, str(order[0]), str(order[1]), given)
        assert picture.separated == all(path.blocked for path in picture.paths)
        seen.add(picture.separated)
        found = dag.active_path(picture.a, picture.b, given)
        if found is not None:
            assert tuple(found) in {path.nodes for path in picture.paths if not path.blocked}
    assert seen == {True, False}


def test_d_separation_names_the_reasons(network):
    picture = plots.d_separation(ASIA, "xray", "bronc", given=["smoke", "tub"])
    blocked = dict(step for path in picture.paths for step in path.blocked)
    assert blocked == {
        "dysp": "is head-to-head and not given", "smoke": "is tail-to-tail and given",
    }  # fmt: skip
    drawn(picture, "xray and bronc are independent given smoke, tub", "blocked: dysp is head")
    drawn(plots.d_separation(network, "A", "B", given="D"), "may depend", "open")
    alone = plots.d_separation(DAG([], ["a", "b"]), "a", "b")
    assert alone.separated
    drawn(alone, "there is no path")
    with pytest.raises(ValueError, match="must not overlap"):
        plots.d_separation(ASIA, "tub", "lung", given="tub")
    with pytest.raises(ValueError, match="more than 2000 paths"):
        plots.d_separation(DAG.complete("abcdefghi"), "a", "i")


# --- unrolled -----------------------------------------------------------------------------------


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_unrolled_shows_the_cells_of_the_first_rows(network, frame):
    data = frame({"A": ["on", "off", None, "on"], "C": ["off", None, "on", "on"],
                  "B": ["on"] * 4})  # fmt: skip
    picture = plots.unrolled(network, data)
    assert picture.cells == (
        ("on", "on", "off", "?"), ("off", "on", "?", "?"), ("?", "on", "on", "?"),
    )  # fmt: skip
    assert picture.n_rows == 4
    assert set(picture.edges) == network.dag_.edges
    drawn(picture, "θ C | A, B", "row 3", "1 more rows like these")


def test_unrolled_refuses_what_does_not_fit(network):
    with pytest.raises(ValueError, match="a column for each of 4 variables"):
        plots.unrolled(network, np.zeros((3, 2)))
    with pytest.raises(ValueError, match="at least one row"):
        plots.unrolled(network, np.zeros((0, 4)))
    with pytest.raises(ValueError, match="up to 12 variables, got 13"):
        plots.unrolled(DAG([], range(13)), np.zeros((2, 13)))


# --- learning -----------------------------------------------------------------------------------


def test_edge_probabilities_are_those_of_the_posterior(network):
    X = network.sample(150, random_state=0)
    model = ModelAveragingStructure().fit(X)
    picture = plots.edge_probabilities(model)
    expected = np.zeros((4, 4))
    for dag, weight in zip(model.dags_, model.weights_, strict=True):
        for a, b in dag.edges:
            expected["ABCD".index(a), "ABCD".index(b)] += weight
    assert_allclose(picture.probability, expected, atol=1e-12)
    drawn(picture, "parent", "child", f"{expected[0, 2]:.2f}")
    with pytest.raises(ValueError, match="fitted ModelAveragingStructure"):
        plots.edge_probabilities(ScoreBasedStructure().fit(X))


def test_search_moves_replay_to_the_learned_graph(network):
    X = network.sample(2000, random_state=0)
    model = ScoreBasedStructure().fit(X)
    picture = plots.search_moves(model)
    edges = set()
    for (kind, a, b), score in zip(picture.moves, picture.score, strict=True):
        if kind in ("remove", "reverse"):
            edges.remove((a, b))
        if kind in ("add", "reverse"):
            edges.add((a, b) if kind == "add" else (b, a))
        assert_allclose(structure_score(DAG(edges, list("ABCD")), X, score="bic"), score)
    assert (np.diff(picture.score) >= -1e-8).all()  # level moves differ by rounding
    assert_allclose(picture.score[-1], model.score_)
    assert picture.level == len(model.history_) - len(picture.moves)
    drawn(picture, "bic", "edge moved", "A → D")
    with pytest.raises(ValueError, match="hill_climbing or tabu"):
        plots.search_moves(network)


def test_em_log_likelihood_is_drawn_by_objective_history(network):
    X = network.sample(100, random_state=0).to_pandas().astype(object)
    X.iloc[::3, 2] = None
    model = BayesianNetwork(network.dag_, random_state=0).fit(X)
    drawn(plots.objective_history(model), "BayesianNetwork")
