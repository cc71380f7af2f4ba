"""load: every kind of source, the rules for text files, one sentence for every bad file."""

import contextlib
import csv
import datetime as dt
import gzip
import io
import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from pellucid.data import DataWarning, load
from pellucid.data.opening import to_frame

FRAME = pl.DataFrame({"a": [1, 2, 3], "b": [0.5, None, -2.0], "c": ["x", "y z", None]})


def read(text, **keywords):
    data = text.encode() if isinstance(text, str) else text
    return load(io.BytesIO(data), **keywords).to_dict(as_series=False)


def write(frame, path):
    """Write FRAME in the format of the path's ending."""
    data = {
        "csv": lambda: frame.write_csv().encode(),
        "tsv": lambda: frame.write_csv(separator="\t").encode(),
        "json": lambda: frame.write_json().encode(),
        "jsonl": lambda: frame.write_ndjson().encode(),
        "ndjson": lambda: frame.write_ndjson().encode(),
        "parquet": lambda: to_bytes(frame.write_parquet),
        "arrow": lambda: to_bytes(frame.write_ipc),
        "arrows": lambda: to_bytes(frame.write_ipc_stream),
    }[path.name.split(".")[1]]()
    if path.suffix == ".gz":
        data = gzip.compress(data)
    if path.suffix == ".zst":
        data = bytes(pa.compress(data, codec="zstd", asbytes=True))
    path.write_bytes(data)
    return path


def to_bytes(writer):
    out = io.BytesIO()
    writer(out)
    return out.getvalue()


FORMATS = ["csv", "tsv", "json", "jsonl", "ndjson", "parquet", "arrow", "arrows"]


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("packed", ["", ".gz", ".zst"])
def test_every_format_gives_the_same_table(tmp_path, ending, packed):
    path = write(FRAME, tmp_path / f"t.{ending}{packed}")
    assert_frame_equal(load(path), FRAME)
    assert_frame_equal(load(str(path)), FRAME)
    with open(path, "rb") as file:
        assert_frame_equal(load(file), FRAME)
    assert_frame_equal(load(path, n_rows=2), FRAME[:2])


@pytest.mark.parametrize("ending", FORMATS)
def test_format_is_found_without_an_ending(tmp_path, ending):
    path = write(FRAME, tmp_path / f"t.{ending}")
    bare = path.rename(tmp_path / "table")
    kind = {"arrows": "arrow"}.get(ending, "auto")  # a stream of batches has no mark of its own
    assert_frame_equal(load(bare, format=kind), FRAME)


def test_zstd_without_a_library(tmp_path, monkeypatch):
    """Polars alone can unpack text."""
    path = write(FRAME, tmp_path / "t.csv.zst")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert_frame_equal(load(path), FRAME)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "arrow"])
def test_patterns_and_lists_stack_in_order(tmp_path, ending):
    for number in (2, 1, 3):
        write(FRAME.with_columns(pl.col("a") * number), tmp_path / f"part{number}.{ending}")
    whole = pl.concat([FRAME.with_columns(pl.col("a") * number) for number in (1, 2, 3)])
    assert_frame_equal(load(tmp_path / f"part*.{ending}"), whole)
    assert_frame_equal(load([tmp_path / f"part{n}.{ending}" for n in (1, 2, 3)]), whole)
    assert_frame_equal(load(tmp_path / f"part*.{ending}", n_rows=4), whole[:4])


def test_a_path_with_pattern_letters_is_a_name(tmp_path):
    path = write(FRAME, tmp_path / "t[1].parquet")
    assert_frame_equal(load(path), FRAME)


