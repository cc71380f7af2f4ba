"""Tables from counts and by EM: exact values, brute force, laws (GRA-08, GRA-09)."""

import warnings
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import beta

from pellucid.graphical import CPT, BayesianNetwork, DirichletPrior
from pellucid.graphical.learning.completion import (
    expected_counts,
    log_densities,
    plan_groups,
    posteriors,
)
from pellucid.graphical.learning.counts import CodedTable, encode_table, family_counts
from pellucid.graphical.learning.em import fit_em, gather, random_tables
from pellucid.graphical.learning.learn_tables import learn_table, prior_exponent, table_intervals

PARENTS = [(), (0,), (0, 1), (2,), (2, 3), ()]
CARD = np.array([2, 3, 2, 2, 3, 2])


def network(rng):
    drawn = [rng.random([CARD[u] for u in (*some, v)]) for v, some in enumerate(PARENTS)]
    return [values / values.sum(axis=-1, keepdims=True) for values in drawn]


def holes(rng, n, share):
    codes = np.stack([rng.integers(0, c, n) for c in CARD]).astype(np.int16)
    codes[rng.random(codes.shape) < share] = -1
    return codes


def joint(tables):
    out = np.zeros(CARD)
    for x in product(*map(range, CARD)):
        cells = (tables[v][tuple(x[u] for u in (*p, v))] for v, p in enumerate(PARENTS))
        out[x] = np.prod(list(cells))
    return out


def table_of(codes, w=None):
    states = tuple(tuple(range(c)) for c in CARD)
    return CodedTable(tuple("abcdef"), states, codes, np.empty(0) if w is None else w)


def test_expected_counts_by_enumeration():
    """Groups with shared propagations give what every row on its own would give."""
    rng = np.random.default_rng(0)
    tables, codes = network(rng), holes(rng, 120, 0.4)
    w = rng.integers(0, 3, 120).astype(float)
    rows = gather(table_of(codes, w), PARENTS)
    found = expected_counts(rows.groups, rows.complete, tables)
    P, E, total, every = joint(tables), [np.zeros_like(t) for t in tables], 0.0, []
    for column, weight in zip(codes.T, w, strict=True):
        Q = P.copy()
        for v, k in enumerate(column):
            if k >= 0:
                keep = np.arange(CARD[v]) == k
                Q = Q * keep.reshape([-1 if u == v else 1 for u in range(6)])
        every.append(Q.sum(axis=(0, 1, 3, 4, 5)) / Q.sum())
        total += weight * np.log(Q.sum())
        Q *= weight / Q.sum()
        for v, some in enumerate(PARENTS):
            family = (*some, v)
            M = Q.sum(axis=tuple(u for u in range(6) if u not in family))
            order = sorted(family)
            E[v] += M.transpose([order.index(u) for u in family])
    for mine, exact in zip(found.counts, E, strict=True):
        assert_allclose(mine, exact, atol=1e-10)
    assert_allclose(found.log_likelihood, total)
    assert_allclose(log_densities(codes, PARENTS, tables, CARD) @ w, total)
    hidden = codes.copy()
    hidden[2] = -1
    unseen = codes[2] < 0
    assert_allclose(posteriors(2, codes, PARENTS, tables, CARD)[unseen], np.array(every)[unseen])


def test_rows_that_need_the_same_share_one_propagation():
    """10,000 rows with one missing cell: no more work than distinct boundaries."""
    rng = np.random.default_rng(1)
    codes = holes(rng, 10_000, 0.0)
    codes[3, :] = -1
    (group,) = plan_groups(codes, np.ones(10_000), PARENTS, CARD)
    assert len(group.w) == 2 * 3  # of c and e
    assert group.w.sum() == 10_000


