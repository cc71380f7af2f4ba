"""`pellucid predict`: streamed answers in the order of the rows, counted strangers, whole files."""

import io
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import pellucid
from pellucid.cli.shared.options import Code
from pellucid.study.saved import prediction as applying


@pytest.fixture
def table(saved):
    return pl.read_csv(saved.table, null_values=["NA", ""])


def read(done):
    return pl.read_csv(io.StringIO(done.out))


def test_answers_are_the_models_own(inside, saved, table):
    done = inside("predict", saved.mass, saved.table, "--quiet")
    assert (done.code, done.err) == (Code.DONE, "")
    model = pellucid.load(saved.mass)
    said = model.predict(table.select(model.feature_names_in_.tolist()))
    assert done.out.splitlines()[0] == "prediction"
    np.testing.assert_array_equal(read(done)["prediction"].to_numpy(), said)


def test_probabilities_threshold_and_copies(inside, saved, table):
    model = pellucid.load(saved.sex)
    P = model.predict_proba(table.select(model.feature_names_in_.tolist()))
    done = inside(
        "predict", saved.sex, saved.table, "--proba", "--threshold", "0.9", "--copy", "species"
    )
    frame = read(done)
    names = ["species", "prediction", "probability_female", "probability_male"]
    assert frame.columns == names
    assert frame["species"].to_list() == table["species"].to_list()
    np.testing.assert_array_equal(frame["probability_female"].to_numpy(), P[:, 0])
    wanted = np.where(P[:, 0] >= 0.9, "female", "male")  # female is the rarer class: the positive
    assert frame["prediction"].to_list() == wanted.tolist()


def test_small_blocks_give_the_same_answers(inside, saved, monkeypatch):
    """BLAS adds up in another order for another number of rows: the last digit may differ."""
    whole = inside("predict", saved.sex, saved.table, "--proba", "--sets", "0.9")
    monkeypatch.setattr(applying, "BLOCK_ROWS", 7)
    parts = inside("predict", saved.sex, saved.table, "--proba", "--sets", "0.9")
    assert parts.err == whole.err
    assert_frame_equal(read(parts), read(whole), rel_tol=1e-13, abs_tol=1e-13)


def test_intervals_cover_as_they_promise(inside, saved, table):
    """Calibrated on the study's test rows: the width is their conformal quantile."""
    frame = read(inside("predict", saved.mass, saved.table, "--interval", "0.9"))
    scores = pellucid.load(saved.mass).study_["calibration"]["scores"]
    n = len(scores)
    half = scores[int(np.ceil((n + 1) * 0.9)) - 1]
    np.testing.assert_allclose(frame["high"] - frame["prediction"], half)
    np.testing.assert_allclose(frame["prediction"] - frame["low"], half)
    known = table["body_mass_g"].is_not_null()
    inside_ = (table["body_mass_g"] >= frame["low"]) & (table["body_mass_g"] <= frame["high"])
    assert inside_.filter(known).mean() > 0.85


def test_sets(inside, saved, table):
    frame = read(inside("predict", saved.sex, saved.table, "--sets", "0.95"))
    known = table["sex"].is_not_null()
    covered = [sex in str(one).split(";") for sex, one in zip(
        table["sex"].filter(known), frame["set"].filter(known), strict=True)]  # fmt: skip
    assert np.mean(covered) > 0.9
    assert frame["set"].null_count() == 0


def test_strangers_are_counted_and_extra_columns_ignored(inside, saved, table, tmp_path):
    odd = table.with_columns(
        pl.Series("island", ["Mars"] * 5 + table["island"].to_list()[5:]),
        pl.Series("bill_depth_mm", [99.0, *table["bill_depth_mm"].to_list()[1:]]),
        pl.lit("x").alias("<img src=x onerror=alert(1)>"),
    )
    odd = odd.select(odd.columns[::-1])  # any order of the columns will do
    odd.write_csv(tmp_path / "odd.csv")
    done = inside("predict", saved.mass, "odd.csv", "--out", "said.csv")
    assert (done.code, done.out) == (Code.DONE, "")
    assert "said.csv: 344 rows" in done.err
    assert "5 of 344 rows with levels never seen in training (island 5)" in done.err
    assert "1 of 344 rows outside the range of the training rows (bill_depth_mm 1)" in done.err
    record = inside("predict", saved.mass, "odd.csv", "--json").json
    assert (record["rows"], record["rows_unseen"]) == (344, 5)
    assert record["unseen"] == {"island": 5}
    assert len(record["predictions"]["prediction"]) == 344


def test_whose_limits_they_are_is_said(inside, saved):
    done = inside("predict", saved.mass, saved.table, "--interval", "0.9", "--out", "limits.csv")
    assert "the limits are those of tested.pellucid on 69 rows it had not met" in done.err
    plain = inside("predict", saved.mass, saved.table, "--out", "plain.csv")
    assert "limits" not in plain.err


def test_parquet_and_csv_agree(inside, saved, table, tmp_path):
    table.write_parquet(tmp_path / "t.parquet")
    a = inside("predict", saved.mass, "t.parquet").out
    assert a == inside("predict", saved.mass, saved.table).out


def test_a_file_is_written_once_and_whole(inside, saved, tmp_path):
    out = tmp_path / "said.csv"
    out.write_text("mine")
    refused = inside("predict", saved.mass, saved.table, "--out", "said.csv")
    assert refused.code == Code.OUTPUT_EXISTS
    text = saved.table.read_text().splitlines()
    bad = [line.replace(",", ",oops-", 3) if i > 300 else line for i, line in enumerate(text)]
    (tmp_path / "bad.csv").write_text("\n".join(line for line in bad if line) + "\n1,2,3\n")
    done = inside("predict", saved.mass, "bad.csv", "--out", "said.csv", "--overwrite")
    assert done.code == Code.DATA
    assert out.read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "said.csv"]


