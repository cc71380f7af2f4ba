"""Damaged files: every reader gives what it reads or a ValueError with a sentence, nothing else."""

import csv
import gzip
import io
import json
import os
import zipfile
from datetime import datetime

import pandas as pd
import polars as pl
import pytest
from damaged_inputs import KINDS, PROCESSES, bad, faults, good, processes, reader

from pellucid.core.runtime.apart import LOOP, Apart
from pellucid.data import load, load_idx, spool, table, write_csv

pytestmark = pytest.mark.filterwarnings("ignore")
SLICE = 500  # of the 10,000 files of each kind


def found(kind, folder, seeds):
    return faults(reader(kind), folder / f"t.{kind}", lambda seed: bad(kind, seed), seeds)


@pytest.mark.parametrize("kind", KINDS)
def test_good_files_are_read(kind, tmp_path):
    path = tmp_path / f"t.{kind}"
    for content in processes() if kind in PROCESSES else [good(kind)]:
        path.write_bytes(content)
        reader(kind)(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_share_of_the_damage(kind, tmp_path):
    assert not found(kind, tmp_path, range(60))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 10_000, SLICE))
@pytest.mark.parametrize("kind", KINDS)
def test_all_of_the_damage(kind, first, tmp_path):
    assert not found(kind, tmp_path, range(first, first + SLICE))


@pytest.mark.parametrize("kind", ["parquet", "arrow", "arrows"])
def test_a_file_that_would_end_the_process_is_refused(kind, tmp_path, monkeypatch):
    """Polars aborts over some impossible sizes; it is another process that dies of them."""
    path = tmp_path / f"t.{kind}"
    path.write_bytes(good(kind))
    monkeypatch.setattr(table, "_whole", Apart("import os\ndef answer_to(x): os.abort()"))
    with pytest.raises(ValueError, match="file: its sizes are impossible"):
        load(path)
    if kind != "arrows":  # where a stream ends is known to nobody: a large one is tried too
        monkeypatch.setattr(table, "TRIED_BYTES", 0)
        assert load(path).height == 3


@pytest.mark.parametrize("method", ["write_parquet", "write_ipc", "write_ipc_stream"])
@pytest.mark.parametrize("steps", [2**62, -(2**62), 253_402_300_800_000_000])
def test_dates_of_no_calendar_are_refused(method, steps, tmp_path):
    path = tmp_path / ("t.parquet" if "parquet" in method else "t.arrow")
    moments = pl.Series("when", [0, steps, None], pl.Int64).cast(pl.Datetime("us"))
    getattr(pl.DataFrame([moments]), method)(path)
    with pytest.raises(ValueError, match="column 'when' has dates outside the years 1 to 9999"):
        load(path)


def test_the_last_moment_of_the_calendar_is_read(tmp_path):
    path = tmp_path / "t.parquet"
    last = [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)]
    pl.DataFrame({"when": last, "day": [moment.date() for moment in last]}).write_parquet(path)
    assert load(path)["when"].to_list() == last


@pytest.mark.parametrize("name", ["*", "^a.*$"])
def test_names_that_are_patterns(name, tmp_path):
    """Polars would read them as several columns."""
    path = tmp_path / "t.csv"
    path.write_text(f"a,{name},c\n1,2,3\n")
    assert load(path).columns == ["a", "column_2", "c"]
    frame = pl.DataFrame({"a": [1], name: [2]})
    frame.write_parquet(tmp_path / "t.parquet")
    for source in (frame, tmp_path / "t.parquet"):
        with pytest.raises(ValueError, match="which is a pattern: rename it"):
            load(source)


def test_a_bare_carriage_return_within_a_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b,c\n1,0.5,x\n2,,\r"y,""q"""\n3,2.5,"z\nw"\n')
    with pytest.raises(ValueError, match=r"t\.csv: line \d+"):
        load(path)


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


@pytest.mark.parametrize("honest", [True, False])
def test_a_workbook_that_is_a_bomb_is_refused(honest, tmp_path):
    """Also one that says that its part is small: it is unpacked, up to the limit, to be sure."""
    path, size = tmp_path / "t.xlsx", spool.SMALL_BYTES + 12345
    path.write_bytes(good("xlsx"))
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/sharedStrings.xml", bytes(size))
    if not honest:
        said, small = size.to_bytes(4, "little"), (99).to_bytes(4, "little")
        assert path.read_bytes().count(said) == 2
        path.write_bytes(path.read_bytes().replace(said, small))
    with pytest.raises(ValueError, match="unpacks to more than 300 times"):
        load(path)


