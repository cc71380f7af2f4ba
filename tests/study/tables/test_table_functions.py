"""group_table, reduce_table, find_anomalies, compare_candidates and sweep_parameter."""

import json

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_array_equal

import pellucid
from pellucid.cli import main
from pellucid.core.records import plain
from pellucid.study import OptionError, TaskError
from pellucid.study.tables.fold_plan import Arrangement, make_folds

RNG = np.random.default_rng(0)
X = np.vstack([RNG.normal(size=(30, 2)) + c for c in ([0, 0], [8, 0], [0, 8])])
FRAME = pl.DataFrame(X, schema=["a", "b"]).with_columns(
    y=pl.Series(X @ [1.0, 2.0] + RNG.normal(size=90)),
    site=pl.Series(np.arange(90) // 9),
)
CASES = {  # function, its arguments, the words of the command
    "cluster": (pellucid.group_table, {"k": "2..4", "restarts": 2}, "--k 2..4 --restarts 2"),
    "reduce": (pellucid.reduce_table, {"components": 0.5}, "--components 0.5"),
    "anomalies": (pellucid.find_anomalies, {"share": 0.05}, "--share 0.05"),
    "compare": (
        pellucid.compare_candidates,
        {"target": "y", "models": ["ridge", "LinearRegression"], "cv": 3, "rope": 0.1},
        "--target y --models ridge,LinearRegression --cv 3 --rope 0.1",
    ),
    "sweep": (
        pellucid.sweep_parameter,
        {"target": "y", "model": "ridge", "values": [10.0, 1.0], "cv": 3, "groups": "site"},
        "--target y --model ridge --values 10.0,1.0 --cv 3 --groups site",
    ),
}


def said(capsys, *words):
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert not ended.value.code
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("command", list(CASES))
def test_the_record_is_that_of_the_command(command, tmp_path, monkeypatch, capsys):
    function, arguments, words = CASES[command]
    monkeypatch.chdir(tmp_path)
    FRAME.write_csv("table.csv")
    printed = said(capsys, command, "table.csv", *words.split(), "--json")
    wanted = {name: value for name, value in printed.items() if name != "files"}
    from_file = function("table.csv", **arguments)
    assert list(from_file.to_dict()) == list(wanted)
    assert from_file.to_dict() == wanted | {"command": ""}
    for data in (FRAME, FRAME.to_dict(as_series=False)):
        record = plain(function(data, **arguments).to_dict())
        assert record == wanted | {"command": "", "source": "a table in memory"}
    first = {"compare": wanted.get("sentence"), "sweep": "ridge: alpha = 1 is best"}
    assert str(from_file).startswith(first.get(command) or wanted["verdict"][0])


def test_groups_of_new_rows():
    found = pellucid.group_table(FRAME.select("a", "b"), [3], restarts=2)
    assert sorted(np.bincount(found.labels)) == [30, 30, 30]
    assert_array_equal(found.model.predict(FRAME.select("a", "b")), found.labels)
    frame = found.to_frame()
    assert frame.columns == ["row", "cluster", "membership"]
    assert frame["membership"].min() > 0


def test_scores_of_new_rows():
    found = pellucid.reduce_table(FRAME.drop("site"), 2)
    np.testing.assert_allclose(found.model.transform(FRAME.drop("site")), found.scores, atol=1e-12)
    assert found.to_frame().shape == (90, 4)
    assert found.loadings_frame()["feature"].to_list() == ["a", "b", "y"]


def test_flagged_rows():
    found = pellucid.find_anomalies(FRAME, 0.05)
    assert len(found.unusual.flagged) == 4
    frame = found.to_frame()
    assert set(frame.filter(pl.col("flagged"))["row"]) == set(found.unusual.flagged)


def test_pipelines_that_can_be_fitted():
    found = pellucid.compare_candidates(FRAME, "y", "ridge,LinearRegression", cv=3)
    for model in found.models.values():
        assert model.fit(found.table.X, found.table.y).score(found.table.X, found.table.y) > 0.9
    swept = pellucid.sweep_parameter(FRAME, "y", "ridge", values="100, 1", cv=3)
    assert swept.values == [100, 1]
    assert swept.with_value(swept.best).get_params()["model__alpha"] == swept.best
    assert swept.bias_variance == []


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: pellucid.group_table(FRAME, 1), r"^k must lie between 2 and 89"),
        (lambda: pellucid.group_table(FRAME, method="dbscan", k=3), "leave out k$"),
        (lambda: pellucid.group_table(FRAME, distance="far"), "distance must be one of"),
        (lambda: pellucid.group_table(FRAME, drop=["q"]), "no column 'q'"),
        (lambda: pellucid.reduce_table(FRAME, 1.5), "^components must be auto"),
        (lambda: pellucid.find_anomalies(FRAME, 2.0), "share must"),
        (lambda: pellucid.find_anomalies(FRAME, method="magic"), "there are: normal"),
        (lambda: pellucid.compare_candidates(FRAME, "y", ["ridge"]), "^models needs at least two"),
        (lambda: pellucid.compare_candidates(FRAME, "y", "ridge,tree", cv=91), "^cv 91 needs"),
        (lambda: pellucid.sweep_parameter(FRAME, "y", "ridge", "alfa"), "nearest is: alpha"),
    ],
)
def test_refusals_name_the_parameter(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_table_that_cannot_serve_an_option():
    one_group = Arrangement("groups", np.arange(9), np.zeros(9, dtype=np.intp), "")
    with pytest.raises(TaskError, match=r"^groups names a column with one group") as refused:
        make_folds(one_group, np.arange(9), 3, 1, classifies=False, seed=0)
    assert isinstance(refused.value, OptionError)
    assert refused.value.typed.startswith("--groups")
