"""The digest names the contents: same values, same digest, however they are stored."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pellucid.data import load_table
from pellucid.study import audit
from pellucid.study.reading.equality import first_equal


def digest(data):
    return audit(data).digest


@pytest.fixture(scope="module")
def frame():
    return load_table("penguins")


def test_format_and_layout_do_not_matter(frame, tmp_path):
    expected = digest(frame)
    assert len(expected) == 64
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=50)
    frame.write_ndjson(tmp_path / "t.jsonl")
    for name in ("t.csv", "t.parquet", "t.jsonl"):
        assert digest(tmp_path / name) == expected
    chunks = pl.concat([frame.slice(i, 37) for i in range(0, 344, 37)], rechunk=False)
    assert digest(chunks) == expected
    assert digest(frame.to_pandas()) == expected
    whole = [n for n, t in frame.schema.items() if t.is_integer()]
    assert digest(frame.with_columns(pl.col(whole).cast(pl.Float32))) == expected


@pytest.mark.parametrize("change", ["cell", "name", "order", "missing", "rows"])
def test_contents_matter(frame, change):
    other = {
        "cell": lambda: frame.with_columns(year=pl.col("year") + (pl.int_range(pl.len()) == 9)),
        "name": lambda: frame.rename({"year": "years"}),
        "order": lambda: frame.reverse(),
        "missing": lambda: frame.with_columns(
            year=pl.when(pl.int_range(pl.len()) > 0).then("year")
        ),
        "rows": lambda: frame.head(343),
    }[change]()
    assert digest(other) != digest(frame)


def test_text_lengths_are_part_of_it():
    assert digest({"a": ["ab", "c"] * 9}) != digest({"a": ["a", "bc"] * 9})
    assert digest({"a": [["x"], ["y", "z"]]}) != digest({"a": [["x", "y"], ["z"]]})


def test_large_whole_numbers_keep_their_digits():
    big = 2**60
    assert digest({"a": [big, big + 2]}) != digest({"a": [big, big + 3]})


def test_missing_is_missing():
    a = pd.DataFrame({"x": [1.5, np.nan], "s": ["u", None]})
    b = pl.DataFrame({"x": [1.5, None], "s": ["u", None]})
    assert digest(a) == digest(b)


def test_equal_rows_against_brute_force():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "a": rng.integers(0, 4, 200),
            "b": [None if v < 0.2 else ("x" if v < 0.6 else "y") for v in rng.random(200)],
        }
    )
    rows = frame.rows()
    assert first_equal(frame).tolist() == [rows.index(row) for row in rows]