def test_a_workbook_of_a_version_to_come_is_one_sentence(tmp_path):
    path, content = tmp_path / "t.xlsx", bytearray(good("xlsx"))
    content[content.index(b"PK\x01\x02") + 6] = 91
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"not a whole Excel file: zip file version 9\.1"):
        load(path)


@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_lines_that_name_a_column_each_are_refused(ending, tmp_path):
    """Twenty thousand short lines would be a table of 400 million cells."""
    path = tmp_path / f"t.{ending}"
    rows = [f'{{"k{i}": 1}}' for i in range(20_000)]
    path.write_text("\n".join([*rows, ""]) if ending == "jsonl" else f"[{','.join(rows)}]")
    with pytest.raises(
        ValueError, match=r"grows to 20,000 rows and 20,000 columns from .* no table"
    ):
        load(path)


def test_lines_of_many_different_names_are_read(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"a{i % 50}": {{"b{i}": 1}}}}\n' for i in range(2000)))
    assert load(path).width == 50


@pytest.mark.parametrize("tried", [1 << 26, 0])
@pytest.mark.parametrize("kind", ["parquet", "arrow", "arrows"])
def test_a_value_written_once_for_millions_of_rows_is_refused(kind, tried, tmp_path, monkeypatch):
    """The limit is 2**29 cells, or 300 for each byte; large files are not tried before."""
    path = tmp_path / f"t.{kind}"
    frame = pl.DataFrame({"x": pl.zeros(4_000_000, pl.Int8, eager=True)})
    if kind == "parquet":
        frame.write_parquet(path)
    else:
        method = frame.write_ipc if kind == "arrow" else frame.write_ipc_stream
        method(path, compression="zstd")
    monkeypatch.setattr(table, "TRIED_BYTES", tried)
    assert load(path).height == 4_000_000
    monkeypatch.setattr(table, "MOST_NUMBERS", 1_000_000)
    with pytest.raises(ValueError, match=r"grows to 4,000,000 rows and 1 columns from .* no table"):
        load(path)


def test_the_trial_has_a_bound_of_memory(tmp_path, monkeypatch):
    """Cells may be lists: how many numbers those hold is known only when they are read."""
    path = tmp_path / "t.parquet"
    zeros = pl.zeros(100_000_000, pl.Int8, eager=True).implode().alias("x")
    pl.DataFrame([zeros]).write_parquet(path)
    little = table._whole.program.replace(str(table.TRIAL_MEMORY), str(5 << 25))
    monkeypatch.setattr(table, "_whole", Apart(little.removesuffix(LOOP)))
    with pytest.raises(ValueError, match="not a whole Parquet file"):
        load(path)


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


LONG = [10**400, 10**400 + 1, None]


@pytest.mark.parametrize(
    "made",
    [
        lambda folder: {"a": LONG},
        lambda folder: pd.DataFrame({"a": pd.Series(LONG, dtype=object)}),
        lambda folder: written(folder / "long.json", json.dumps([{"a": cell} for cell in LONG])),
        lambda folder: written(folder / "long.json", json.dumps({"a": LONG})),
    ],
)
def test_whole_numbers_that_no_column_can_hold_stay_what_they_are(made, tmp_path):
    """As text: as numbers they were an error from inside Polars, or null."""
    assert load(made(tmp_path))["a"].to_list() == [None if n is None else str(n) for n in LONG]


@pytest.mark.parametrize("text", ['[{"a": "\\ud800"}]', '[{"\\udc00": 1}]', '{"a": ["\\ud800x"]}'])
def test_half_a_character_is_one_sentence(text, tmp_path):
    with pytest.raises(ValueError, match=r"half.json is not JSON .*half a character"):
        load(written(tmp_path / "half.json", text))
    whole = text.replace("\\ud800", "\\ud83d\\ude00").replace("\\udc00", "\\ud83d\\ude00")
    assert load(written(tmp_path / "whole.json", whole)).height == 1


def written(path, text):
    path.write_text(text)
    return path