def test_example_22():
    """EM on A -> C by hand."""
    X = pl.DataFrame({"A": ["y", "y", "n", None, None], "C": ["y", "y", "n", "y", "n"]})
    start = [
        CPT("A", [0.5, 0.5], states=["n", "y"]),
        CPT("C", [[0.6, 0.4], [0.4, 0.6]], parents=["A"], states=["n", "y"]),
    ]
    found = []
    for rounds in (1, 2):
        model = BayesianNetwork(cpds=start, max_iter=rounds, tol=0).fit(X)
        a, c = model.cpds_["A"].values, model.cpds_["C"].values
        found.append((a[1], c[1, 1], c[0, 1]))
    assert_allclose(found[0], (0.6, 0.8666666667, 0.2), atol=1e-10)
    assert_allclose(found[1], (0.6133333333, 0.9347826087, 0.0689655172), atol=1e-10)
    expected = [-4.9982127741, -3.8744035736, -3.5613435989]
    assert_allclose(model.history_["log_likelihood"], expected, atol=1e-9)
    assert_allclose(model.history_["before"][1:], expected[:-1], atol=1e-9)


@pytest.mark.parametrize("prior", [None, DirichletPrior(1.0), DirichletPrior(2.0, None, "mode")])
def test_objective_never_falls(prior):
    rng = np.random.default_rng(2)
    codes = holes(rng, 200, 0.3)
    codes[0] = -1  # latent
    rows = gather(table_of(codes), PARENTS)
    shapes = [tuple(CARD[u] for u in (*some, v)) for v, some in enumerate(PARENTS)]
    c = [prior_exponent(prior, v, shape) for v, shape in enumerate(shapes)]
    run = fit_em(rows, random_tables(shapes, rng), c, [False] * 6, max_iter=40, tol=0)
    objective = run.history["objective"]
    assert (np.diff(objective) >= -1e-9).all()
    if prior is not None:
        both = run.history["log_likelihood"] + run.history["log_prior"]
        assert_allclose(both, objective)


def test_weights_are_repetitions_in_em():
    rng = np.random.default_rng(3)
    codes, w = holes(rng, 80, 0.25), rng.integers(0, 4, 80)
    shapes = [tuple(CARD[u] for u in (*some, v)) for v, some in enumerate(PARENTS)]
    start, c = random_tables(shapes, rng), [np.ones(shape) for shape in shapes]
    runs = []
    for table in (table_of(codes, w.astype(float)), table_of(np.repeat(codes, w, axis=1))):
        run = fit_em(gather(table, PARENTS), start, c, [False] * 6, max_iter=5, tol=0)
        runs.append(run.state.tables)
    for a, b in zip(*runs, strict=True):
        assert_allclose(a, b, atol=1e-12)


def test_em_recovers_a_latent_class():
    """Two hidden groups with five signs each: the tables come back, up to the labels."""
    rng = np.random.default_rng(4)
    z = rng.random(4000) < 0.4
    p = np.where(z[:, None], 0.85, 0.2)
    signs = [f"s{j}" for j in range(5)]
    X = pl.DataFrame((rng.random((4000, 5)) < p).astype(int), schema=signs)
    model = BayesianNetwork(
        [("z", s) for s in signs], states={"z": [0, 1]}, random_state=0, max_iter=500, tol=1e-5
    ).fit(X)
    high = max(model.cpds_["s0"].values[:, 1])
    assert_allclose(high, 0.85, atol=0.05)
    share = model.cpds_["z"].values[np.argmax(model.cpds_["s0"].values[:, 1])]
    assert_allclose(share, 0.4, atol=0.05)


def test_a_start_that_excludes_the_data_is_refused():
    X = pl.DataFrame({"a": ["y", "n", None]})
    start = [CPT("a", [0.0, 1.0], states=["n", "y"])]
    with pytest.raises(ValueError, match="probability 0"):
        BayesianNetwork(cpds=start).fit(X)


def test_fixed_tables_stay():
    X = pl.DataFrame({"a": [0, 1, 1, None], "b": [0, 1, None, 1]})
    known = CPT("a", [0.9, 0.1], fixed=True)
    free = CPT("b", [[0.5, 0.5], [0.5, 0.5]], parents=["a"])
    model = BayesianNetwork(cpds=[known, free], tol=1e-9).fit(X)
    assert_allclose(model.cpds_["a"].values, [0.9, 0.1])
    assert model.cpds_["b"].values[1, 1] > 0.9


