"""`pellucid evaluate`: measures with intervals, groups, costs, drift."""

import numpy as np
import polars as pl
import pytest

import pellucid
from pellucid.cli.shared.options import Code


@pytest.fixture
def table(saved):
    return pl.read_csv(saved.table, null_values=["NA", ""])


def test_the_measure_is_right(inside, saved, table):
    record = inside("evaluate", saved.mass, saved.table, "--json").json
    model = pellucid.load(saved.mass)
    known = table.filter(table["body_mass_g"].is_not_null())
    said = model.predict(known.select(model.feature_names_in_.tolist()))
    rmse = np.sqrt(np.mean((said - known["body_mass_g"].to_numpy()) ** 2))
    found = record["table"]["rmse"]
    assert found["estimate"] == pytest.approx(rmse)
    assert found["low"] < rmse < found["high"]
    assert (record["n"], record["unlabelled"]) == (342, 2)
    assert record["same_table"]
    assert record["drift"]["drifted"] == []


def test_text(inside, saved):
    done = inside("evaluate", saved.sex, saved.table, "--by", "island")
    assert done.code == Code.DONE
    assert max(map(len, done.out.splitlines())) <= 100
    for words in ("accuracy", "said female", "Torgersen", "learned from all of these 333 rows"):
        assert words in done.out
    quiet = inside("evaluate", saved.sex, saved.table, "--quiet", "--out", "found.json")
    assert (quiet.code, quiet.out) == (Code.DONE, "")


def test_rows_learned_from_are_noticed(inside, tmp_path, table):
    """In any file: those of the test rows too, by the model that has learned from all."""
    learned = pellucid.learn(table, "sex", effort="quick", plan=pellucid.Plan(candidates=("lda",)))
    pellucid.save(learned.tested, tmp_path / "tested.pellucid")
    learned.save(tmp_path / "model.pellucid")
    table[learned.split.test].write_csv(tmp_path / "kept.csv")
    again = inside("evaluate", "model.pellucid", "kept.csv")
    told = " ".join(again.out.split())
    n = len(learned.split.test)
    assert f"The model has learned from all of these {n} rows: they flatter it." in told
    assert f"that of tested.pellucid, which had not met the {n} test rows of the study" in told
    assert "On the study's test rows accuracy of tested.pellucid was" in told
    honest = inside("evaluate", "tested.pellucid", "kept.csv", "--json").json
    assert honest["overlap"] == {"checked": n, "learned": 0, "expected": 0.0}
    score = learned.final.table["accuracy"].estimate
    assert honest["table"]["accuracy"]["estimate"] == pytest.approx(score)
    assert "flatter" not in inside("evaluate", "tested.pellucid", "kept.csv").out
    head = " ".join(inside("explain", "model.pellucid", "kept.csv").out.split())
    assert f"learned from all {learned.learned.model} rows." in head
    assert f"(tested.pellucid) it had accuracy {score:.4g}" in head
    assert "learned from 100 % of these rows" in head
    kept = " ".join(inside("explain", "tested.pellucid", "kept.csv").out.split())
    assert "in its study" in kept
    assert "of these rows" not in kept


def test_groups_agree_with_their_rows(inside, saved, table, tmp_path):
    record = inside("evaluate", saved.sex, saved.table, "--by", "island", "--json").json
    table.filter(table["island"] == "Dream").write_csv(tmp_path / "dream.csv")
    alone = inside("evaluate", saved.sex, "dream.csv", "--json").json
    dream = next(one for one in record["groups"] if one["group"] == "Dream")
    assert dream["interval"]["estimate"] == pytest.approx(alone["table"]["accuracy"]["estimate"])
    assert sum(one["n"] for one in record["groups"]) == record["n"]
    quarters = inside("evaluate", saved.mass, saved.table, "--by", "bill_length_mm", "--json").json
    assert [one["group"][:5] for one in quarters["groups"]] == ["up to", "39.23", "44.45", "over "]


def test_costs(inside, saved, tmp_path):
    (tmp_path / "cost.csv").write_text("truth,female,male\nfemale,0,4\nmale,1,0\n")
    done = inside("evaluate", saved.sex, saved.table, "--cost", "cost.csv", "--json")
    record = done.json
    counts = np.array(record["table"]["confusion"]["counts"])
    expected = (4 * counts[0, 1] + counts[1, 0]) / counts.sum()
    assert record["costs"]["as_it_decides"] == pytest.approx(expected)
    assert record["table"]["mean_cost"]["estimate"] == pytest.approx(expected)
    refused = inside("evaluate", saved.mass, saved.table, "--cost", "cost.csv")
    assert refused.code in (Code.DATA, Code.USAGE)
    assert refused.err.count("\n") == 1


def test_drift_is_seen(inside, saved, table, tmp_path):
    """PEL507, unseen levels, the share out of range, and a test per column with Holm."""
    moved = table.with_columns(
        pl.col("bill_length_mm") + 20,
        pl.Series("island", ["Mars"] * 50 + table["island"].to_list()[50:]),
    )
    moved.write_csv(tmp_path / "moved.csv")
    done = inside("evaluate", saved.mass, "moved.csv")
    assert "PEL507" in done.out
    assert "2 of 7 columns are distributed otherwise" in done.out
    drift = inside("evaluate", saved.mass, "moved.csv", "--json").json["drift"]
    assert set(drift["drifted"]) == {"bill_length_mm", "island"}
    assert drift["rows_unseen"] in (48, 49, 50)  # rows without a target are left out
    assert drift["findings"][0]["code"] == "PEL507"


def test_a_model_without_a_study(inside, saved, tmp_path):
    done = inside("evaluate", saved.plain, saved.points)
    assert done.code == Code.USAGE
    assert "--target" in done.err
    record = inside("evaluate", saved.plain, saved.points, "--target", "y", "--json").json
    assert record["table"]["accuracy"]["estimate"] > 0.9
    assert record["drift"] is None


def test_refusals(inside, saved, table, tmp_path):
    table.drop("body_mass_g").write_csv(tmp_path / "no.csv")
    done = inside("evaluate", saved.mass, "no.csv")
    assert done.code == Code.DATA
    assert "body_mass_g" in done.err
    done = inside("evaluate", saved.mass, saved.table, "--target", "body_mas")
    assert "the nearest is: body_mass_g" in done.err
    done = inside("evaluate", saved.mass, saved.table, "--by", "iland")
    assert (done.code, "island" in done.err) == (Code.DATA, True)
    done = inside("evaluate", saved.mass, saved.table, "--target", "species")
    assert (done.code, "the model predicts from" in done.err) == (Code.DATA, True)
    table.with_columns(table["species"].alias("kind")).write_csv(tmp_path / "kind.csv")
    done = inside("evaluate", saved.mass, "kind.csv", "--target", "kind")
    assert done.code == Code.DATA
    assert "must be numbers" in done.err
    table.with_columns(pl.lit(None, pl.Int64).alias("body_mass_g")).write_csv(tmp_path / "e.csv")
    done = inside("evaluate", saved.mass, "e.csv")
    assert done.code in (Code.TASK, Code.DATA)
    assert done.err.count("\n") == 1


def test_classes_the_model_never_saw(inside, saved, table, tmp_path):
    strange = ["unknown"] * 10 + table["sex"].to_list()[10:]
    table.with_columns(pl.Series("sex", strange)).write_csv(tmp_path / "s.csv")
    done = inside("evaluate", saved.sex, "s.csv")
    assert done.code == Code.DONE
    assert "never seen these classes" in done.out
