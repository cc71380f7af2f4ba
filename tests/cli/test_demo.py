"""`pellucid demo`."""

import pytest

from pellucid.cli.shared.options import Code
from pellucid.study.examples.examples import Demo, Line, all_demos, run_demo


@pytest.mark.parametrize("name", sorted(all_demos()))
def test_every_demo_agrees(name):
    outcome = run_demo(all_demos()[name])
    assert [line.what for line in outcome.lines if not line.agrees] == []


def test_there_are_many_and_their_names_are_unique():
    demos = all_demos()
    assert len(demos) >= 45
    assert all(name == demo.name for name, demo in demos.items())


def test_a_wrong_number_differs():
    assert not Line("a", [1.0, 2.0], [1.0, 2.1]).agrees
    assert not Line("a", [1.0], [1.0, 2.0]).agrees
    assert not Line("a", float("nan"), 1.0).agrees
    assert Line("a", "x", "x").agrees


def test_a_demo_that_stops_is_said():
    def stops():
        raise ValueError("no such thing")

    outcome = run_demo(Demo("a", "b", "c", (), stops))
    assert not outcome.agrees
    assert "no such thing" in outcome.lines[0].value


def test_command(pellucid):
    listing = pellucid("demo")
    assert listing.code == Code.DONE
    assert all(name in listing.out for name in all_demos())
    assert max(map(len, listing.out.splitlines())) <= 100
    assert len(pellucid("demo", "--list", "--json").json["demos"]) == len(all_demos())
    one = pellucid("demo", "kmeans")
    assert (one.code, "agrees" in one.out) == (Code.DONE, True)
    record = pellucid("demo", "kmeans", "--json").json
    assert record["agrees"]
    near = pellucid("demo", "kmean")
    assert (near.code, "kmeans" in near.err) == (Code.USAGE, True)
    assert pellucid("demo", "kmeans", "--quiet").out == ""