def test_estimates_of_a_row():
    N = np.array([[8.0, 2.0, 0.0]])
    assert_allclose(learn_table(N, np.zeros((1, 3))).values, [[0.8, 0.2, 0.0]])
    mean = prior_exponent(DirichletPrior(), "x", (1, 3))
    assert_allclose(learn_table(N, mean).values, [[9 / 13, 3 / 13, 1 / 13]])
    mode = prior_exponent(DirichletPrior(2.0, None, "mode"), "x", (1, 3))
    assert_allclose(learn_table(N, mode).values, [[9 / 13, 3 / 13, 1 / 13]])
    spread = prior_exponent(DirichletPrior(equivalent_sample_size=6), "x", (1, 3))
    assert_allclose(spread, 2.0)


def test_bad_priors_are_refused():
    for prior, word in (
        (DirichletPrior(0.5, None, "mode"), "alpha >= 1"),
        (DirichletPrior(-1.0), "alpha"),
        (DirichletPrior("many"), "alpha"),
        (DirichletPrior({"y": 1.0}), "'x'"),
        (DirichletPrior({"x": np.ones(3)}), "shape"),
        (DirichletPrior(equivalent_sample_size=0), "equivalent_sample_size"),
        (DirichletPrior(estimate="median"), "estimate"),
        (0.5, "DirichletPrior"),
    ):
        with pytest.raises(ValueError, match=word):
            prior_exponent(prior, "x", (2, 2))


def test_intervals_are_quantiles_of_the_beta():
    low, high = table_intervals(np.array([[8.0, 2.0, 1.0]]), np.ones((1, 3)), 0.9)
    law = beta([9, 3, 2], [5, 11, 12])
    assert_allclose(low[0], law.ppf(0.05))
    assert_allclose(high[0], law.ppf(0.95))
    low, high = table_intervals(np.array([5.0]), np.zeros(1))
    assert (low, high) == (1.0, 1.0)  # one state only


def test_intervals_of_a_network_cover_the_truth():
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(60):
        X = pl.DataFrame({"a": (rng.random(80) < 0.3).astype(int)})
        model = BayesianNetwork([], prior=DirichletPrior()).fit(X)
        low, high = model.intervals("a", confidence=0.9)
        covered.append(low[1] <= 0.3 <= high[1])
    assert 0.78 <= np.mean(covered) <= 0.99


def test_a_configuration_never_seen_warns():
    X = pl.DataFrame({"a": [0, 0, 1], "b": [0, 0, 0], "c": [1, 0, 1]})
    dag = [("a", "c"), ("b", "c")]
    states = {"b": [0, 1]}
    with pytest.warns(UserWarning, match="never seen"):
        model = BayesianNetwork(dag, states=states).fit(X)
    assert_allclose(model.cpds_["c"].values[:, 1], 0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesianNetwork(dag, states=states, prior=DirichletPrior()).fit(X)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6000), st.integers(0, 2**32 - 1), st.booleans())
def test_counts_are_a_histogram(n, seed, weighted):
    """The interleaved kernel against NumPy, with missing cells and weights."""
    rng = np.random.default_rng(seed)
    card = rng.integers(1, 5, size=3)
    codes = np.stack([rng.integers(-1 if rng.random() < 0.5 else 0, c, n) for c in card])
    w = rng.integers(0, 3, n).astype(float) if weighted else np.empty(0)
    states = tuple(tuple(range(c)) for c in card)
    table = CodedTable(("a", "b", "c"), states, codes.astype(np.int16), w)
    (N,) = family_counts(table, [(2, 0, 1)])
    exact = np.zeros((card[2], card[0], card[1]))
    for i in range(n):
        a, b, c = codes[:, i]
        if min(a, b, c) >= 0:
            exact[c, a, b] += w[i] if weighted else 1.0
    np.testing.assert_array_equal(N, exact)


def test_too_many_states_are_refused():
    with pytest.raises(ValueError, match=r"'x' has 40000 states"):
        encode_table([np.arange(40_000.0)], ["x"], np.ones(40_000))
