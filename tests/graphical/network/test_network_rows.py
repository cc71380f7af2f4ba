"""Rows against a network, Gaussian networks, advice, persistence of given networks."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

import pellucid
from pellucid.data import load_network
from pellucid.graphical import (
    CPT,
    DAG,
    BayesianNetwork,
    DirichletPrior,
    LinearGaussianCPD,
    MixedBayesianNetwork,
    read_network,
)


def asia():
    return read_network(load_network("asia"))


def test_rows_with_missing_cells_by_query():
    """score_samples, predict_proba and impute of incomplete rows against the joint."""
    network = asia()
    joint = network.joint()
    frame = network.sample(40, random_state=0)
    rng = np.random.default_rng(0)
    rows = [
        {v: None if rng.random() < 0.4 else s for v, s in row.items()} for row in frame.to_dicts()
    ]
    holes = pl.DataFrame(rows, schema=dict.fromkeys(frame.columns, pl.String))
    scores = network.score_samples(holes)
    lung = network.predict_proba(holes, "lung")
    guess = network.predict(holes, "lung")
    filled = network.impute(holes).to_dicts()
    for i, row in enumerate(rows):
        seen = {v: s for v, s in row.items() if s is not None}
        rest = joint.reduce(seen)
        assert_allclose(scores[i], np.log(rest.values.sum()), rtol=1e-9)
        others = {v: s for v, s in seen.items() if v != "lung"}
        assert_allclose(lung[i], network.query("lung", others).values, atol=1e-12)
        assert guess[i] == network.states_["lung"][lung[i].argmax()]
        assert {v: filled[i][v] for v in seen} == seen
        assert_allclose(joint.at(filled[i]), rest.values.max(), rtol=1e-9)
    assert_allclose(network.log_likelihood(holes), scores.sum())
    assert_allclose(network.bic(holes), -2 * scores.sum() + 18 * np.log(40))
    assert_allclose(network.aic(holes), -2 * scores.sum() + 36)
    assert_allclose(network.score(holes), scores.mean())


def test_a_frame_may_leave_variables_out_and_keeps_its_kind():
    network = asia()
    some = pd.DataFrame({"xray": ["yes", "no"], "dysp": ["yes", None]})
    expected = [network.query("lung", {"xray": "yes", "dysp": "yes"}).values,
                network.query("lung", {"xray": "no"}).values]  # fmt: skip
    assert_allclose(network.predict_proba(some, "lung"), expected, atol=1e-12)
    full = network.impute(some)
    assert isinstance(full, pd.DataFrame)
    assert full["dysp"].notna().all()
    with pytest.raises(ValueError, match="no state 'perhaps'"):
        network.score_samples(some.assign(xray="perhaps"))
    with pytest.raises(ValueError, match="no variable 'q'"):
        network.score_samples(some.assign(q="yes"))


def test_fit_recovers_the_tables_and_scores_alike():
    network = asia()
    frame = network.sample(40_000, random_state=1)
    model = BayesianNetwork(network.dag_, states=network.states_).fit(frame)
    assert list(model.dag_.nodes) == list(network.dag_.nodes)
    assert_allclose(model.query("bronc").values, network.query("bronc").values, atol=0.02)
    assert_allclose(model.score(frame), network.score(frame), atol=0.001)
    assert model.score(frame) >= network.score(frame)
    families = [v for k, v in model.card().numbers.items() if k.startswith("l(")]
    assert_allclose(sum(families), model.log_likelihood(frame), rtol=1e-9)


def test_an_enumeration_says_which_states_there_are():
    """A declared value without a row is a state: what was sampled can be learned again."""
    sizes = pl.Enum(["s", "m", "l"])  # not in the order of the alphabet
    frame = pl.DataFrame({"size": ["s", "m", "s"], "ill": ["no"] * 3}).with_columns(
        pl.col("size").cast(sizes), pl.col("ill").cast(pl.Enum(["no", "yes"]))
    )
    for model in (
        BayesianNetwork([("size", "ill")], prior=DirichletPrior()),
        MixedBayesianNetwork([("size", "ill")], prior=DirichletPrior()),
    ):
        model.fit(frame)
        assert model.states_ == {"size": ("s", "m", "l"), "ill": ("no", "yes")}
        assert_allclose(model.cpds_["size"].values, np.array([3, 2, 1]) / 6)
    alone = BayesianNetwork([]).fit(frame.select("size"))
    low, high = alone.intervals("size")
    assert (high - low > 0).all()
    given = BayesianNetwork([], states={"size": ["l", "m", "s"]}).fit(frame.select("size"))
    assert given.states_["size"] == ("l", "m", "s")
    plain = BayesianNetwork([("size", "ill")]).fit(frame.cast(pl.String))
    assert plain.states_ == {"size": ("m", "s"), "ill": ("no",)}


def test_weights_are_repetitions_and_order_does_not_matter():
    frame = asia().sample(300, random_state=2).cast(pl.String)
    w = np.random.default_rng(0).integers(0, 3, 300)
    dag = DAG([("smoke", "lung"), ("smoke", "bronc"), ("bronc", "dysp")], frame.columns)
    states = asia().states_
    weighted = BayesianNetwork(dag, states=states).fit(frame, sample_weight=w)
    repeated = BayesianNetwork(dag, states=states).fit(frame[np.repeat(np.arange(300), w)])
    mixed = BayesianNetwork(dag, states=states).fit(
        frame[np.random.default_rng(1).permutation(300)]
    )
    for v in dag.nodes:
        assert_allclose(weighted.cpds_[v].values, repeated.cpds_[v].values, rtol=1e-12)
    plain = BayesianNetwork(dag, states=states).fit(frame)
    assert plain.cpds_ == mixed.cpds_


def test_fixed_tables_stay_and_missing_can_be_refused():
    frame = pl.DataFrame({"a": ["y", "y", None, "n"], "b": ["y", "n", "n", "n"]})
    start = CPT("a", [0.5, 0.5], states=["n", "y"], fixed=True)
    child = CPT("b", [[0.6, 0.4], [0.4, 0.6]], parents=["a"], states=["n", "y"])
    model = BayesianNetwork(cpds=[start, child]).fit(frame)
    assert model.cpds_["a"] == start
    assert (np.diff(model.history_["log_likelihood"]) >= -1e-12).all()
    with pytest.raises(ValueError, match="column 'a' has a missing cell in row 2"):
        BayesianNetwork([("a", "b")], missing="raise").fit(frame)
    dropped = BayesianNetwork([("a", "b")], missing="drop").fit(frame)
    assert_allclose(dropped.cpds_["a"].values, [1 / 3, 2 / 3])


def test_a_learner_as_structure():
    from pellucid.graphical import ScoreBasedStructure

    frame = asia().sample(3000, random_state=0).select("smoke", "lung", "bronc")
    model = BayesianNetwork(ScoreBasedStructure()).fit(frame)
    assert model.dag_.skeleton() == {frozenset(["smoke", "lung"]), frozenset(["smoke", "bronc"])}


def test_example_17_gaussian_network():
    network = BayesianNetwork(cpds=[
        LinearGaussianCPD("X", 1.0, [], 2.0), LinearGaussianCPD("Y", 3.0, [0.5], 1.0, parents="X"),
    ])  # fmt: skip
    law = network.query("X", {"Y": 5.0})
    assert_allclose(law.mean, [2.0])
    assert_allclose(law.covariance, [[4 / 3]])
    assert_allclose(network.most_probable({"Y": 5.0})["X"], 2.0)
    joint = network.joint()
    assert_allclose(joint.mean, [1.0, 3.5])
    assert_allclose(joint.covariance, [[2.0, 1.0], [1.0, 1.5]])


def test_gaussian_network_is_the_normal_distribution():
    """Density, draws and fit against the joint normal."""
    rng = np.random.default_rng(0)
    network = BayesianNetwork(cpds=[
        LinearGaussianCPD("c", 0.5, [2.0, -1.0], 0.3, parents=["a", "b"]),
        LinearGaussianCPD("a", 1.0, [], 2.0),
        LinearGaussianCPD("b", 0.0, [0.7], 0.5, parents=["a"]),
    ])  # fmt: skip
    law = network.joint()
    drawn = network.sample(20_000, random_state=0)
    X = drawn.select(law.names).to_numpy()
    assert_allclose(X.mean(axis=0), law.mean, atol=0.05)
    assert_allclose(np.cov(X.T), law.covariance, atol=0.15)
    gap = X[:5] - law.mean
    quadratic = np.einsum("ij,jk,ik->i", gap, np.linalg.inv(law.covariance), gap)
    expected = -0.5 * (quadratic + np.log(np.linalg.det(2 * np.pi * law.covariance)))
    assert_allclose(network.score_samples(drawn)[:5], expected, rtol=1e-9)
    model = BayesianNetwork(network.dag_, states="gaussian").fit(drawn)
    A = np.column_stack([np.ones(len(X)), *(drawn[p] for p in model.cpds_["c"].parents)])
    coef, rss, *_ = np.linalg.lstsq(A, drawn["c"].to_numpy(), rcond=None)
    assert_allclose(model.cpds_["c"].coefficients, coef[1:], rtol=1e-8)
    assert_allclose(model.cpds_["c"].variance, rss[0] / len(X), rtol=1e-8)
    w = rng.integers(0, 3, 200)
    small = drawn[:200]
    one = BayesianNetwork(network.dag_, states="gaussian").fit(small, sample_weight=w)
    two = BayesianNetwork(network.dag_, states="gaussian").fit(small[np.repeat(np.arange(200), w)])
    assert_allclose(one.cpds_["c"].coefficients, two.cpds_["c"].coefficients, rtol=1e-9)
    seen = network.sample(4, evidence={"c": 1.5}, random_state=1)
    assert (seen["c"] == 1.5).all()
    with pytest.raises(ValueError, match="exact function"):
        model.fit(drawn.with_columns(c=pl.col("a") + pl.col("b")))
    for ask in (model.marginals, model.check, lambda: model.predict_proba(drawn)):
        with pytest.raises(ValueError, match="this one is Gaussian"):
            ask()


def test_check_gives_the_course_advice():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(rng.integers(0, 3, (12, 4)), schema=list("abcd"))
    dag = DAG([("a", "d"), ("b", "d"), ("c", "d")])
    with pytest.warns(UserWarning, match="never seen"):
        model = BayesianNetwork(dag).fit(frame)
    kinds = {(f.kind, f.variable) for f in model.check(edges=True)}
    assert {("zero probability", "d"), ("no data", "d"), ("large table", "d")} <= kinds
    given = BayesianNetwork(cpds=[
        CPT("a", [0.5, 0.5]), CPT("b", [[0.2, 0.8], [0.2, 0.8]], parents=["a"]),
    ])  # fmt: skip
    assert [f.kind for f in given.check(edges=True)] == ["needless edge"]
    assert given.check() == []
    assert [f.kind for f in given.check(pl.DataFrame({"a": [0, 0], "b": [1, 1]}))] == ["no data"]


def test_given_networks_save_and_load(tmp_path):
    network = asia()
    network.query("lung")
    pellucid.save(network, tmp_path / "asia.pellucid")
    again = pellucid.load(tmp_path / "asia.pellucid")
    assert again.dag_ == network.dag_
    assert again.cpds_ == network.cpds_
    seen = {"xray": "yes"}
    assert again.query("lung", seen) == network.query("lung", seen)


def test_nothing_given_is_not_fitted():
    from sklearn.exceptions import NotFittedError

    for ask in (lambda n: n.query("a"), lambda n: n.joint(), lambda n: n.sample(),
                lambda n: n.cost("a"), lambda n: n.card(), lambda n: n.check()):  # fmt: skip
        with pytest.raises(NotFittedError):
            ask(BayesianNetwork())
    with pytest.raises(AttributeError):
        _ = BayesianNetwork().cpds_


def test_questions_are_refused_in_a_sentence():
    """An unknown way to draw, a network without tables, tables of no probabilities."""
    rain = BayesianNetwork(cpds=[CPT("rain", [0.8, 0.2])])
    with pytest.raises(ValueError, match="method must be one of 'likelihood_weighting', 'gibbs'"):
        rain.approximate("rain", method="nonsense", n_samples=10)
    for ask in (lambda m: m.score_samples([["a"]]), lambda m: m.approximate("rain")):
        with pytest.raises(NotFittedError, match="give cpds or call fit"):
            ask(BayesianNetwork())
    for table in ([1.5, -0.5], [np.nan, 1.0], [np.inf, 0.0], [-np.inf, 2.0]):
        with pytest.raises(ValueError, match="finite numbers >= 0"):
            CPT("rain", table)
