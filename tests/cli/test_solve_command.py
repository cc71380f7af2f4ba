"""``pellucid solve``: processes written down as JSON."""

import json

import numpy as np
import pytest

import pellucid
from pellucid.reinforcement import MDP, ValueIteration, grid_world, read_mdp

TWO = {
    "states": ["near", "far"], "actions": ["stay", "go"], "discount": 0.9,
    "transitions": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]], "rewards": [[1, 0], [2, 0]],
}  # fmt: skip
NAMED = {
    "transitions": {
        "near": {"stay": {"near": 1}, "go": {"far": 1}},
        "far": {"stay": {"far": 1}, "go": {"near": 1}},
    },
    "rewards": {"near": {"stay": 1}, "far": {"stay": 2}},
}


@pytest.fixture
def written(tmp_path):
    def write(record, name="mdp.json"):
        path = tmp_path / name
        path.write_text(record if isinstance(record, str) else json.dumps(record))
        return str(path)

    return write


@pytest.mark.parametrize("method", ["value", "policy", "modified", "linear"])
def test_example_27_by_every_method(inside, written, method):
    done = inside("solve", written(TWO), "--method", method, "--json")
    record = json.loads(done.out)
    np.testing.assert_allclose(record["values"], [18, 20], atol=1e-6)
    np.testing.assert_allclose(record["q"], [[17.2, 18], [20, 16.2]], atol=1e-6)
    assert record["policy"] == ["go", "stay"]
    assert (record["method"], record["discount"]) == (method, 0.9)


def test_screen_horizon_gamma_and_model_file(inside, written, tmp_path):
    path = written(TWO)
    out = inside("solve", path).out
    assert "near" in out
    assert "Q stay" in out
    record = json.loads(inside("solve", path, "--gamma", "1", "--horizon", "3", "--json").out)
    assert [row[0] for row in record["values"]] == [0, 1, 2, 4]
    assert [row[0] for row in record["policy"]] == ["stay", "stay", "go"]
    assert record["q"][0] == [3, 4]
    plan = tmp_path / "plan.pellucid"
    assert inside("solve", path, "--quiet", "--out", str(plan)).out == ""
    np.testing.assert_allclose(pellucid.load(plan).values_, [18, 20], atol=1e-6)
    assert inside("solve", path, "--out", str(plan)).code == 6


def test_names_grids_and_environments(inside, written):
    np.testing.assert_allclose(
        ValueIteration().fit(read_mdp(NAMED)).q_, ValueIteration().fit(read_mdp(TWO)).q_
    )
    layout = ["...+", ".#.-", "S..."]
    record = json.loads(inside("solve", written({"grid": layout}), "--json").out)
    want = ValueIteration(tol=1e-10).fit(grid_world(layout)).values_
    np.testing.assert_allclose(record["values"], want)
    assert record["policy"][3] is None
    lake = read_mdp({"gymnasium": "FrozenLake-v1", "discount": 0.99})
    np.testing.assert_allclose(ValueIteration(tol=1e-12).fit(lake).values_[0], 0.542025932)
    big = written({"grid": ["." * 30, "." * 29 + "+"], "discount": 0.9})
    assert "and 20 more states" in inside("solve", big).out


def test_the_three_depths_of_rewards():
    walk = {"a": {"x": {"a": 0.5, "b": 0.5}}, "b": {"x": {"b": 1}}}
    by_state = read_mdp({"transitions": walk, "rewards": {"a": 3}})
    by_pair = read_mdp({"transitions": walk, "rewards": {"a": {"x": 3}}})
    by_outcome = read_mdp({"transitions": walk, "rewards": {"a": {"x": {"a": 2, "b": 4}}}})
    for mdp in (by_state, by_pair, by_outcome):
        assert mdp.rewards.tolist() == [[3.0], [0.0]]
    assert isinstance(by_state, MDP)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"transitions": [[[1, 0], [0.5, 0.4]], [[0, 1], [1, 0]]]},
         "state 'near', action 'go' sum to 0.9"),
        ({"transitions": [[1, 2], [3]]}, "nested lists of numbers"),
        ({"rewards": {"near": 1}}, "rewards must be lists where transitions are lists"),
        ({"reward": [1, 2]}, "'reward' is no key"),
        ({"terminal": ["middle"]}, "'middle' is not a state"),
    ],
)  # fmt: skip
def test_bad_tables_are_refused_with_the_row(inside, written, change, sentence):
    done = inside("solve", written(TWO | change))
    assert done.code == 3
    assert sentence in done.err
    assert len(done.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"transitions":' * 50_000, "nested too deeply"),
        ("[1]", "must hold one JSON object, got list"),
        ({}, "one of the keys 'transitions', 'grid', 'gymnasium'"),
        ({"transitions": TWO["transitions"]}, "needs 'rewards'"),
        ({"gymnasium": "os:system-v0"}, "must be the id of an environment"),
        ({"gymnasium": "Nope-v9"}, "there is no environment 'Nope-v9'"),
        ({"grid": ["..", "."]}, "equally long"),
        ({"grid": ["." * 4000] * 3000}, "has 12,000,000 cells, and 1,048,576 are the most"),
        (NAMED | {"rewards": {"nowhere": 1}}, "'nowhere', which is not among near, far"),
        (NAMED | {"rewards": {"near": "much"}}, "less than 1e300, got 'much'"),
        (NAMED | {"transitions": {}}, "transitions must hold a state with an action"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_bad_files_are_refused_in_one_sentence(inside, written, record, sentence):
    file = written(record)
    done = inside("solve", file)
    assert done.code == 3
    assert sentence in done.err
    assert done.err.count(str(file)) == 1
    assert len(done.err.splitlines()) == 1


def test_usage_errors(inside, written):
    assert inside("solve", "nowhere.json").code == 3
    done = inside("solve", written(TWO), "--horizon", "3", "--method", "policy")
    assert done.code == 2
    assert "leave --method out" in done.err
    done = inside("solve", written(TWO), "--gamma", "1")
    assert done.code == 2
    assert "terminal state must be reachable" in done.err
