"""`pellucid data list|show|make`."""

import io

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from pellucid.cli.shared.options import Code
from pellucid.data import list_data, load_table, make, make_two_blobs


def test_list(pellucid):
    done = pellucid("data", "list")
    assert done.code == Code.DONE
    assert all(entry.name in done.out for entry in list_data())
    assert max(map(len, done.out.splitlines())) <= 100
    words = " ".join(done.out.split())
    assert all(" ".join(e.description.split()[:3]) in words for e in list_data())
    assert "…" not in done.out  # folded, not cut
    record = pellucid("data", "list", "--json").json
    assert [entry["name"] for entry in record["data"]] == [entry.name for entry in list_data()]


@pytest.mark.parametrize("name", ["penguins", "noisy_line", "asia"])
def test_show(pellucid, name):
    done = pellucid("data", "show", name, "--rows", "3")
    assert done.code == Code.DONE
    assert max(map(len, done.out.splitlines())) <= 100
    record = pellucid("data", "show", name, "--rows", "3", "--json").json
    assert record["name"] == name
    assert len(record["head"]) == 3
    if name == "penguins":
        assert record["rows"] == 344
        assert record["types"]["body_mass_g"] == "Int64"
        assert "Torgersen" in done.out


def test_show_names_the_columns_that_do_not_fit():
    from pellucid.cli.data import fitting

    frame = pl.DataFrame({f"column_{j}": ["x" * 40] for j in range(9)})
    types = dict.fromkeys(frame.columns, "String")
    shown, rows, hidden = fitting(frame, types)
    assert shown + hidden == frame.columns
    assert len(shown) == 3
    assert rows == [["String"] * 3, ["x" * 23 + "…"] * 3]


def test_make_prints_csv_from_the_seed(pellucid):
    done = pellucid("data", "make", "noisy_line", "--n-samples", "5", "--seed", "3")
    expected = make("noisy_line", n_samples=5, random_state=3)
    assert_frame_equal(pl.read_csv(io.StringIO(done.out)), expected)
    record = pellucid(
        "data", "make", "noisy_line", "--n-samples", "5", "--seed", "3", "--json"
    ).json
    assert record["rows"] == 5
    assert record["data"]["y"] == expected["y"].to_list()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_make_writes_a_file_once(pellucid, tmp_path, suffix):
    out = f"blobs.{suffix}"
    command = ("data", "make", "two_blobs", "--n-samples", "20", "--out", out)
    done = pellucid(*command)
    assert (done.code, done.out) == (Code.DONE, f"{out}: 20 rows, 3 columns\n")
    frame = getattr(pl, f"read_{suffix}")(tmp_path / out)
    X, y = make_two_blobs(10, random_state=0)
    assert frame["y"].to_list() == y.tolist()
    assert frame["x1"].to_list() == X[:, 1].tolist()

    (tmp_path / out).write_text("mine")
    refused = pellucid(*command)
    assert refused.code == Code.OUTPUT_EXISTS
    assert refused.err == f"pellucid: {out} exists already; --overwrite replaces it\n"
    assert (tmp_path / out).read_text() == "mine"
    done = pellucid(*command, "--overwrite", "--quiet")
    assert (done.code, done.out) == (Code.DONE, "")
    assert_frame_equal(getattr(pl, f"read_{suffix}")(tmp_path / out), frame)
    assert [path.name for path in tmp_path.iterdir()] == [out]


def test_make_copies_a_table(pellucid, tmp_path):
    assert pellucid("data", "make", "penguins", "--out", "birds.parquet").code == Code.DONE
    assert_frame_equal(pl.read_parquet(tmp_path / "birds.parquet"), load_table("penguins"))


def test_settings(pellucid):
    done = pellucid("data", "make", "noisy_line", "--n-samples", "2", "--set", "noise=0")
    assert done.out == "x0,y\n0.0,1.0\n10.0,31.0\n"


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["show", "pengins"], "penguins"),
        (["make", "noisy_lien"], "noisy_line"),
        (["make", "penguins", "--n-samples", "3"], "is a table"),
        (["make", "asia"], "is a network"),
        (["make", "two_blobs", "--n-samples", "5"], "multiple of 2, got 5"),
        (["make", "step", "--n-samples", "0"], "0"),
        (["make", "step", "--out", "a.xlsx"], ".csv or .parquet, got 'a.xlsx'"),
        (["make", "step", "--out", "no/a.csv"], "does not exist"),
        (["make", "step", "--set", "colour=1"], "colour"),
        (["make", "step", "--set", "noise"], "NAME=VALUE"),
        (["make", "step", "--seed", "-1"], "-1"),
        (["make", "mixture"], "weights"),
    ],
)
def test_wrong_usage(pellucid, args, words):
    done = pellucid("data", *args)
    assert done.code == Code.USAGE
    assert done.out == ""
    assert done.err.startswith("pellucid: ")
    assert done.err.count("\n") == 1
    assert words in done.err
