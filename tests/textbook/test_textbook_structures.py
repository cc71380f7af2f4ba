"""The structure learners of the textbook agree with the fast ones."""

from functools import cache

import numpy as np
import polars as pl
import pytest
from agreement import same, same_mean

from pellucid import BayesianNetworkClassifier
from pellucid.graphical import (
    DAG,
    ConstraintBasedStructure,
    DirichletPrior,
    ModelAveragingStructure,
    ScoreBasedStructure,
    enumerate_dags,
)
from pellucid.graphical import independence_test as fast_test
from pellucid.graphical import structure_score as fast_score
from pellucid.textbook.structures.chow_liu import chow_liu
from pellucid.textbook.structures.exact_structure import exact_structure
from pellucid.textbook.structures.hill_climbing import hill_climbing, neighbours, steps
from pellucid.textbook.structures.independence_test import independence_test
from pellucid.textbook.structures.pc_algorithm import pc_algorithm
from pellucid.textbook.structures.structure_averaging import graphs, structure_averaging
from pellucid.textbook.structures.structure_mcmc import structure_mcmc
from pellucid.textbook.structures.structure_score import family_score, structure_score
from pellucid.textbook.structures.tree_augmented_bayes import probabilities, tree_augmented_bayes

rng = np.random.default_rng(0)
NAMES = ["x0", "x1", "x2", "x3", "x4"]


def rows(n=600):
    """x0 -> x2 <- x1, x2 -> x3, x3 -> x4: strong links."""
    a, b = rng.integers(2, size=(2, n))
    c = np.where(rng.random(n) < 0.05, rng.integers(2, size=n), a & b)
    d = np.where(rng.random(n) < 0.15, 1 - c, c)
    e = np.where(rng.random(n) < 0.15, 1 - d, d)
    X = np.column_stack([a, b, c, d, e])
    return X, pl.DataFrame(X, schema=NAMES)


def dag_of(parents):
    return DAG([(NAMES[p], NAMES[v]) for v, f in enumerate(parents) for p in f], NAMES)


def score_of(X, kind="bic"):
    return cache(lambda v, parents: family_score(X, [2] * 5, v, list(parents), kind))


def test_independence_test():
    X, frame = rows(200)
    for a, b, Z in [(0, 1, ()), (0, 2, (1,)), (2, 4, (3,)), (0, 4, (1, 3))]:
        z = sum((X[:, v] * 2**i for i, v in enumerate(Z)), np.zeros(200, dtype=int))
        fast = fast_test(frame, NAMES[a], NAMES[b], [NAMES[v] for v in Z])
        same(independence_test(X[:, a], X[:, b], z), fast, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_pc_algorithm(seed):
    rng.bit_generator.state = np.random.default_rng(seed).bit_generator.state
    X, frame = rows()

    def independent(a, b, Z):
        z = sum((X[:, v] * 2**i for i, v in enumerate(Z)), np.zeros(len(X), dtype=int))
        return independence_test(X[:, a], X[:, b], z).p_value > 0.01

    arrows, edges = pc_algorithm(5, independent)
    fast = ConstraintBasedStructure(alpha=0.01, colliders="first").fit(frame)
    assert {(NAMES[a], NAMES[b]) for a, b in arrows} == fast.cpdag_.directed
    assert {frozenset(NAMES[v] for v in edge) for edge in edges} == fast.cpdag_.undirected


@pytest.mark.parametrize("kind", ["log_likelihood", "aic", "bic", "bdeu"])
def test_structure_score(kind):
    X, frame = rows(100)
    parents = [[], [0], [0, 1], [2], [1, 3]]
    fast = fast_score(dag_of(parents), frame, score=kind)
    same(structure_score(X, [2] * 5, parents, kind), fast)


def test_searches():
    X, frame = rows()
    score = score_of(X)
    climbed = hill_climbing(5, score)
    fast = ScoreBasedStructure(search="hill_climbing").fit(frame)
    assert climbed.score <= fast.score_ + 1e-9  # it may go sideways, too
    same(climbed.score, fast_score(dag_of(climbed.parents), frame))
    assert np.all(np.diff([s.score for s in steps(5, score)]) > 0)
    for _, other in neighbours(climbed.parents):
        total = sum(score(v, tuple(sorted(p))) for v, p in enumerate(other))
        assert total <= climbed.score + 1e-9
    parents, best = exact_structure(5, score)
    exact = ScoreBasedStructure(search="exact").fit(frame)
    same(best, exact.score_)
    assert dag_of(parents).cpdag() == exact.cpdag_
    assert best >= climbed.score - 1e-9


def test_chow_liu():
    X, frame = rows()
    fast = ScoreBasedStructure(score="log_likelihood", search="chow_liu").fit(frame)
    ours = {frozenset((NAMES[a], NAMES[b])) for a, b in chow_liu(X)}
    assert ours == fast.dag_.skeleton()


def test_structure_averaging():
    X, frame = rows(60)
    X, frame = X[:, :4], frame[:, :4]
    score = cache(lambda v, parents: family_score(X, [2] * 4, v, list(parents), "bdeu"))
    assert len(list(graphs(4))) == len(list(enumerate_dags(NAMES[:4]))) == 543
    P = structure_averaging(4, score)
    fast = ModelAveragingStructure().fit(frame)
    for a in range(4):
        for b in range(4):
            if a != b:
                same(P[a, b], fast.edge_probability(NAMES[a], NAMES[b]), atol=1e-9)
    few = rng.integers(2, size=(25, 3))  # weak links, so that the walk gets about
    score = cache(lambda v, parents: family_score(few, [2] * 3, v, list(parents), "bdeu"))
    walks = [structure_mcmc(3, score, 300, rng) for _ in range(20)]
    same_mean(walks, structure_averaging(3, score))


def test_tree_augmented_bayes():
    X, frame = rows(300)
    X, c = X[:, :4], X[:, 4]
    fast = BayesianNetworkClassifier("tan", prior=DirichletPrior(1.0)).fit(frame[:, :4], c)
    book = tree_augmented_bayes(X, c, [2] * 4, 1.0)
    edges = {frozenset((NAMES[u], NAMES[v])) for v, u in enumerate(book.parent) if u >= 0}
    tree = {e for e in fast.network_.dag_.skeleton() if e <= set(NAMES[:4])}
    assert edges == tree
    same(probabilities(book, X), fast.predict_proba(frame[:, :4]))
    child = {v: p for p, v in fast.network_.dag_.edges if p in NAMES[:4]}
    if all(
        child.get(NAMES[v]) == (NAMES[u] if u >= 0 else None) for v, u in enumerate(book.parent)
    ):
        same(probabilities(book, X), fast.predict_proba(frame[:, :4]), atol=1e-9)
