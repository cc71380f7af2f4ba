"""JointTable: brute force over states, the chain rule, independence, refusals."""

from itertools import permutations, product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid.maths import JointTable

g = np.random.default_rng(0)
STATES = {"a": (0, 1), "b": ("x", "y", "z"), "c": (1.0, 2.5, -1.0, 4.0)}


def table(zeros=False):
    p = g.random((2, 3, 4))
    if zeros:
        p[1, 2] = 0.0
    return JointTable(p, STATES, normalise=True)


def cells(t):
    return [(dict(zip(t.names, x, strict=True)), q) for x, q in
            zip(product(*t.variables.values()), t.p.ravel(), strict=True)]  # fmt: skip


def brute(t, **states):
    return sum(q for x, q in cells(t) if all(x[k] == v for k, v in states.items()))


def test_marginal_and_condition_by_enumeration():
    t = table(zeros=True)
    m = t.marginal("c", "a")
    assert m.names == ("c", "a")
    for i, c in enumerate(STATES["c"]):
        for j, a in enumerate(STATES["a"]):
            assert_allclose(m.p[i, j], brute(t, c=c, a=a), atol=1e-15)
    given = t.condition(b="y")
    assert given.names == ("a", "c")
    assert_allclose(given.p[1, 2], brute(t, a=1, b="y", c=-1.0) / brute(t, b="y"))
    assert_allclose(t.probability(a=1, c=2.5), brute(t, a=1, c=2.5))
    assert_allclose(t.condition({"a": 0}).marginal("b").p, t.marginal("a", "b").condition(a=0).p)
    everything = t.condition(a=0, b="x", c=1.0)
    assert everything.p.shape == ()
    assert everything.p == 1.0


@pytest.mark.parametrize("order", list(permutations("abc")))
def test_chain_rule_multiplies_back(order):
    t = table(zeros=True)
    rule = t.chain_rule(order)
    assert_allclose(rule.product(), t.marginal(*order).p, atol=1e-15)
    for factor in rule.factors:  # each is a distribution, or 0 where the condition is impossible
        sums = factor.p.sum(axis=-1)
        assert np.all(np.isclose(sums, 1) | (sums == 0))
    assert str(rule).startswith(f"P({', '.join(order)}) = P({order[0]}) P({order[1]} | {order[0]})")


def test_independence():
    """A chain a -> b -> c: a and c depend, but not given b; a rare b hides nothing."""
    a = np.array([0.3, 0.7])
    b_a = np.array([[1 - 1e-6, 1e-6], [1 - 2e-6, 2e-6]])
    c_b = np.array([[0.1, 0.9], [0.6, 0.4]])
    t = JointTable(np.einsum("i,ij,jk->ijk", a, b_a, c_b), dict.fromkeys("abc", (0, 1)))
    assert t.independent("a", "c", given="b")
    assert t.independent("a", "c", given=["b"])
    assert not t.independent(["a"], ["b", "c"])
    assert not t.independent("b", "c", given="a", tol=1e-9)
    bent = t.p.copy()
    bent[:, 1] = bent[:, 1].sum() * np.array([[0.5, 0.0], [0.0, 0.5]])  # dependent given a rare b
    assert not JointTable(bent, t.variables).independent("a", "c", given="b", tol=1e-3)


def test_means():
    t = table()
    by_hand = sum(q * x["a"] * x["c"] for x, q in cells(t))
    assert_allclose(t.expectation(lambda a, b, c: a * c), by_hand)
    assert_allclose(t.expectation("c"), t.expectation(lambda a, b, c: c))
    total = sum(t.conditional_mean("c", b=b) * t.probability(b=b) for b in STATES["b"])
    assert_allclose(total, t.expectation("c"))  # the tower rule
    assert_allclose(t.conditional_mean("c"), t.expectation("c"))


def test_refusals():
    two = {"a": (0, 1)}
    for p, message in [
        ([0.5, 0.6], "sum to 1, got 1.1"),
        ([1.5, -0.5], "got -0.5"),
        ([np.nan, 1.0], "got nan"),
        ([1.0], "shape"),
        ([0.0, 0.0], "got 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            JointTable(p, two)
    assert JointTable([2, 6], two, normalise=True).p.tolist() == [0.25, 0.75]
    t = JointTable([[0.5, 0.5], [0.0, 0.0]], {"a": (0, 1), "word": ("u", "v")})
    with pytest.raises(ValueError, match=r"P\(a=1\) = 0"):
        t.condition(a=1)
    with pytest.raises(ValueError, match="states"):
        t.condition(a=7)
    with pytest.raises(ValueError, match="did you mean 'word'"):
        t.marginal("wrd")
    with pytest.raises(ValueError, match="numbers"):
        t.expectation("word")
    with pytest.raises(ValueError, match="distinct"):
        t.independent("a", "a")
    with pytest.raises(ValueError, match="distinct"):
        JointTable([0.5, 0.5], {"a": (1, 1)})
    with pytest.raises(ValueError, match="once"):
        t.chain_rule(["a"])
    with pytest.raises(ValueError, match="read-only"):
        t.p[0, 0] = 1.0
    assert "word" in str(t)
    assert repr(t) == "JointTable(a: 2, word: 2)"
