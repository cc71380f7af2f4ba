"""Rows that a model has learned from are recognised by their cells, in any file."""

import numpy as np
import polars as pl
import pytest

from pellucid.study.saved.learned_rows import MARKS, Overlap, find_overlap, row_marks, sketch_rows

KINDS = {"x": "number", "n": "whole", "c": "category", "d": "date", "t": "text", "b": "truth"}


def table(n, seed=0):
    rng = np.random.default_rng(seed)
    days = np.datetime64("2020-01-01") + rng.integers(0, 900, n)
    return pl.DataFrame({
        "x": rng.normal(size=n), "n": rng.integers(0, 50, n), "c": rng.choice(list("abc"), n),
        "d": pl.Series(days), "t": [f"word {i}" for i in rng.integers(0, 9, n)],
        "b": rng.random(n) < 0.5,
    }).with_columns(x=pl.when(pl.col("n") > 40).then(None).otherwise("x"))  # fmt: skip


def marks(frame, y):
    return row_marks(frame, KINDS, {}, y)


def test_a_row_has_one_mark_in_every_file(tmp_path):
    frame, y = table(60), np.arange(60.0)
    frame.write_csv(tmp_path / "rows.csv")
    frame.write_parquet(tmp_path / "rows.parquet")
    from pellucid.data import load

    for name in ("rows.csv", "rows.parquet"):
        again = load(tmp_path / name)
        np.testing.assert_array_equal(marks(again, y), marks(frame, y))
    half = frame[::2].with_columns(n=pl.col("n").cast(pl.Float64))
    np.testing.assert_array_equal(marks(half, y[::2]), marks(frame, y)[::2])


@pytest.mark.parametrize("name", KINDS)
def test_any_other_cell_or_answer_changes_the_mark(name):
    frame, y = table(20), np.arange(20.0)
    turned = frame.with_columns(frame[name].reverse())
    same = (frame[name].eq_missing(turned[name])).to_numpy()
    np.testing.assert_array_equal(marks(turned, y) == marks(frame, y), same)
    assert (marks(frame, y) != marks(frame, y + 1)).all()
    labels = np.array(["a", "b"] * 10)
    np.testing.assert_array_equal(marks(frame, labels) == marks(frame, labels[::-1]), False)


def test_rows_learned_from_are_counted():
    frame, y = table(300), np.arange(300.0)
    sketch = sketch_rows(marks(frame[:200], y[:200]))
    assert find_overlap(sketch, marks(frame[:200], y[:200])) == (200, 200, 0.0)
    new = find_overlap(sketch, marks(frame[200:], y[200:]))
    assert (new.learned, new.beyond_chance) == (0, False)
    some = find_overlap(sketch, marks(frame[150:], y[150:]))
    assert (some.checked, some.learned, some.beyond_chance) == (150, 50, True)


def test_of_many_rows_a_sample_is_looked_up():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"x": rng.normal(size=5 * MARKS)})
    known = row_marks(frame, {"x": "number"}, {}, np.zeros(5 * MARKS))
    sketch = sketch_rows(known[: 4 * MARKS])
    assert len(sketch["marks"]) == MARKS
    inside, outside = (
        find_overlap(sketch, known[: 4 * MARKS]),
        find_overlap(sketch, known[4 * MARKS :]),
    )
    assert inside.checked == inside.learned == MARKS
    assert outside.learned == 0
    assert outside.checked == pytest.approx(MARKS / 4, rel=0.1)


def test_rows_that_repeat_by_chance_are_not_held_against_the_model():
    """Good and Turing: new rows of a coarse table equal learned ones as often as those repeat."""
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(20):
        coarse = pl.DataFrame({"c": rng.choice(list("abcdefghij"), (400, 3)).tolist()}).select(
            pl.col("c").list.join("").alias("c")
        )
        y = rng.integers(0, 2, 400)
        every = row_marks(coarse, {"c": "category"}, {}, y)
        found = find_overlap(sketch_rows(every[:200]), every[200:])
        assert found.learned > 0
        told += found.beyond_chance
        assert find_overlap(sketch_rows(every[:200]), every[:200]).beyond_chance
    assert told <= 1
    assert not Overlap(0, 0, 0.0).beyond_chance
