"""Damaged tables: every reader gives a table or a ValueError with a sentence, and nothing else."""

import csv
import gzip
import io
import json
import os

import polars as pl
import pytest
from mutations import damaged, faults

from pellucid.data import load, load_idx, spool, write_csv

pytestmark = pytest.mark.filterwarnings("ignore")
FRAME = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 2.5], "c": ["x", 'y,"q"', "z\nw"]})


def written(method):
    out = io.BytesIO()
    getattr(FRAME, method)(out)
    return out.getvalue()


SEEDS = {
    "csv": written("write_csv"),
    "json": written("write_json"),
    "columns.json": json.dumps(FRAME.to_dict(as_series=False)).encode(),
    "jsonl": written("write_ndjson"),
    "parquet": written("write_parquet"),
    "arrow": written("write_ipc"),
    "arrows": written("write_ipc_stream"),
    "csv.gz": gzip.compress(written("write_csv")),
}


@pytest.mark.parametrize("kind", SEEDS)
def test_a_share_of_the_damage(kind, tmp_path):
    assert not faults(load, tmp_path / f"t.{kind}", lambda s: damaged(SEEDS[kind], s), range(60))


@pytest.mark.slow
@pytest.mark.parametrize("kind", SEEDS)
def test_all_of_the_damage(kind, tmp_path):
    seeds = range(10_000)
    assert not faults(load, tmp_path / f"t.{kind}", lambda s: damaged(SEEDS[kind], s), seeds)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, '[{"a":' + "[" * 5000])
@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_deep_nesting_is_one_sentence(text, ending, tmp_path):
    path = tmp_path / f"deep.{ending}"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"deep\.json"):
        load(path)


def test_a_gzip_bomb_is_refused(tmp_path, monkeypatch):
    """A gigabyte of zeros in a megabyte: given up after some 64 MB, which takes no second."""
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(bytes(1 << 24)) * 64)
    unpacked = []

    def counted(name, pieces=spool.gzip_pieces):
        for piece in pieces(name):
            unpacked.append(len(piece))
            yield piece

    monkeypatch.setattr(spool, "gzip_pieces", counted)
    for read in (load, load_idx):
        unpacked.clear()
        with pytest.raises(ValueError, match="unpacks to more than 300 times"):
            read(path)
        assert sum(unpacked) < 2 * spool.SMALL_BYTES + 300 * path.stat().st_size


def test_well_packed_tables_are_read(tmp_path):
    """A table that shrinks a hundredfold is an ordinary one."""
    path = tmp_path / "t.csv.gz"
    text = "a,b\n" + "1234567,some words\n" * 50_000
    path.write_bytes(gzip.compress(text.encode()))
    assert len(text) > 100 * os.path.getsize(path)
    assert load(path).height == 50_000


RISKY = [
    "=1+1", "+1+1", "-1+1", "@sum", "\t=1", "\r=1", " =1", "\n=1", "\tx", "\uff1d1+1", "\uff0b1",
    "\uff0d1", "\uff20x", "\u00a0=1", "\u22121+1",
]  # fmt: skip


@pytest.mark.parametrize("cell", RISKY)
def test_cells_that_a_spreadsheet_would_run(cell):
    out = io.StringIO()
    write_csv({cell: [cell, "plain"], "n": [-1, 2]}, out)
    rows = list(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert (rows[0][0], rows[1][0]) == ("'" + cell, "'" + cell)


@pytest.mark.parametrize(
    "acting", ["\x1b[31m", "\x9b31m", "\u202e", "\u200f", "\u2066", "\x00", "\x07"]
)
def test_characters_that_act_are_written_out(acting):
    out = io.StringIO()
    write_csv({"a" + acting: ["x" + acting + "y", "plain"]}, out)
    assert acting not in out.getvalue()
    assert f"\\u{ord(acting[0]):04x}" in out.getvalue()