def test_files_that_do_not_fit_are_refused(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("b\n4\n")
    with pytest.raises(ValueError, match=r"2.csv has no column 'a', which .*1.csv has"):
        load(tmp_path / "*.csv")
    (tmp_path / "2.csv").write_text("b,a,z\n4,3,0\n")
    with pytest.raises(ValueError, match=r"2.csv has a column 'z', which .*1.csv has not"):
        load(tmp_path / "*.csv")
    (tmp_path / "2.csv").write_text("b,a\n4,3\n")  # another order of columns is no matter
    assert load(tmp_path / "*.csv").rows() == [(1, 2), (3, 4)]
    (tmp_path / "2.csv").write_text("b,a\n4,x\n")  # one type over all files
    assert load(tmp_path / "*.csv").rows() == [("1", 2), ("x", 4)]
    FRAME.select("a").write_parquet(tmp_path / "1.parquet")
    FRAME.select(a="c").write_parquet(tmp_path / "2.parquet")
    with pytest.raises(ValueError, match=r"column 'a' is Int64 in .* and String in"):
        load(tmp_path / "*.parquet")


def test_frames_and_arrays():
    expected = pl.DataFrame({"a": [1, 2], "b": [0.5, None], "c": ["x", None]})
    columns = {"a": [1, 2], "b": [0.5, None], "c": ["x", None]}
    assert_frame_equal(load(expected), expected)
    assert_frame_equal(load(expected.lazy()), expected)
    assert_frame_equal(load(columns), expected)
    assert_frame_equal(load(pd.DataFrame(columns)), expected)
    assert_frame_equal(load(pa.table(columns)), expected)
    assert_frame_equal(load([{"a": 1, "b": 0.5, "c": "x"}, {"a": 2}]), expected)
    array = load(np.array([[1.0, np.nan], [2.0, 3.0]]))
    assert array.to_dict(as_series=False) == {"x0": [1.0, 2.0], "x1": [None, 3.0]}
    assert load([[1, 2], [3, 4]]).rows() == [(1, 2), (3, 4)]


def test_pandas_details():
    frame = pd.DataFrame(
        {
            "when": pd.to_datetime(["2024-01-05", None]),
            "kind": pd.Categorical(["u", "v"]),
            "mixed": [1, "one"],
            3: [True, False],
        },
        index=[7, 9],
    )
    table = load(frame)
    assert table.columns == ["when", "kind", "mixed", "3"]
    assert table["when"].to_list() == [dt.datetime(2024, 1, 5), None]
    assert table["kind"].to_list() == ["u", "v"]
    assert table["mixed"].to_list() == ["1", "one"]
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.warns(DataWarning, match="column 2 'a' is now 'a_2'"):
        assert load(twice).columns == ["a", "a_2"]


def test_target_splits(tmp_path):
    X, y = load(FRAME, target="a")
    assert X.columns == ["b", "c"]
    assert y.to_list() == [1, 2, 3]
    X, Y = load(FRAME, target=["a", "b"], columns=["c"])
    assert (X.columns, Y.columns) == (["c"], ["a", "b"])
    assert load(FRAME, columns=["c", "a"]).columns == ["c", "a"]
    path = write(FRAME.rename({"a": "price"}), tmp_path / "t.csv")
    with pytest.raises(ValueError, match=r"t.csv has no column 'prise'; did you mean 'price'\?"):
        load(path, target="prise")
    with pytest.raises(ValueError, match="has no column 'q'; the columns are 'price', 'b', 'c'"):
        load(path, columns=["q"])


# ---------------------------------------------------------------- the rules for text files


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters(delimiter):
    text = f'a,"b{delimiter}c"\n1,"x{delimiter}y"\n2,z\n'.replace(",", delimiter)
    assert read(text) == {"a": [1, 2], f"b{delimiter}c": [f"x{delimiter}y", "z"]}


def test_decimal_comma_with_semicolon_only():
    assert read("a;b\n1,5;2\n-0,25;3\n") == {"a": [1.5, -0.25], "b": [2, 3]}
    assert read("a|b\n1,5|2\n") == {"a": ["1,5"], "b": [2]}
    assert read("a;b\n1,5;2\n1.5;3\n") == {"a": ["1,5", "1.5"], "b": [2, 3]}  # which is it?
    assert read("a;b\n1.5;2\n") == {"a": [1.5], "b": [2]}


def test_missing_marks_and_blanks():
    marks = ["NA", "N/A", "n/a", "#N/A", "<NA>", "null", "NULL", "NaN", "nan", "?"]
    cells = ["", *marks, " ", " ? ", '"NA"']
    text = "n,t,k\n" + "".join(f"{cell},{cell},1\n" for cell in cells) + " 7 , w ,1\n"
    table = read(text)
    assert table["n"] == [None] * len(cells) + [7]
    assert table["t"] == [None] * len(cells) + [" w "]


def test_types():
    text = (
        "i,f,b,d,m,u,t,e,big\n"
        "1,1,true,2024-01-05,2024-01-05T10:20,2024-01-05T10:20:30Z,1,,9223372036854775807\n"
        "-2,1e-3,FALSE,2024/2/6,2024-01-05 01:02:03.25,2024-01-05 10:20+02:00,x,NA,"
        "-9223372036854775808\n"
    )
    table = load(io.StringIO(text))
    assert table.dtypes == [
        pl.Int64, pl.Float64, pl.Boolean, pl.Date, pl.Datetime("us"), pl.Datetime("us", "UTC"),
        pl.String, pl.Float64, pl.Int64,
    ]  # fmt: skip
    assert table["f"].to_list() == [1.0, 0.001]
    assert table["b"].to_list() == [True, False]
    assert table["d"].to_list() == [dt.date(2024, 1, 5), dt.date(2024, 2, 6)]
    assert table["m"].to_list()[1] == dt.datetime(2024, 1, 5, 1, 2, 3, 250000)
    assert table["u"].to_list()[1] == dt.datetime(2024, 1, 5, 8, 20, tzinfo=dt.UTC)
    assert table["t"].to_list() == ["1", "x"]
    assert table["big"].to_list() == [2**63 - 1, -(2**63)]


@pytest.mark.parametrize("cell", ["2024-13-01", "24-01-05", "2024-1-5-6", "05/01/2024", "1_000"])
def test_what_is_no_date_or_number_stays_text(cell):
    assert read(f"a,b\n{cell},1\n")["a"] == [cell]


def test_a_late_text_makes_the_whole_column_text():
    rows = 700_000  # several pieces of the first pass
    text = "a,b\n" + "12345678,1.5\n" * rows + "x,2\n"
    table = load(io.StringIO(text))
    assert table.dtypes == [pl.String, pl.Float64]
    assert table["a"][0] == "12345678"
    assert table["a"][-1] == "x"
    assert table.height == rows + 1


def test_line_ends_marks_and_blank_lines():
    expected = {"a": [1, 3], "b": ["x", "y"]}
    assert read("a,b\n1,x\n3,y") == expected
    assert read("a,b\r\n1,x\r\n3,y\r\n") == expected
    assert read("a,b\r1,x\r3,y\r") == expected
    assert read("\n\na,b\n\n1,x\n\r\n3,y\n\n\n") == expected
    assert read(b"\xef\xbb\xbfa,b\n1,x\n3,y\n") == expected
    assert read("a,b\n") == {"a": [], "b": []}


def test_quotes():
    assert read('a,b\n"x ""y"", z","two\nlines"\n') == {"a": ['x "y", z'], "b": ["two\nlines"]}
    assert read('a,b\n5" pipe,1\n3" pipe,2\n') == {"a": ['5" pipe', '3" pipe'], "b": [1, 2]}
    assert read('a,b\n5" pipe,1\n') == {"a": ['5" pipe'], "b": [1]}
    assert read('a,b\n5" pipe,1\n') == read('a,b\n"5"" pipe",1\n')


def test_repeated_names_get_a_suffix_and_a_finding():
    with pytest.warns(DataWarning, match="column 3 'a' is now 'a_3'"):
        table = read("a,a_2,a,\n1,2,3,4\n")
    assert list(table) == ["a", "a_2", "a_3", "column_4"]
    with pytest.warns(DataWarning, match="the first line of .* holds only numbers"):
        read("1,2\n3,4\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n1,2,3\n", "line 3 has 3 cells, but the header has 2"),
        ("a,b\n1,2\n1\n", "line 3 has 1 cell, but the header has 2"),
        ("a,b\n1,2,3\n1\n", "line 2 has 3 cells"),
        ('a,b\n"1\n2",2\n\n1\n', "line 5 has 1 cell"),
        ('a,b\n5" x,2\n\n1\n', "line 4 has 1 cell"),
        ('a,b\n1,2\n"1,2\n', "line 3 opens a quoted cell that is never closed"),
        ("", "is empty: a header line"),
        ("\n \n", "is empty: a header line"),
        (b"\x00\x01\x02\x03", "is a binary file"),
        (b"\x89HDF\r\n", "is an HDF5 file"),
        (b"PK\x03\x04....", "is a zip file"),
        ("a,b\ncafé,1\nübel,2\n".encode() + b"na\xefve,3\n", r"byte 0xef on line 4 is not UTF-8"),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "is not whole UTF-16 text"),
        (b"PAR1....", "is not a whole Parquet file"),
        (b"ARROW1....", "is not a whole Arrow file"),
        (b"\x1f\x8b........", "is a broken gzip file"),
        (b"\x28\xb5\x2f\xfd....", "is a broken zstd file"),
        ('{"a": 1}\n{"a": \n', "line 2 is not JSON"),
        ('{"a": 1}\n[1]\n', "line 2 holds a list; JSON lines need one object per line"),
        ('[{"a": 1}, 2]', "holds a JSON list that is no table"),
        ('{"a": [1, 2], "b": [1]}', "columns of different lengths"),
        ('[{"a": 1}', "is not JSON"),
        ("[]", "has no rows"),
    ],
)
def test_bad_files_get_one_sentence(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        read(text)
    assert "\n" not in str(caught.value)
    assert "pellucid-" not in str(caught.value)  # the temporary copy is not the user's file


def test_bad_sources(tmp_path):
    (tmp_path / "table.csv").write_text("a\n1\n")
    with pytest.raises(FileNotFoundError, match=r"no file '.*tabel.csv'; did you mean 'table.csv'"):
        load(tmp_path / "tabel.csv")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        load(tmp_path / "*.parquet")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"is a folder without tables: \.csv, "):
        load(tmp_path / "empty")
    with pytest.raises(ValueError, match=r"format must be one of .*did you mean 'csv'"):
        load(tmp_path / "table.csv", format="cvs")
    with pytest.raises(ValueError, match="n_rows must be a whole number >= 1"):
        load(tmp_path / "table.csv", n_rows=0)
    with pytest.raises(ValueError, match="sql goes with a database"):
        load(tmp_path / "table.csv", sql="SELECT 1")
    with pytest.raises(ValueError, match="remote address"):
        load("https://example.org/table.csv")
    with pytest.raises(TypeError, match="cannot read a table from int"):
        load(3)
    with pytest.raises(ValueError, match="two dimensions"):
        load(np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="different lengths"):
        load({"a": [1], "b": [1, 2]})


