"""Good files of every format that is read, and as many damaged ones as wanted, by a seed."""

import datetime as dt
import gzip
import io
import json
import random
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl

from pellucid.data import load, load_network
from pellucid.graphical import read_network, write_network
from pellucid.reinforcement import read_mdp

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, 2.5], "c": ["x", 'y,"q"', "z\nw"]})
TABLES = ("csv", "json", "columns.json", "jsonl", "parquet", "arrow", "arrows", "csv.gz", "xlsx")
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
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
PROCESSES = ("process.json",)
KINDS = (*TABLES, *NETWORKS, *PROCESSES)


def reader(kind):
    """The function that reads files of this kind."""
    return load if kind in TABLES else read_network if kind in NETWORKS else read_mdp


def xlsx_cell(cell):
    if cell is None:
        return "<c/>"
    if isinstance(cell, bool):
        return f'<c t="b"><v>{cell:d}</v></c>'
    if isinstance(cell, dt.date):
        return f'<c s="1"><v>{(cell - dt.date(1899, 12, 30)).days}</v></c>'
    if isinstance(cell, str):
        return f'<c t="inlineStr"><is><t>{escape(cell)}</t></is></c>'
    return f"<c><v>{cell!r}</v></c>"


def write_xlsx(path, **sheets):
    """The least workbook that a reader accepts; style 1 is a date."""
    with zipfile.ZipFile(path, "w") as book:
        listed = links = ""
        for i, (name, rows) in enumerate(sheets.items(), start=1):
            listed += f'<sheet name="{name}" sheetId="{i}" r:id="r{i}"/>'
            target = f'Target="worksheets/{i}.xml" Type="{LINKS}/worksheet"'
            links += f'<Relationship Id="r{i}" {target}/>'
            cells = "".join(f"<row>{''.join(map(xlsx_cell, row))}</row>" for row in rows)
            sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
            book.writestr(f"xl/worksheets/{i}.xml", sheet)
        styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
        book.writestr("xl/styles.xml", f'<styleSheet xmlns="{MAIN}">{styles}</styleSheet>')
        links += f'<Relationship Id="s" Target="styles.xml" Type="{LINKS}/styles"/>'
        relations = f'<Relationships xmlns="{PACKAGE}">{links}</Relationships>'
        book.writestr("xl/_rels/workbook.xml.rels", relations)
        root = f'<Relationship Id="w" Target="xl/workbook.xml" Type="{LINKS}/officeDocument"/>'
        book.writestr("_rels/.rels", f'<Relationships xmlns="{PACKAGE}">{root}</Relationships>')
        text = f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheets>{listed}</sheets></workbook>'
        book.writestr("xl/workbook.xml", text)
    return path


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
    if kind == "xlsx":
        return write_xlsx(io.BytesIO(), May=[FRAME.columns, *FRAME.rows()]).getvalue()
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
    if kind == "xlsx" and seed % 3:
        return repacked(good(kind), seed)
    return damaged(good(kind), seed)


def repacked(archive, seed):
    """A workbook with one of its parts damaged, and packed as it should be."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(out, "w") as new:
        parts = old.namelist()
        chosen = random.Random(seed).choice(parts)
        for part in parts:
            text = old.read(part)
            new.writestr(part, damaged(text, seed) if part == chosen else text)
    return out.getvalue()


# --- damage, by a seed ---------------------------------------------------------------------------

PIECES = [
    b"", b"\x00", b"\xff", b"\xfe\xff", b"null", b"NaN", b"1e999", b"-1", b"{", b"}", b"[", b"]",
    b'"', b",", b"\n", b"\r", b";", b"(", b")", b"9" * 30, b"9" * 5000, b"[]", b"{}", b"true",
    b'"a"', b"<", b">", b"&", b"<!ENTITY a 'b'>", b"\xe2\x80\xae", b"\x1b[31m", b"[[" * 2000,
]  # fmt: skip
VALUES = [
    None, True, -1, 1e308, "x", [], {}, [[]], 0, "", float("nan"), 10**30, 10**400, [1], {"a": 1},
    {"a": {"b": {"c": 1}}}, "near", [None], 0.5,
]  # fmt: skip


def damaged(data, seed):
    """One to four cuts, copies, flips or insertions."""
    rng = random.Random(seed)
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        n, kind = len(data), rng.randrange(7)
        i = rng.randrange(n + 1)
        j = min(n, i + rng.choice([1, 2, 5, 20, max(n, 1)]))
        if kind == 0 and n:
            data[i % n] = rng.randrange(256)
        elif kind == 1:
            del data[i:j]
        elif kind == 2:
            data[i:i] = rng.choice(PIECES)
        elif kind == 3:
            data[i:j] = rng.choice(PIECES)
        elif kind == 4:
            data[i:i] = data[rng.randrange(n + 1) :][: rng.choice([1, 5, 50])]
        elif kind == 5:
            data = data[:i]
        elif n:
            data[i % n] ^= 1 << rng.randrange(8)
    return bytes(data)


def altered(value, seed):
    """A document with some of its values, keys and items replaced, left out or added."""
    rng = random.Random(seed)

    def walk(value):
        if rng.random() < 0.15:
            return rng.choice(VALUES)
        if isinstance(value, dict):
            kept = {key: walk(item) for key, item in value.items() if rng.random() > 0.05}
            if rng.random() < 0.05:
                kept[rng.choice(["a", "states", "terminal", "start", "7"])] = rng.choice(VALUES)
            return kept
        if isinstance(value, list):
            kept = [walk(item) for item in value if rng.random() > 0.05]
            return [*kept, rng.choice(VALUES)] if rng.random() < 0.05 else kept
        return value

    return walk(value)


def faults(read, path, make, seeds):
    """What ``read(path)`` raised besides a ValueError, over the files that ``make(seed)`` gives."""
    found = []
    for seed in seeds:
        path.write_bytes(make(seed))
        try:
            read(path)
        except ValueError as error:
            if not str(error).strip():
                found.append((seed, "an error without a word"))
        except Exception as error:  # noqa: BLE001  what a reader must never raise is the question
            found.append((seed, f"{type(error).__name__}: {error}"[:200]))
    return found
