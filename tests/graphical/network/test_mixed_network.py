"""Networks of categories and numbers: against integration on a grid, sampling and least squares."""

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose

from pellucid.graphical import (
    CPT,
    BayesianNetwork,
    ConditionalGaussianCPD,
    DirichletPrior,
    LinearGaussianCPD,
    MixedBayesianNetwork,
)


def clinic():
    """disease -> (fever, mark); (fever, drug) -> days: lines that depend on categories."""
    return MixedBayesianNetwork(cpds=[
        CPT("disease", [0.7, 0.3], states=["no", "yes"]),
        CPT("drug", [0.4, 0.6]),
        CPT("mark", [[0.9, 0.1], [0.2, 0.8]], parents=["disease"]),
        ConditionalGaussianCPD("fever", [37.0, 39.0], np.empty((2, 0)), [0.3, 0.8],
                               given=["disease"]),
        ConditionalGaussianCPD("days", [[1.0, 0.5], [4.0, 2.0]],
                               [[[0.2], [0.1]], [[0.5], [-0.3]]], [[0.5, 1.0], [2.0, 0.7]],
                               parents=["fever"], given=["disease", "drug"]),
    ])  # fmt: skip


def normal(x, m, v):
    return np.exp(-0.5 * (x - m) ** 2 / v) / np.sqrt(2 * np.pi * v)


def enumerated(evidence):
    """p(disease, drug, mark, fever grid, days grid) written out, at the evidence."""
    m = clinic().cpds_
    F = np.linspace(30, 46, 1601) if "fever" not in evidence else np.array([evidence["fever"]])
    D = np.linspace(-30, 50, 1601) if "days" not in evidence else np.array([evidence["days"]])
    table = {}
    for a in range(2):
        for b in range(2):
            for c in range(2):
                p = m["disease"].values[a] * m["drug"].values[b] * m["mark"].values[a, c]
                if evidence.get("mark", c) != c or evidence.get("drug", b) != b:
                    p = 0.0
                f = normal(F, m["fever"].intercepts[a], m["fever"].variances[a])
                days = m["days"]
                mean = days.intercepts[a, b] + days.coefficients[a, b, 0] * F
                table[a, b, c] = p * f[:, None] * normal(D, mean[:, None], days.variances[a, b])
    return table, F, D


@pytest.mark.parametrize("evidence", [{}, {"mark": 1}, {"days": 20.0}, {"days": 14.0, "drug": 0}])
def test_against_a_grid(evidence):
    table, F, _ = enumerated(evidence)
    network = clinic()
    total = sum(t.sum() for t in table.values())
    share = [sum(t.sum() for k, t in table.items() if k[0] == a) / total for a in range(2)]
    assert_allclose(network.query("disease", evidence).values, share, atol=1e-8)
    found = network.query(["fever", "disease"], evidence)
    weight = sum(t.sum(axis=1) for t in table.values()) / total
    mean = weight @ F
    assert_allclose(found.mean, [mean], rtol=1e-8)
    assert_allclose(found.covariance, [[weight @ (F - mean) ** 2]], rtol=1e-6)
    assert_allclose(found.factor.values, share, atol=1e-8)
    grid = found.density(F[:, None]) * (F[1] - F[0])
    assert_allclose(grid, weight, atol=1e-8)


def test_all_discrete_and_all_continuous_are_the_other_networks():
    tables = [c for c in clinic().cpds_.values() if isinstance(c, CPT)]
    a, b = MixedBayesianNetwork(cpds=tables), BayesianNetwork(cpds=tables)
    assert_allclose(a.query(["drug", "disease"], {"mark": 1}).values,
                    b.query(["drug", "disease"], {"mark": 1}).values)  # fmt: skip
    lines = [LinearGaussianCPD("x", 1.0, [], 2.0),
             LinearGaussianCPD("y", 3.0, [0.5], 1.0, parents=["x"])]  # fmt: skip
    law = MixedBayesianNetwork(cpds=lines).query("x", {"y": 5.0})
    assert_allclose([law.mean[0], law.covariance[0, 0]], [2.0, 4 / 3])  # example 17
    X = np.random.default_rng(0).normal(size=(50, 2)) @ [[1, 0.5], [0, 1]]
    frame = pl.DataFrame({"x": X[:, 0], "y": X[:, 1]})
    one = MixedBayesianNetwork([("x", "y")]).fit(frame)
    other = BayesianNetwork([("x", "y")], states="gaussian").fit(frame)
    assert_allclose(one.score_samples(frame), other.score_samples(frame))


def test_planted_numbers_are_recovered():
    truth = clinic()
    X = truth.sample(40_000, random_state=0)
    states = {v: list(s) for v, s in truth.states_.items()}
    model = MixedBayesianNetwork(truth.dag_, states=states).fit(X)
    for name, cpd in truth.cpds_.items():
        mine = model.cpds_[name]
        if isinstance(cpd, CPT):
            assert_allclose(mine.values, cpd.values, atol=0.02)
        else:
            assert mine.given == cpd.given
            assert_allclose(mine.coefficients, cpd.coefficients, atol=0.12)
            assert_allclose(mine.variances, cpd.variances, rtol=0.08)
    assert model.n_parameters_ == truth.n_parameters_ == 1 + 1 + 2 + 4 + 12
    assert_allclose(model.log_likelihood_, model.score_samples(X).sum())
    assert model.log_likelihood_ >= truth.score_samples(X).sum()


def test_weights_are_repetitions():
    X = clinic().sample(200, random_state=1)
    w = np.random.default_rng(0).integers(0, 3, size=200)
    states = {"drug": [0, 1], "mark": [0, 1]}
    edges = clinic().dag_
    a = MixedBayesianNetwork(edges, states=states).fit(X, sample_weight=w)
    b = MixedBayesianNetwork(edges, states=states).fit(X[np.repeat(np.arange(200), w)])
    assert_allclose(a.score_samples(X), b.score_samples(X))


def test_few_rows_and_refusals():
    X = pl.DataFrame({"k": ["a"] * 5 + ["b"], "x": [1.0, 2, 4, 3, 5, 9]})
    with pytest.warns(UserWarning, match="take that of all rows"):
        model = MixedBayesianNetwork([("k", "x")], prior=DirichletPrior()).fit(X)
    assert_allclose(model.cpds_["x"].intercepts, [3.0, 4.0])
    with pytest.raises(ValueError, match="cannot have the continuous parent"):
        MixedBayesianNetwork([("x", "k")]).fit(X)
    with pytest.raises(ValueError, match="constant"):
        MixedBayesianNetwork().fit(X.with_columns(x=pl.lit(1.0)))
    with pytest.raises(ValueError, match="impossible evidence"):
        MixedBayesianNetwork(cpds=[CPT("a", [1.0, 0.0])]).query([], {"a": 1})
    with pytest.raises(ValueError, match="continuous"):
        MixedBayesianNetwork(cpds=[LinearGaussianCPD("x", 0, [], 1),
                                   CPT("k", [[1.0]], parents="x")])._ready()  # fmt: skip
    many = [CPT(i, [0.5, 0.5]) for i in range(60)]
    last = CPT("z", np.full((2,) * 4, 0.5), parents=[0, 1, 2])
    small = MixedBayesianNetwork(cpds=[*many, last])
    assert_allclose(small.query("z").values, [0.5, 0.5])  # the other 57 do not matter
    with pytest.raises(MemoryError, match="configurations"):
        small.query(list(range(60)))
