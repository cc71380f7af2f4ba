"""Good files of every format that is read, and as many damaged ones as wanted, by a seed."""

import gzip
import io
import json
import tempfile
from functools import cache
from pathlib import Path

import polars as pl
from mutations import altered, damaged

from pellucid.data import load, load_network
from pellucid.graphical import read_network, write_network
from pellucid.reinforcement import read_mdp

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 2.5], "c": ["x", 'y,"q"', "z\nw"]})
TABLES = ("csv", "json", "columns.json", "jsonl", "parquet", "arrow", "arrows", "csv.gz")
NETWORKS = ("bif", "xmlbif", "net", "bif.gz")
TWO = {
    "states": ["near", "far"],
    "actions": ["stay", "go"],
    "discount": 0.9,
    "transitions": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]],
    "rewards": [[1, 0], [2, 0]],
    "terminal": ["far"],
    "start": "near",
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
PROCESSES = ("process.json",)
KINDS = (*TABLES, *NETWORKS, *PROCESSES)


def reader(kind):
    """The function that reads files of this kind."""
    return load if kind in TABLES else read_network if kind in NETWORKS else read_mdp


@cache
def good(kind):
    """The bytes of a file that is read without a word."""
    if kind == "columns.json":
        return json.dumps(FRAME.to_dict(as_series=False)).encode()
    if kind in NETWORKS:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, f"asia.{kind}")
            write_network(read_network(load_network("asia")), path)
            return path.read_bytes()
    if kind == "csv.gz":
        return gzip.compress(good("csv"))
    names = {"json": "json", "jsonl": "ndjson", "arrow": "ipc", "arrows": "ipc_stream"}
    out = io.BytesIO()
    getattr(FRAME, f"write_{names.get(kind, kind)}")(out)
    return out.getvalue()


def processes():
    """Good decision processes, one for each way to write them."""
    return [json.dumps(record).encode() for record in (TWO, NAMED, GRID)]


def bad(kind, seed):
    """The bytes of a damaged file; every other packed one is damaged inside the packing."""
    if kind in PROCESSES:
        text = processes()[seed % 3]
        whole = seed % 9 < 6
        return (
            json.dumps(altered(json.loads(text), seed)).encode() if whole else damaged(text, seed)
        )
    if kind.endswith(".gz") and seed % 2:
        return gzip.compress(damaged(good(kind.removesuffix(".gz")), seed))
    return damaged(good(kind), seed)
