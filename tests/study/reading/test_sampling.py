"""A large table is studied on a random sample, read a block at a time, and says so."""

import numpy as np
import polars as pl
import pytest

import pellucid
from pellucid import Plan
from pellucid.data.table import FrameTable
from pellucid.study.reading import sampling
from pellucid.study.reading.sampling import read_rows, sample_rows


class Watched:
    """A table that counts the rows it hands out at a time."""

    def __init__(self, frame):
        self.inner, self.most = FrameTable(frame), 0
        self.schema, self.n_rows = self.inner.schema, self.inner.n_rows

    def read(self, start, stop, columns):
        self.most = max(self.most, stop - start)
        return self.inner.read(start, stop, columns)


def frame(n):
    row = np.arange(n)
    return pl.DataFrame({"row": row, "word": [f"cell {i}" for i in row], "x": row / 7})


def test_a_sample_is_read_block_by_block_and_is_the_same_for_a_seed(monkeypatch):
    monkeypatch.setattr(sampling, "BLOCK_CELLS", 3 * 100)
    table = Watched(frame(1000))
    one = sample_rows(table, 300, 7)
    assert table.most == 100
    assert one.height == 300
    assert one["row"].is_sorted()
    assert one["row"].n_unique() == 300
    assert one.equals(frame(1000)[one["row"].to_numpy()])
    monkeypatch.setattr(sampling, "BLOCK_CELLS", 10_000)
    assert sample_rows(table, 300, 7).equals(one)  # whatever the blocks
    assert not sample_rows(table, 300, 8).equals(one)


def test_every_row_is_as_likely():
    table, seen = FrameTable(frame(50)), np.zeros(50)
    for seed in range(400):
        seen[sample_rows(table, 10, seed)["row"].to_numpy()] += 1
    expected = 400 * 10 / 50
    assert ((seen - expected) ** 2 / expected).sum() / (1 - 10 / 50) < 85.4  # chi-squared, 0.1 %


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_files_are_sampled_and_others_are_read_whole(tmp_path, monkeypatch, ending):
    path = tmp_path / f"rows.{ending}"
    getattr(frame(500), f"write_{ending}")(path)
    whole = read_rows(path)
    assert (whole.frame.height, whole.total, whole.sampled) == (500, 500, False)
    monkeypatch.setattr(sampling, "LARGE_ROWS", 400)
    monkeypatch.setattr(sampling, "SAMPLE_ROWS", 120)
    some = read_rows(path, seed=3)
    assert (some.frame.height, some.total, some.sampled) == (120, 500, True)
    assert some.frame.equals(sample_rows(FrameTable(frame(500)), 120, 3))
    assert read_rows(path, sample=600).frame.height == 500
    with pytest.raises(ValueError, match="sample"):
        read_rows(path, sample=0)


def test_a_study_of_a_sample_says_so():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    table = {"x": x, "z": rng.normal(size=400), "y": 3 * x + rng.normal(size=400)}
    plan = Plan(candidates=("ridge",), sample=200)
    record = pellucid.learn(table, "y", effort="quick", plan=plan)
    assert record.audit.n_rows == 200
    assert (record.reproduction["rows"], record.reproduction["table_rows"]) == (200, 400)
    told = "Studied, tested and learned from: 200 of 400 rows, drawn at random."
    assert told in str(record.verdict)
    page = pellucid.report.render(record)
    assert "200 of 400 rows, drawn at random" in page
    assert "fitted again on all 200 rows of the sample" in page
    whole = pellucid.learn(table, "y", effort="quick", plan=plan._replace(sample=None))
    assert "drawn at random" not in str(whole.verdict)
    assert "of the sample" not in pellucid.report.render(whole)
