"""`pellucid compare` and `pellucid sweep`."""

import json

import numpy as np
import polars as pl
import pytest

from pellucid.cli.shared.options import Code
from pellucid.study.tables.parameter_sweep import read_values


@pytest.fixture(name="pellucid")
def in_process(inside):
    return inside


@pytest.fixture
def line(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(120, 3))
    y = x @ [2.0, -1.0, 0.0] + rng.normal(size=120)
    frame = pl.DataFrame(x, schema=["a", "b", "c"]).with_columns(y=y, id=pl.Series(range(120)))
    frame.write_csv(tmp_path / "line.csv")
    return "line.csv"


@pytest.fixture
def pairs(tmp_path):
    """The rarer class sorts first: it must still be the positive one."""
    rng = np.random.default_rng(1)
    y = rng.random(160) < 0.15
    x = rng.normal(size=160) + 2.0 * y
    label = np.where(y, "arid", "wet")
    pl.DataFrame({"x": x, "z": rng.normal(size=160), "label": label}).write_csv(
        tmp_path / "pairs.csv"
    )
    return "pairs.csv"


def test_compare(pellucid, line, tmp_path):
    done = pellucid("compare", line, "--target", "y", "--models", "ridge,guess,LinearRegression",
                    "--cv", "4", "--rope", "0.1", "--out", "kept.json")  # fmt: skip
    assert done.code == Code.DONE, done.err
    assert max(map(len, done.out.splitlines())) <= 100
    assert "significantly better than guess" in " ".join(done.out.split())
    assert "left out: id" in done.out
    record = json.loads((tmp_path / "kept.json").read_text())
    assert record["names"] == ["ridge", "guess", "LinearRegression"]
    assert np.array(record["better"])[0, 1]
    assert not np.array(record["better"])[0, 2]
    for row in record["rope"]:
        assert row["worse"] + row["equal"] + row["better"] == pytest.approx(1)
    again = pellucid("compare", line, "--target", "y", "--models", "ridge,guess,LinearRegression",
                     "--cv", "4", "--json")  # fmt: skip
    assert again.json["scores"] == record["scores"]  # same seed, same folds
    refused = pellucid("compare", line, "--target", "y", "--models", "ridge,guess",
                       "--out", "kept.json")  # fmt: skip
    assert refused.code == Code.OUTPUT_EXISTS


def test_compare_equals_the_library(pellucid, line, tmp_path):
    from pellucid import LinearRegression, Ridge
    from pellucid.evaluation import compare

    frame = pl.read_csv(tmp_path / line)
    found = pellucid("compare", line, "--target", "y", "--models", "LinearRegression,Ridge",
                     "--cv", "5", "--metric", "rmse", "--drop", "c", "--json").json  # fmt: skip
    X = frame.select("a", "b").to_numpy()
    ours = {"LinearRegression": LinearRegression(), "Ridge": Ridge()}
    expected = compare(ours, X, frame["y"].to_numpy(), cv=5, metric="rmse", random_state=0)
    # least squares does not mind that the command standardises the columns; ridge does
    np.testing.assert_allclose(found["scores"][0], expected.scores[0], rtol=1e-9)


@pytest.mark.parametrize("test", ["paired_t", "5x2cv", "mcnemar"])
def test_compare_tests_and_the_positive_class(pellucid, pairs, test):
    done = pellucid("compare", pairs, "--target", "label", "--models", "logistic,guess",
                    "--test", test, "--cv", "3", "--json")  # fmt: skip
    assert done.code == Code.DONE, done.err
    record = done.json
    assert record["metric"] == "average_precision"
    assert record["summaries"][0]["mean"] > 0.4  # of the rare class; of the other it is near 1
    assert record["summaries"][1]["mean"] < 0.3


def test_compare_refuses(pellucid, line):
    assert pellucid("compare", line, "--target", "yy").code == Code.DATA
    one = pellucid("compare", line, "--target", "y", "--models", "ridge")
    assert (one.code, "two names" in one.err) == (Code.USAGE, True)
    bad = pellucid("compare", line, "--target", "y", "--models", "rigde,guess")
    assert (bad.code, "ridge" in bad.err) == (Code.USAGE, True)
    wrong = pellucid("compare", line, "--target", "y", "--models", "GaussianNB,guess")
    assert (wrong.code, "no regressor" in wrong.err) == (Code.USAGE, True)
    labels = pellucid("compare", line, "--target", "y", "--models", "ridge,guess", "--test",
                      "mcnemar")  # fmt: skip
    assert labels.code == Code.USAGE


def test_sweep(pellucid, line, tmp_path):
    done = pellucid("sweep", line, "--target", "y", "--model", "Ridge", "--parameter", "alpha",
                    "--values", "10000,100,1,0.01", "--cv", "4", "--bias-variance")  # fmt: skip
    assert done.code == Code.DONE, done.err
    assert max(map(len, done.out.splitlines())) <= 100
    assert "rule of one standard error" in done.out
    record = pellucid("sweep", line, "--target", "y", "--model", "Ridge", "--parameter", "alpha",
                      "--values", "10000,100,1,0.01", "--cv", "4", "--bias-variance",
                      "--json").json  # fmt: skip
    means = [s["mean"] for s in record["test_summary"]]
    assert record["metric"] == "rmse"
    assert int(np.argmin(means)) == record["best"]
    assert record["one_standard_error"] <= record["best"]
    parts = record["bias_variance"]
    y = pl.read_csv(tmp_path / line)["y"].to_numpy()  # a stiff model says the mean of 84 rows
    assert parts[0]["variance"] == pytest.approx(y.var() / 84, rel=0.5)
    assert parts[0]["bias2"] > parts[-1]["bias2"]
    for row in parts:
        assert row["total"] == pytest.approx(row["bias2"] + row["variance"])


