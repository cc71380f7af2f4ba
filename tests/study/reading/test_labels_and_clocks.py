"""Labels with blanks at their ends, and times written with colons, are what people mean by them."""

import numpy as np
import polars as pl
import pytest

import pellucid
from pellucid.study import Plan, audit
from pellucid.study.reading.number_forms import find_form, read_amounts
from pellucid.study.saved.evaluation import judge

rng = np.random.default_rng(0)
N = 120


def written(labels, every):
    """The same labels; of every few cells one has a blank behind it, or before it."""
    return [(v, f"{v} ", f" {v}")[i % every % 3] for i, v in enumerate(labels)]


def test_a_label_with_a_blank_is_the_same_label(tmp_path):
    """In the target, in the inputs, in new rows and where a saved model is judged."""
    x, town = rng.normal(size=N), rng.choice(["Rome", "Oslo"], N)
    y = np.where(x + (town == "Rome") + 0.5 * rng.normal(size=N) > 0.5, "yes", "no")
    clean = pl.DataFrame({"x": x, "town": town, "y": y})
    odd = clean.with_columns(
        town=pl.Series(written(town, 4), dtype=pl.String),
        y=pl.Series([*written(y, 5)[:-1], " NA "], dtype=pl.String),
    )
    plan = Plan(candidates=("logistic",))
    record = pellucid.learn(odd, "y", effort="quick", plan=plan)
    assert record.task.classes == ("no", "yes")
    assert record.task.unlabelled == 1
    assert record.verdict.kind == "shown"
    pellucid.save(record.model, tmp_path / "m.pellucid")
    model = pellucid.load(tmp_path / "m.pellucid")
    np.testing.assert_array_equal(model.predict(odd.drop("y")), model.predict(clean.drop("y")))
    scores = [judge(model, table.head(N - 1), None).table["accuracy"] for table in (odd, clean)]
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("cells", "form", "read"),
    [
        (["0:47:00", "1:02:03.5", "59:30"], "12:34:56", [2820.0, 3723.5, 3570.0]),
        (["7:45", "12:05 am", "7:45 p.m.", "-0:30"], "12:34", [465.0, 5.0, 1185.0, -30.0]),
    ],
)
def test_times_with_colons_count_in_their_last_part(cells, form, read):
    more = [f"{cells[0][:-2]}{i:02d}" for i in range(10, 31)]
    assert find_form(pl.DataFrame({"cell": [*cells, *more], "count": 1})).form == form
    few = find_form(pl.DataFrame({"cell": cells, "count": 1}))
    assert few is None or ":" not in few.form
    assert read_amounts(pl.Series([*cells, "soon", None]), form).to_list() == [*read, None, None]


@pytest.mark.parametrize(
    "cells", [["3:2/", "1:0/"], ["16:9-", "4:3-"], ["7:7", "8:6"], ["a:1", "b:2"]]
)
def test_scores_ratios_and_names_with_colons_are_no_times(cells):
    many = [f"{cell}{i}" for cell in cells for i in range(3, 30, 3)] * 2
    found = find_form(pl.DataFrame({"cell": many[:30], "count": 1}))
    assert found is None or ":" not in found.form


def test_a_race_is_predicted_in_seconds(tmp_path):
    """Not one of eighty classes; the model file and new rows read the target so too."""
    x = rng.normal(size=N)
    seconds = np.round(3600 + 300 * x + 60 * rng.normal(size=N)).astype(int)
    cells = [f"{s // 3600}:{s // 60 % 60:02d}:{s % 60:02d}" for s in seconds]
    start = [f"{7 + i % 3:02d}:{i * 7 % 60:02d}" for i in range(N)]
    table = pl.DataFrame({"x": x, "start": start, "time": cells})
    record = pellucid.learn(table, "time", effort="quick", plan=Plan(candidates=("ridge",)))
    assert (record.task.kind, record.verdict.kind) == ("regression", "shown")
    assert 40 < record.final.table["rmse"].estimate < 90
    assert " s (95 % interval" in record.verdict.text[0]
    pellucid.save(record.model, tmp_path / "m.pellucid")
    model = pellucid.load(tmp_path / "m.pellucid")
    assert judge(model, table, None).table["rmse"].estimate < 90
    found = {f.code: f for f in audit(table, "time").findings}
    assert found["PEL116"].evidence["form"] == {"start": "12:34", "time": "12:34:56"}


def test_about_a_number_is_the_number():
    cells = pl.Series(["~60.3", "≈ 5", "7", "~$1,200"])
    assert read_amounts(cells, "1,234.5 $").to_list() == [60.3, 5.0, 7.0, 1200.0]
