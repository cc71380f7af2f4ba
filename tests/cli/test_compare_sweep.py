"""`pellucid compare` and `pellucid sweep`."""

import json

import numpy as np
import polars as pl
import pytest

from pellucid.cli.common import Code
from pellucid.cli.sweep import read_values


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
