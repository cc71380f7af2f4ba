"""Hyperplanes: distances, margins, corners."""

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pellucid.discriminant
import pellucid.linear
from pellucid.core.algebra.hyperplane import Hyperplane


def test_example_3():
    plane = Hyperplane((3, 4), -5)
    x = [[3, 4]]
    assert plane.score(x) == 20
    assert plane.distance(x) == 4
    assert plane.origin_distance == 1
    assert_allclose(plane.project(x), [[0.6, 0.8]])


def test_the_same_class_everywhere():
    assert pellucid.linear.Hyperplane is pellucid.discriminant.Hyperplane is Hyperplane


def test_projection_lies_on_the_plane_at_the_distance():
    rng = np.random.default_rng(0)
    plane, X = Hyperplane(rng.normal(size=4), 0.7), rng.normal(size=(20, 4))
    foot = plane.project(X)
    assert_allclose(plane.score(foot), 0, atol=1e-12)
    assert_allclose(np.linalg.norm(X - foot, axis=1), np.abs(plane.distance(X)))


def test_margins_and_canonical():
    X, y = [[0.0, 0.0], [3.0, 1.0], [4.0, 4.0]], [-1, 1, 1]
    plane = Hyperplane((2.0, 0.0), -3.0)
    assert_allclose(plane.margins(X, y), [3, 3, 5])
    assert_allclose(plane.geometric_margins(X, y), [1.5, 1.5, 2.5])
    canonical = plane.canonical(X, y)
    assert canonical.margins(X, y).min() == pytest.approx(1)
    assert_allclose(canonical.project(X), plane.project(X))
    with pytest.raises(ValueError, match="all margins > 0"):
        plane.canonical(X, [1, 1, 1])


def test_equation():
    assert Hyperplane((-1, 0, 2), 0).equation(["a", "b", "c"]) == "-1 a + 2 c = 0"
    assert Hyperplane((1, -2.5), 3).equation() == "1 x0 - 2.5 x1 + 3 = 0"


def test_frozen_and_equal_by_value():
    plane = Hyperplane([1, 2], 3)
    assert plane == Hyperplane((1.0, 2.0), 3.0)
    assert hash(plane) == hash(Hyperplane((1.0, 2.0), 3.0))
    assert plane != Hyperplane((1.0, 2.0), 4.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        plane.intercept = 1
    with pytest.raises(ValueError, match="read-only"):
        plane.coef[0] = 1


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: Hyperplane((0, 0), 1), "zero"),
        (lambda: Hyperplane((np.nan, 0), 1), "finite"),
        (lambda: Hyperplane((1, 0), 1).score([[1, 2, 3]]), "2 dimensions"),
        (lambda: Hyperplane((1, 0), 1).margins([[1, 2]], [0]), r"-1 and \+1"),
        (lambda: Hyperplane((1, 0), 1).margins([[1, 2]], [1, 1]), "1 and 2"),
        (lambda: Hyperplane((1, 0), 1).equation(["a"]), "2 names"),
    ],
)
def test_refusals(call, match):
    with pytest.raises(ValueError, match=match):
        call()
