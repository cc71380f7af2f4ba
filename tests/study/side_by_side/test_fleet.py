"""The runner of the study benchmark: splits, scores, and jobs that fail or are done already."""

import json
import sys

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import log_loss as reference

from benchmarks.study.export import entry, read
from benchmarks.study.fleet import Race, lines_of, open_jobs, run
from benchmarks.study.scores import log_loss, scores_of
from benchmarks.study.sources import SOURCES
from benchmarks.study.splits import splits_of
from benchmarks.study.tools import Job, coded

RNG = np.random.default_rng(0)


def table(n=90):
    x = RNG.normal(size=n)
    words = np.array(["a", "b", None])[RNG.integers(0, 3, n)]
    y = np.where(x + RNG.normal(size=n) > 0, "yes", "no")
    group = RNG.permutation(np.arange(n) // 3)
    return pl.DataFrame({"x": x, "w": words.tolist(), "g": group, "t": np.arange(n), "y": y})


def about(**more):
    head = {"name": "toy", "file": "toy.csv", "target": "y", "kind": "class", "rows": 90}
    return head | {"columns": 4, "group": None, "time": None} | more


def test_every_row_judges_once_and_groups_stay_whole():
    frame = table()
    for plan in ({}, {"group": "g"}):
        parts = splits_of(about(**plan), frame)
        assert sorted(np.concatenate([judge for _, judge in parts])) == list(range(90))
        for learn, judge in parts:
            assert len(judge) == 30
            assert not set(learn) & set(judge)
            if plan:
                assert not set(frame["g"][learn]) & set(frame["g"][judge])


def test_later_rows_judge_earlier_ones():
    parts = splits_of(about(time="t"), table(80))
    assert [(learn[0], len(learn), judge[0], judge[-1]) for learn, judge in parts] == [
        (0, 40, 40, 59), (10, 40, 50, 69), (20, 40, 60, 79),
    ]  # fmt: skip


def test_log_loss_is_that_of_scikit_learn_and_knows_unseen_classes():
    p = RNG.dirichlet(np.ones(3), 50)
    y = np.array(["a", "b", "c"])[RNG.integers(0, 3, 50)]
    assert log_loss(y, p, ["a", "b", "c"]).mean() == pytest.approx(reference(y, p))
    assert log_loss(["d"], [[0.5, 0.5]], ["a", "b"])[0] == pytest.approx(np.log(1e6))


def test_the_error_of_a_mean_counts_groups_where_there_are_groups():
    y = RNG.normal(size=60)
    answer = {"prediction": np.zeros(60)}
    value, alone = scores_of(y, answer, "number")["rmse"]
    assert value == pytest.approx(np.sqrt((y**2).mean()))
    assert alone == pytest.approx((y**2).std(ddof=1) / np.sqrt(60) / (2 * value))
    twice = scores_of(np.tile(y, 2), {"prediction": np.zeros(120)}, "number", np.tile(range(60), 2))
    assert twice["rmse"] == [pytest.approx(value), pytest.approx(alone)]


def test_levels_are_coded_by_the_rows_learned_from(tmp_path):
    pl.DataFrame({"w": ["b", "a", "b", None], "y": [1.0, 2, 3, 4]}).write_csv(
        tmp_path / "train.csv"
    )
    pl.DataFrame({"w": ["a", "z", "b"]}).write_csv(tmp_path / "test.csv")
    found = coded(Job(tmp_path, "hgb", "y", "number", "rmse", 1.0, 1, None, None))
    np.testing.assert_array_equal(found.X.ravel(), [0, 1, 0, np.nan])
    np.testing.assert_array_equal(found.test.ravel(), [1, np.nan, 0])
    assert found.levels == [0]


def test_the_tables_say_where_they_are_from_and_why():
    assert len(SOURCES) == len({s.name for s in SOURCES}) >= 30
    assert {s.kind for s in SOURCES} == {"number", "class"}
    assert all(s.why and s.item and s.target not in s.drop.split() for s in SOURCES)
    found = entry(SOURCES[0], table().to_pandas())
    assert found["metrics"] == ["rmse"]
    assert (found["rows"], found["columns"]) == (90, 4)


def test_a_failed_job_leaves_its_traceback_and_done_ones_are_not_run_again(tmp_path):
    table().write_csv(tmp_path / "toy.csv")
    (tmp_path / "index.json").write_text(json.dumps([about(group="g")]))
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'ValueError: on purpose' >&2\nexit 3\n")
    broken.chmod(0o755)
    out = tmp_path / "lines.jsonl"
    race = Race(tmp_path, ("hgb", "linear"), out, 5.0, splits=1, pythons={"hgb": str(broken)})
    assert [e["name"] for e in read(tmp_path)] == ["toy"]
    said = []
    failed, good = run(race, lambda text, **_: said.append(text))
    assert failed["error"] == "ValueError: on purpose"
    assert "FAILED: ValueError: on purpose" in said[1]
    assert 0.3 < good["scores"]["accuracy"][0] <= 1
    assert good["scores"]["log_loss"][0] > 0
    assert (good["learned"], good["judged"], good["own"]) == (60, 30, None)
    with out.open("a") as file:
        file.write('{"table": "toy", "spl')  # what an interrupted run leaves
    assert len(lines_of(out)) == 2
    assert open_jobs(race) == []
    again = race._replace(retry=True, pythons={"hgb": sys.executable})
    assert [tool for _, _, tool in open_jobs(again)] == ["hgb"]
    mended = next(line for line in run(again, lambda *_, **__: None) if line["tool"] == "hgb")
    assert "error" not in mended
    assert len(lines_of(out)) == 2