def test_failure_in_a_later_block_leaves_nothing(inside, saved, table, tmp_path, monkeypatch):
    monkeypatch.setattr(applying, "BLOCK_ROWS", 100)
    text = table.with_columns(pl.col("bill_length_mm").cast(pl.String))
    cells = text["bill_length_mm"].to_list()
    text = text.with_columns(pl.Series("bill_length_mm", cells[:200] + ["long"] * 144))
    text.write_parquet(tmp_path / "late.parquet")
    done = inside("predict", saved.mass, "late.parquet", "--out", "said.csv")
    assert done.code == Code.DATA
    assert "'bill_length_mm' was numbers in training and now holds 'long'" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["late.parquet"]


def test_formulas_are_disarmed(inside, saved, table, tmp_path):
    table.with_columns(pl.lit("=1+1").alias("note")).write_csv(tmp_path / "t.csv")
    done = inside("predict", saved.mass, "t.csv", "--copy", "note")
    assert done.out.splitlines()[1].startswith("'=1+1,")


def test_a_model_without_names(inside, saved, tmp_path):
    pl.read_csv(saved.points).drop("y").write_csv(tmp_path / "two.csv")
    done = inside("predict", saved.plain, "two.csv", "--proba")
    assert done.out.splitlines()[0] == "prediction,probability_0,probability_1"
    refused = inside("predict", saved.plain, saved.points)
    assert refused.code == Code.DATA
    assert "fitted on 2 columns, the table has 3" in refused.err


def test_standard_input(saved):
    with saved.table.open("rb") as table:
        done = subprocess.run(
            [Path(sysconfig.get_path("scripts")) / "pellucid", "predict", saved.mass, "-"],
            stdin=table, timeout=300, capture_output=True, text=True,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 345


def sentence(done, code, *words):
    assert done.code == code, done.err
    assert done.out == ""
    assert done.err.startswith("pellucid: ")
    assert done.err.count("\n") == 1
    assert all(word in done.err for word in words), done.err


def test_missing_columns_are_named(inside, saved, table, tmp_path):
    lacking = table.drop("island", "year").rename({"bill_depth_mm": "bill_depth"})
    lacking.write_csv(tmp_path / "lack.csv")
    done = inside("predict", saved.mass, "lack.csv")
    sentence(done, Code.DATA, "'island'", "'year'", "'bill_depth_mm' (is it 'bill_depth'?)")


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("empty.csv", b"", Code.DATA),
        ("ragged.csv", b"a,b\n1,2\n1,2,3\n", Code.DATA),
        ("binary.csv", bytes(range(256)) * 9, Code.DATA),
        ("sheet.csv", b"PK\x03\x04" + b"\0" * 99, Code.DATA),
    ],
)
def test_data_that_cannot_be_read(inside, saved, tmp_path, name, content, code):
    (tmp_path / name).write_bytes(content)
    sentence(inside("predict", saved.mass, name), code)


def test_no_rows(inside, saved, tmp_path):
    (tmp_path / "head.csv").write_text(saved.table.read_text().splitlines()[0] + "\n")
    done = inside("predict", saved.mass, "head.csv")
    assert done.code in (Code.TASK, Code.DATA)
    assert done.err.count("\n") == 1


def test_refusals(inside, saved, tmp_path):
    (tmp_path / "junk.pellucid").write_bytes(b"junk")
    sentence(inside("predict", "no.pellucid", saved.table), Code.MODEL_FILE, "no.pellucid")
    sentence(inside("predict", "junk.pellucid", saved.table), Code.MODEL_FILE, "junk.pellucid")
    sentence(inside("predict", saved.mass, "no.csv"), Code.DATA, "no.csv")
    usage = [
        (saved.mass, ["--proba"], "no probabilities"),
        (saved.mass, ["--threshold", "0.5"], "predicts numbers"),
        (saved.sex, ["--threshold", "1.5"], "from 0 to 1"),
        (saved.mass, ["--sets", "0.9"], "--interval"),
        (saved.mass, ["--interval", "0.999"], "at least 999"),
        (saved.mass, ["--interval", "1.2"], "1.2"),
        (saved.mass, ["--out", "no/said.csv"], "does not exist"),
    ]
    for model, options, words in usage:
        sentence(inside("predict", model, saved.table, *options), Code.USAGE, words)
    done = inside("predict", saved.mass, saved.table, "--copy", "specis")
    sentence(done, Code.DATA, "'specis' (is it 'species'?)")


@pytest.mark.slow
def test_a_million_rows_in_little_memory(saved, table, tmp_path):
    """Blocks, not the table: the peak of the process stays far below the file's own size."""
    rng = np.random.default_rng(0)
    with (tmp_path / "big.csv").open("wb") as file:
        for i in range(20):
            part = table[rng.integers(0, table.height, 50_000)]
            file.write(part.write_csv(include_header=i == 0).encode())
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)\n"
    )
    script = Path(sysconfig.get_path("scripts")) / "pellucid"
    done = subprocess.run(
        [sys.executable, "-c", code, script, "predict", saved.mass, "big.csv", "--out", "o.csv"],
        cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    returned, megabytes = map(int, done.stdout.split())
    assert returned == 0
    assert megabytes < 600
    with (tmp_path / "o.csv").open() as file:
        assert sum(1 for _ in file) == 1_000_001
