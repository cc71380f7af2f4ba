"""Damaged networks and decision processes: a ValueError with a sentence, and nothing else."""

import gzip
import json

import pytest
from mutations import altered, damaged, faults

from pellucid.data import load_network
from pellucid.graphical import read_network, write_network
from pellucid.reinforcement import read_mdp

KINDS = ("bif", "xmlbif", "net", "bif.gz")
TWO = {
    "states": ["near", "far"],
    "actions": ["stay", "go"],
    "discount": 0.9,
    "transitions": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]],
    "rewards": [[1, 0], [2, 0]],
    "terminal": ["far"],
    "start": [1, 0],
}
NAMED = {
    "transitions": {
        "near": {"stay": {"near": 1}, "go": {"far": 1}},
        "far": {"stay": {"far": 1}, "go": {"near": 1}},
    },
    "rewards": {"near": {"stay": 1}, "far": {"stay": 2}},
    "terminal": ["far"],
}
GRID = {
    "grid": ["...+", ".#.-", "S..."],
    "step_reward": -0.1,
    "slip": 0.1,
    "discount": 0.9,
    "exits": {"+": 1, "-": -1},
}


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """The bytes of one network in every format."""
    asia = read_network(load_network("asia"))
    folder = tmp_path_factory.mktemp("networks")
    for kind in KINDS:
        write_network(asia, folder / f"asia.{kind}")
    return {kind: (folder / f"asia.{kind}").read_bytes() for kind in KINDS}


def process(seed):
    """A damaged decision process: its values two times in three, else its bytes."""
    record = (TWO, NAMED, GRID)[seed % 3]
    if seed % 9 < 6:
        return json.dumps(altered(record, seed)).encode()
    return damaged(json.dumps(record).encode(), seed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_share_of_the_damaged_networks(kind, seeds, tmp_path):
    path = tmp_path / f"n.{kind}"
    assert not faults(read_network, path, lambda s: damaged(seeds[kind], s), range(60))


def test_a_share_of_the_damaged_processes(tmp_path):
    assert not faults(read_mdp, tmp_path / "p.json", process, range(300))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_of_the_damaged_networks(kind, seeds, tmp_path):
    path = tmp_path / f"n.{kind}"
    assert not faults(read_network, path, lambda s: damaged(seeds[kind], s), range(10_000))


@pytest.mark.slow
def test_all_of_the_damaged_processes(tmp_path):
    assert not faults(read_mdp, tmp_path / "p.json", process, range(10_000))


def test_a_packed_network_that_ends_early(seeds, tmp_path):
    path = tmp_path / "n.bif.gz"
    path.write_bytes(seeds["bif.gz"][:200])
    with pytest.raises(ValueError, match="broken gzip file"):
        read_network(path)
    path.write_bytes(gzip.compress(b"\xff\xfe"))
    with pytest.raises(ValueError, match="not UTF-8 text"):
        read_network(path)


def test_a_table_larger_than_any_network_has(tmp_path):
    """Forty parents with a default row ask for a terabyte."""
    names = [f"x{i}" for i in range(40)]
    text = "".join(f"variable {n} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for n in names)
    text += "".join(f"probability ( {n} ) {{ table 0.5, 0.5; }}\n" for n in names[1:])
    text += f"probability ( x0 | {', '.join(names[1:])} ) {{ default 0.5, 0.5; }}\n"
    path = tmp_path / "n.bif"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"needs .* numbers, at most"):
        read_network(path)