def test_latin1_through_an_open_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("a,b\ncaf\xe9,1\n".encode("latin-1"))
    with open(path, encoding="latin-1") as file:
        assert load(file).rows() == [("café", 1)]
    with open(path, encoding="utf-8") as file, pytest.raises(ValueError, match="byte 0xe9"):
        load(file)


def test_mixed_json_is_text(tmp_path):
    lines = '{"a": 1, "b": null}\n\n{"a": "x", "c": [1]}\n'
    assert read(lines) == {"a": ["1", "x"], "b": [None, None], "c": [None, [1]]}
    with pytest.warns(DataWarning, match="mixes numbers and text"):
        assert read('[{"a": 1}, {"a": "x"}]') == {"a": ["1", "x"]}


def test_a_pipe(tmp_path):
    code = "import sys; from pellucid.data import load; print(load(sys.stdin).rows())"
    done = subprocess.run(
        [sys.executable, "-c", code], input="a,b\n1,x\n", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[(1, 'x')]"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes of POSIX")
def test_a_named_pipe_is_read_once(tmp_path):
    """What ``<(command)`` of a shell gives: its first bytes were taken for all of it."""
    path = tmp_path / "rows.csv"
    os.mkfifo(path)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(path.write_text, "a,b\n1,x\n")
        assert load(path).rows() == [(1, "x")]