def test_sweep_of_a_registered_model(pellucid, pairs):
    record = pellucid("sweep", pairs, "--target", "label", "--model", "tree", "--cv", "3",
                      "--json").json  # fmt: skip
    assert record["parameter"] == "max_depth"
    assert record["values"] == [1, 2, 3, 5, 8]
    split = pellucid("sweep", pairs, "--target", "label", "--model", "tree", "--values", "1,4",
                     "--cv", "3", "--bias-variance", "--json").json  # fmt: skip
    assert {row["loss"] for row in split["bias_variance"]} == {"zero_one"}


def test_sweep_refuses(pellucid, line):
    ask = ("sweep", line, "--target", "y", "--model", "Ridge")
    assert "--parameter is needed" in pellucid(*ask).err
    near = pellucid(*ask, "--parameter", "alpa", "--values", "1,2")
    assert (near.code, "alpha" in near.err) == (Code.USAGE, True)
    assert pellucid(*ask, "--parameter", "alpha", "--values", "1").code == Code.USAGE
    bad = pellucid(*ask, "--parameter", "alpha", "--values", "-1,2")
    assert (bad.code, "alpha" in bad.err) == (Code.USAGE, True)


def test_values():
    assert read_values("1,2") == [1, 2]
    assert read_values("gini,entropy") == ["gini", "entropy"]
    assert read_values("[8],[8,4]") == [[8], [8, 4]]
    assert read_values("null,sqrt,0.5") == [None, "sqrt", 0.5]


@pytest.fixture
def clinics(tmp_path):
    """Rows of a clinic share a level that their column names: only new clinics tell the truth."""
    rng = np.random.default_rng(3)
    clinic = np.repeat(np.arange(12), 10)
    level = rng.normal(size=12)[clinic]
    x = clinic + 0.01 * rng.normal(size=120)  # as good as the name of the clinic
    frame = pl.DataFrame({"x": x, "z": rng.normal(size=120), "clinic": [f"c{c}" for c in clinic],
                          "y": level + 0.1 * rng.normal(size=120)})  # fmt: skip
    frame.write_csv(tmp_path / "clinics.csv")
    return "clinics.csv"


def test_groups_stay_together(pellucid, clinics, tmp_path):
    """With --groups a model that knows the clinic by heart is no better than guessing."""
    words = ("compare", clinics, "--target", "y", "--models", "guess,tree,neighbours", "--cv", "4")
    mixed = pellucid(*words, "--drop", "clinic", "--json").json
    whole = pellucid(*words, "--groups", "clinic", "--out", "kept.json")
    assert whole.code == Code.DONE, whole.err
    assert "same clinic are on one side" in whole.out
    record = json.loads((tmp_path / "kept.json").read_text())
    assert record["split"]["kind"] == "groups"
    guess, tree = (s["mean"] for s in record["summaries"][:2])
    assert mixed["summaries"][1]["mean"] < 0.5 * mixed["summaries"][0]["mean"]
    assert tree > 0.7 * guess
    page = pellucid("report", "kept.json")
    assert page.code == Code.DONE, page.err
    assert "Which model is better?" in (tmp_path / "kept.html").read_text()
    halves = pellucid(*words, "--groups", "clinic", "--test", "5x2cv")
    assert (halves.code, "halves the rows at random" in halves.err) == (Code.USAGE, True)
    assert pellucid(*words, "--groups", "clinc").code == Code.DATA


def test_nobody_learns_from_the_future(pellucid, tmp_path):
    """Rows in any order of the file: folds go forward in time, and so does tuning."""
    rng = np.random.default_rng(4)
    day = rng.permutation(np.repeat(np.arange(60), 2))
    frame = pl.DataFrame({"day": day, "x": rng.normal(size=120), "y": day + rng.normal(size=120)})
    frame.write_csv(tmp_path / "days.csv")
    words = ("--target", "y", "--time", "day", "--cv", "5")
    done = pellucid("compare", "days.csv", *words, "--models", "tree,ridge", "--json")
    assert done.code == Code.DONE, done.err
    assert done.json["split"]["kind"] == "sequential"
    tree, ridge = (s["mean"] for s in done.json["summaries"])
    assert tree > 3 * ridge  # a tree cannot go on where the days stop
    again = pellucid("compare", "days.csv", *words, "--models", "tree,ridge", "--repeats", "2")
    assert again.code == Code.USAGE
    swept = pellucid("sweep", "days.csv", *words, "--model", "ridge", "--bias-variance",
                     "--out", "swept.json")  # fmt: skip
    assert swept.code == Code.DONE, swept.err
    assert "learns from the past" in swept.out
    page = pellucid("report", "swept.json", "--json")
    assert page.code == Code.DONE, page.err
    assert "How does ridge depend on alpha?" in (tmp_path / "swept.html").read_text()
    assert "Bias and variance" in (tmp_path / "swept.html").read_text()


def test_folds_of_units():
    from pellucid.study.tables.fold_plan import Arrangement, forward_folds, make_folds

    moments = np.sort(np.random.default_rng(0).integers(20, size=100))
    folds = forward_folds(moments, 5)
    assert len(folds) == 5
    for learn, judge in folds:
        assert moments[learn].max() < moments[judge].min()
    units = np.random.default_rng(1).integers(9, size=100)
    found = Arrangement("groups", np.arange(100), units, "")
    for learn, judge in make_folds(found, np.zeros(100), 4, 2, classifies=False, seed=0):
        assert not set(units[learn]) & set(units[judge])
