"""`pellucid explain`: card, coefficients, importance, curves, one row, rules, three formats."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.pipeline import Pipeline

import pellucid
from pellucid.cli.shared.options import Code
from pellucid.study import TableFeatures

HOSTILE = "<img src=x onerror=alert(1)>"


def test_alone(inside, saved):
    done = inside("explain", saved.mass)
    assert done.code == Code.DONE
    assert max(map(len, done.out.splitlines())) <= 100
    for words in ("What it is", "What it looks at", "as species changes", "share: "):
        assert words in done.out
    record = inside("explain", saved.mass, "--json").json
    assert record["importance"] is None
    assert sum(one["share"] for one in record["model_importance"]["rows"]) == pytest.approx(1)


def test_with_rows(inside, saved):
    record = inside("explain", saved.mass, saved.table, "--format", "json").json
    assert record["importance"][0]["name"] == "species"
    one = record["importance"][0]
    assert one["low"] < one["estimate"] < one["high"]
    again = inside("explain", saved.mass, saved.table, "--json", "--seed", "0").json
    assert again == record


def test_one_row_adds_up(inside, saved):
    found = inside("explain", saved.sex, saved.table, "--row", "3", "--json").json["contributions"]
    total = found["base"] + sum(one["part"] for one in found["parts"])
    assert total == pytest.approx(found["prediction"])
    done = inside("explain", saved.sex, saved.table, "--row", "3")
    assert "Row 3: probability of" in done.out
    assert "What it is" not in done.out


def test_feature(inside, saved):
    done = inside("explain", saved.mass, saved.table, "--feature", "year")
    assert "as year changes" in done.out
    assert "species" not in done.out
    refused = inside("explain", saved.mass, "--feature", "yaer")
    assert refused.code == Code.DATA
    assert "year" in refused.err


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A small tree over a table with a hostile name."""
    folder = tmp_path_factory.mktemp("tree")
    rng = np.random.default_rng(0)
    x, kind = rng.normal(size=300), rng.choice(["red", "blue", "<b>"], 300)
    y = np.where((x > 0.3) & (kind == "red"), "yes", "no")
    frame = pl.DataFrame({HOSTILE: x, "colour": kind})
    model = Pipeline([
        ("features", TableFeatures(scale=True)), ("model", pellucid.DecisionTreeClassifier())
    ]).fit(frame, y)  # fmt: skip
    pellucid.save(model, folder / "tree.pellucid")
    frame.with_columns(pl.Series("y", y)).write_csv(folder / "t.csv")
    return folder


def test_tree_as_rules(inside, tree):
    done = inside("explain", tree / "tree.pellucid", tree / "t.csv", "--target", "y")
    assert done.code == Code.DONE
    assert "colour is not red" in done.out
    assert "colour is red" in done.out
    rules = inside("explain", tree / "tree.pellucid", "--json").json["rules"]
    assert rules["dnf"]["yes"].count("colour is red") == 1
    cut = next(word for rule in rules["rules"] for word in rule["when"] if word.startswith(HOSTILE))
    assert float(cut.split()[-1]) == pytest.approx(0.3, abs=0.1)  # in its own units


def test_page(inside, tree, tmp_path):
    refused = inside("explain", tree / "tree.pellucid", "--format", "html")
    assert refused.code == Code.USAGE
    assert "--out" in refused.err
    done = inside(
        "explain", tree / "tree.pellucid", tree / "t.csv", "--target", "y", "--row", "0",
        "--format", "html", "--out", "why.html",
    )  # fmt: skip
    assert done.code == Code.DONE
    page = (tmp_path / "why.html").read_text()
    assert "<img src=x" not in page
    assert "<script" not in page
    assert "default-src 'none'" in page
    assert "&lt;img src=x onerror=alert(1)&gt;" in page


def test_other_files(inside, saved, tmp_path):
    inside("explain", saved.mass, "--format", "json", "--out", "why.json")
    assert json.loads((tmp_path / "why.json").read_text())["card"]
    inside("explain", saved.mass, "--out", "why.txt")
    assert "What it is" in (tmp_path / "why.txt").read_text()
    assert inside("explain", saved.mass, "--out", "why.txt").code == Code.OUTPUT_EXISTS


def test_a_model_without_a_study(inside, saved, tmp_path):
    pl.read_csv(saved.points).rename({"a": "x0", "b": "x1"}).write_csv(tmp_path / "p.csv")
    record = inside("explain", saved.plain, "p.csv", "--target", "y", "--row", "0", "--json").json
    assert record["importance"][0]["name"] == "x0"
    assert record["contributions"]["parts"][0]["name"] == "x0"


def test_refusals(inside, saved):
    done = inside("explain", saved.mass, "--row", "1")
    assert (done.code, "give the table too" in done.err) == (Code.USAGE, True)
    done = inside("explain", saved.mass, saved.table, "--row", "344")
    assert (done.code, "0 to 343" in done.err) == (Code.USAGE, True)
    assert inside("explain", saved.table).code == Code.MODEL_FILE
    assert inside("explain", saved.mass, "no.csv").code == Code.DATA