def test_a_device_and_a_link_to_nothing_are_refused(tmp_path):
    """/dev/zero never ends."""
    for device in ("/dev/zero", "/dev/null"):
        with pytest.raises(ValueError, match=f"{device} is not an ordinary file"):
            load(device)
    link = tmp_path / "loop.csv"
    link.symlink_to(link)
    with pytest.raises(FileNotFoundError, match="is a link that leads to no file"):
        load(link)


def test_temporary_files_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    load(io.StringIO("a,b\n1,2\n"))
    load(io.StringIO('a,b\n5" x,2\n'))
    assert os.listdir(tmp_path) == []


def test_import_is_cheap():
    code = "import sys, pellucid.data; print([m for m in ('numpy', 'polars') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_agrees_with_the_csv_module(tmp_path):
    """Oracle: the csv module and float read the same numbers and words."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "f": rng.normal(size=500) * 10.0 ** rng.integers(-200, 200, size=500),
            "i": rng.integers(-(10**12), 10**12, size=500),
            "t": rng.choice(["a", 'q"q', "x,y", "two\nlines", "é"], size=500),
        }
    )
    frame.loc[::7, "f"] = np.nan
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ours = load(path)
    with open(path, newline="") as file:
        _, *rows = csv.reader(file)
    assert ours["f"].to_list() == [float(row[0]) if row[0] else None for row in rows]
    assert ours["i"].to_list() == [int(row[1]) for row in rows]
    assert ours["t"].to_list() == [row[2] for row in rows]


@settings(deadline=None, max_examples=300)
@given(
    body=st.lists(
        st.sampled_from(['"', "\t", "\n", "\r\n", "a", " ", "é", '""', ","]), max_size=24
    ),
    columns=st.integers(1, 3),
)
@example(body=list('"a"\n'), columns=1)
@example(body=list('a"\t\n"'), columns=2)
@example(body=list('"a"a\t\n'), columns=2)
def test_any_text_reads_as_the_csv_module_reads_it(body, columns):
    """Oracle: the same cells, or an error where rows are ragged or a quote stays open."""
    names = ["x", "y", "z"][:columns]
    text = "\t".join(names) + "\n" + "".join(body)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter="\t") if row][1:]
    try:
        table = load(io.BytesIO(text.encode()), format="tsv")
    except ValueError as error:
        never_closed = "never closed" in str(error) and text.count('"') % 2 == 1
        assert never_closed or any(len(row) != columns for row in rows), error  # noqa: PT017
    else:
        cells = [tuple(cell if cell.strip() else None for cell in row) for row in rows]
        assert table.columns == names
        assert table.rows() == cells


@settings(deadline=None, max_examples=200)
@given(data=st.binary(max_size=200))
def test_garbage_is_refused_or_read(data):
    """Nothing but ValueError comes out of a file, whatever is in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        for kind in ("auto", "csv", "parquet", "json", "jsonl", "arrow"):
            with contextlib.suppress(ValueError):
                load(io.BytesIO(data), format=kind)


@settings(deadline=None, max_examples=150)
@given(kind=st.sampled_from(["parquet", "arrow", "arrows"]), data=st.data())
def test_damaged_files_are_refused_or_read(kind, data):
    """A few wrong bytes in a good file: an answer or a ValueError, never a crash."""
    writer = {"parquet": FRAME.write_parquet, "arrow": FRAME.write_ipc}
    raw = bytearray(to_bytes(writer.get(kind, FRAME.write_ipc_stream)))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(ValueError):
        load(io.BytesIO(bytes(raw)), format="parquet" if kind == "parquet" else "arrow")


@pytest.mark.parametrize(
    "cells",
    [
        [True, None, np.True_],
        [1, 2.5, None],
        ["a", None, 1],
        [np.datetime64("2020-01-01"), None, None],
        [dt.date(2020, 1, 1), None, float("nan")],
        [pd.Timestamp("2020-01-01"), None, None],
    ],
)
def test_an_array_of_objects_is_a_column_like_any_other(cells):
    found = to_frame({"a": np.array([*cells, None], dtype=object)})["a"]
    assert found.dtype != pl.Object
    assert found.is_null().to_list() == [c is None or c != c for c in [*cells, None]]
