"""The computational graph and boolean formulas."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from pellucid.neural import Value, boolean_network
from pellucid.neural.layers.activations import ACTIVATIONS


def test_example_gradient_of_the_course():
    x1, x2 = Value(2.0, "x1"), Value(0.5, "x2")
    y1, y2 = x1**2 * x2.exp(), x2**3
    z = y1 * (1 - y2.exp())
    z.backward()
    assert_allclose(z.value, -0.8780987469, atol=1e-8)
    assert_allclose([x1.grad, x2.grad], [-0.8780987469, -6.4828366192], atol=1e-8)
    graph = z.graph()
    assert {node.name for node in graph} >= {"x1", "x2"}
    last = graph[-1]
    assert last.gradient == 1.0
    assert_allclose(last.local, [1 - np.exp(0.125), 4 * np.exp(0.5)])


@settings(max_examples=60, deadline=None)
@given(
    words=st.lists(
        st.sampled_from(["add", "mul", "sub", "div", "tanh", "relu", "logistic", "exp", "log",
                         "pow", "power"]),
        min_size=1, max_size=8,
    ),
    a=st.floats(0.3, 1.5), b=st.floats(0.3, 1.5),
)  # fmt: skip
def test_any_graph_has_the_derivatives_of_its_value(words, a, b):
    def run(u, v):
        x, y = Value(u), Value(v)
        z = x
        for word in words:
            if word == "add":
                z = z + y * z
            elif word == "mul":
                z = 0.3 * z * y
            elif word == "sub":
                z = 1 - z - y
            elif word == "div":
                z = z / (y + 2) + 1 / (y + 1)
            elif word == "exp":
                z = (z.tanh()).exp()
            elif word == "log":
                z = (z * z + 1).log()
            elif word == "pow":
                z = z.tanh() ** 2
            elif word == "power":
                z = (z.logistic() + 1) ** y
            else:
                z = getattr(z, word)()
        return x, y, z

    x, y, z = run(a, b)
    z.backward()
    h = 1e-6
    numeric = [
        (run(a + h, b)[2].value - run(a - h, b)[2].value) / (2 * h),
        (run(a, b + h)[2].value - run(a, b - h)[2].value) / (2 * h),
    ]
    assert_allclose([x.grad, y.grad], numeric, rtol=1e-4, atol=1e-5)


def test_rules_are_those_of_the_layers(monkeypatch):
    """One place to change a derivative."""
    lie = ACTIVATIONS["tanh"]._replace(derivative=lambda z, a: 7.0)
    monkeypatch.setitem(ACTIVATIONS, "tanh", lie)
    x = Value(1.0)
    x.tanh().backward()
    assert x.grad == 7.0


def test_backward_twice_gives_the_same_and_shared_nodes_add_up():
    x = Value(3.0)
    y = x * x + x
    y.backward()
    y.backward()
    assert x.grad == 7.0


def test_cycles_and_bad_points_are_refused():
    x = Value(1.0, "x")
    y = x + 1
    x.parents, x.local = (y,), (1.0,)
    with pytest.raises(ValueError, match="cycle"):
        y.backward()
    with pytest.raises(ValueError, match="log"):
        Value(0.0).log()


def test_deep_graphs_do_not_recurse():
    x = z = Value(1.0)
    for _ in range(5000):
        z = z + 0.001
    z.backward()
    assert x.grad == 1.0


# --- boolean formulas ---


def truth(formula, names):
    for row in itertools.product([0, 1], repeat=len(names)):
        yield row, float(bool(eval(formula, {}, dict(zip(names, row, strict=True)))))


def test_example_two_clauses():
    found = boolean_network("(A and B) or (C and D)")
    assert found.variables == ("A", "B", "C", "D")
    assert sum(row["output"][0] for row in found.network.shapes()) == 3
    for row, value in truth("(A and B) or (C and D)", found.variables):
        assert found.predict([row])[0] == value


@settings(max_examples=60, deadline=None)
@given(
    clauses=st.lists(
        st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), min_size=1, max_size=4),
        min_size=1, max_size=4,
    ),
    dnf=st.booleans(),
)  # fmt: skip
def test_any_normal_form(clauses, dnf):
    inner, outer = (" and ", " or ") if dnf else (" or ", " and ")
    parts = [inner.join(("not " if n else "") + v for v, n in clause) for clause in clauses]
    formula = outer.join(f"({part})" for part in parts)
    found = boolean_network(formula)
    for row, value in truth(formula, found.variables):
        assert found.predict([row])[0] == value, (formula, row)


@pytest.mark.parametrize(
    "formula", ["a and", "(a or b", "a b", "a ? b", "", "a and (b or (c and d))", "not (a and b)"]
)
def test_bad_formulas_are_refused(formula):
    with pytest.raises(ValueError, match=r"."):
        boolean_network(formula)
