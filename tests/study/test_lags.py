"""Lags: made from the past alone, better than the last value only where the past says more."""

import datetime as dt
import warnings

import numpy as np
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import pellucid
from pellucid.data import DataWarning
from pellucid.report.scripts import code_of
from pellucid.study import Plan, Study
from pellucid.study.columns.lagged_features import LaggedFeatures
from pellucid.study.columns.lags import Lags, find_lags, make_tail, new_lags, table_lags
from pellucid.study.saved.evaluation import judge
from pellucid.study.saved.explanation import explain_model
from pellucid.study.saved.prediction import Application, Asked, needed_columns

START = dt.date(2020, 1, 1)


def days(n):
    return [START + dt.timedelta(days=i) for i in range(n)]


def momentum(n=240, seed=0):
    """A series whose change carries on: the last value is beaten by the last change."""
    rng = np.random.default_rng(seed)
    step = np.zeros(n)
    for i in range(1, n):
        step[i] = 0.8 * step[i - 1] + rng.normal()
    y = 50 + np.cumsum(step)
    return pl.DataFrame({"day": days(n), "x": rng.normal(size=n), "y": y})


def walk(n=240, seed=0):
    rng = np.random.default_rng(seed)
    y = np.cumsum(rng.normal(size=n))
    return pl.DataFrame({"day": days(n), "x": rng.normal(size=n), "y": y})


LAGS = Lags("day", "y", ("x",), (7,), False)


def test_lags_by_hand():
    rng = np.random.default_rng(0)
    y, x = rng.normal(size=(2, 20))
    table = pl.DataFrame({"day": days(20), "x": x})
    found = table_lags(LAGS, table, y, np.arange(20))
    assert found.columns == LAGS.names()
    assert_allclose(found["y 1 before"][12], y[11])
    assert_allclose(found["change of y 2 before"][12], y[10] - y[9])
    assert_allclose(found["change of y 7 before"][12], y[5] - y[4])
    assert_allclose(found["y 7 before, less the last"][12], y[5] - y[11])
    assert_allclose(found["mean of the last 7 y, less the last"][12], y[5:12].mean() - y[11])
    assert_allclose(found["change of x"][12], x[12] - x[11])
    assert found["y 1 before"][0] is None


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("now", [8, 30, 59])
def test_the_future_has_no_say_in_the_past(classes, now):
    """Shuffle what comes at ``now`` and later: lags until ``now`` stay as they are."""
    rng = np.random.default_rng(now)
    y = rng.choice(["a", "b", "c"], 60) if classes else rng.normal(size=60)
    x = rng.normal(size=60)
    lags = LAGS._replace(classes=classes)
    order = np.concatenate([np.arange(now), now + rng.permutation(60 - now)])
    later = np.concatenate([np.arange(now + 1), now + 1 + rng.permutation(59 - now)])
    before = table_lags(lags, pl.DataFrame({"day": days(60), "x": x}), y, np.arange(60))
    mixed = pl.DataFrame({"day": days(60), "x": x[later]})  # x of now is known now
    after = table_lags(lags, mixed, y[order], np.arange(60))
    assert before[: now + 1].equals(after[: now + 1])


def test_a_fold_learns_from_the_past_alone():
    """The matrices of a fold are the same whatever the later targets are."""
    table = momentum(120)
    study = Study(table, "y", effort="quick", plan=Plan(time="day"))
    shop = study._shop()
    learn, judge = shop.folds[0]
    last = int(judge.max())
    rng = np.random.default_rng(1)
    y = table["y"].to_numpy().copy()
    y[last + 1 :] = rng.permutation(y[last + 1 :])
    other = Study(table.with_columns(y=y), "y", effort="quick", plan=Plan(time="day"))._shop()
    assert_array_equal(other.folds[0][0], learn)
    options = {"lags": True, "scale": False}
    one, two = (s.part(learn, judge, options, "fold") for s in (shop, other))
    assert_array_equal(one.Z_learn, two.Z_learn)
    assert_array_equal(one.Z_judge, two.Z_judge)


def test_rows_of_one_moment_have_no_lags():
    times = pl.Series("day", [d for d in days(30) for _ in range(2)])
    assert find_lags(times, "y", np.arange(60), [], classes=False) is None
    assert find_lags(pl.Series("day", days(60)), "y", np.arange(60), [], classes=False) is not None


# --- the study ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record():
    return pellucid.learn(momentum(), "y", effort="quick")


def test_a_series_that_carries_on_beats_the_last_value(record):
    assert record.final.gain.yardstick == "the last value"
    assert record.verdict.kind == "shown"
    assert record.verdict.chosen == "ridge regression with lags"
    assert record.verdict.text[0].startswith("Yes. Ridge regression with lags predicts y")
    said = "It starts from the y of the row before, in the order of day"
    assert any(s.startswith(said) for s in record.verdict.text)
    assert record.model.study_["lags"] == record.model[0].lags.names()
    assert any(c.name == "y 1 before" for c in record.features.columns)


@pytest.mark.parametrize("seed", range(3))
def test_a_random_walk_is_not_beaten(seed):
    """The last value of a walk is the best there is."""
    found = pellucid.learn(walk(seed=seed), "y", effort="quick")
    assert found.final.gain.yardstick == "the last value"
    assert found.verdict.kind in ("excluded", "not_shown")


def test_models_without_lags_do_not_see_them(record):
    plan = Plan(time="day", candidates=("ridge",))
    found = pellucid.learn(momentum(), "y", plan=plan)
    assert needed_columns(found.model) == ["day", "x"]
    assert found.model.study_["lags"] == []
    assert not any("It starts from" in s for s in found.verdict.text)
    assert np.isfinite(found.predict(momentum().head(5).drop("y"))).all()


# --- new rows ----------------------------------------------------------------------------------


def test_new_rows_build_their_lags(record, tmp_path):
    """With the targets of earlier rows they are those of the whole series."""
    path = tmp_path / "m.pellucid"
    pellucid.save(record.tested, path)
    model, table = pellucid.load(path), momentum()
    assert isinstance(model[0], LaggedFeatures)
    test = np.sort(record.split.test)
    said = {row["row"]: row["prediction"] for row in record.final.predictions}
    asked = Application(model, Asked()).answer(table[test])["prediction"]
    assert_allclose(asked, [said[int(i)] for i in test], rtol=1e-8)


def test_the_tail_is_enough_for_the_next_row(record):
    lags, table = record.model[0].lags, momentum()
    tail = make_tail(lags, table, table["y"].to_numpy(), np.arange(200))
    assert len(tail.times) == lags.longest()
    whole = table_lags(lags, table, table["y"].to_numpy(), np.arange(240))
    one, ahead = new_lags(lags, tail, table[[200]].drop("y"))
    assert ahead.tolist() == [1]
    assert_allclose(one.to_numpy(), whole[[200]].to_numpy(), rtol=1e-10)
    order = np.array([203, 201, 200, 202])  # in any order, with their targets
    some, ahead = new_lags(lags, tail, table[order])
    assert ahead.tolist() == [1, 1, 1, 1]
    assert_allclose(some.to_numpy(), whole[order].to_numpy(), rtol=1e-10)


def test_the_model_to_use_goes_on_from_the_last_row_of_the_table(record):
    """It has learned from all rows, so the row after them needs no target that is not known."""
    lags, known = record.model[0].lags, momentum()
    after = known.tail(1).with_columns(pl.col("day") + dt.timedelta(days=1))
    table = pl.concat([known, after])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = record.predict(table.tail(1).drop("y"))
    whole = table_lags(lags, table, table["y"].to_numpy(), np.arange(241))
    rows = pl.concat([whole, table], how="horizontal")
    assert_allclose(said, record.model.predict(rows.tail(1)), rtol=1e-8)


def test_rows_ahead_of_what_is_known_are_counted(record):
    table, reach = momentum(250).tail(10).drop("y"), record.final.ahead["steps"]
    assert 1 < reach < 10
    near = f"{reach - 1} rows are predicted without the y of the moment before"
    far = f"more than {reach} steps ahead of the last y known: {record.final.ahead['name']}"
    with pytest.warns(DataWarning, match=near), pytest.warns(DataWarning, match=far):
        found = record.predict(table)
    assert np.isfinite(found).all()
    with pytest.raises(ValueError, match="day"):
        record.predict(table.drop("day"))


def test_a_gap_in_time_is_no_moment_before(record):
    table = momentum(400)
    with pytest.warns(DataWarning, match="1 row is predicted without"):
        record.predict(table[242:250])
    with pytest.warns(DataWarning, match="1 row is more than 8 steps ahead of the last y known"):
        record.predict(table[300:310])


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("ahead", [1, 2, 4, 9])
def test_lags_ahead_are_those_of_rows_whose_targets_are_not_known_yet(ahead, classes):
    """Rows behind the end of a series, and the same rows measured in a fold."""
    rng = np.random.default_rng(ahead)
    x, now = rng.normal(size=40), 25
    y = rng.choice(["a", "b"], 40) if classes else rng.normal(size=40)
    lags, table = LAGS._replace(classes=classes), pl.DataFrame({"day": days(40), "x": x})
    tail = make_tail(lags, table, y, np.arange(now))
    new, steps = new_lags(lags, tail, table[now:])
    assert steps[ahead - 1] == ahead
    whole = table_lags(lags, table, y, np.arange(40), ahead=ahead)
    one, two = new.row(ahead - 1), whole.row(now + ahead - 1)
    assert one == two if classes else np.allclose(one, two, rtol=1e-12)


def driven(n=300, seed=1):
    """A column says most of it, and the rest is forgotten within a few steps."""
    rng = np.random.default_rng(seed)
    x, rest = rng.normal(size=n), np.zeros(n)
    for i in range(1, n):
        rest[i] = 0.8 * rest[i - 1] + rng.normal()
    return pl.DataFrame({"day": days(n), "x": x, "y": 3 * x + rest})


def test_far_ahead_the_best_model_without_lags_predicts(tmp_path):
    table = driven()
    known, new = table[:240], table[240:].drop("y")
    both, one = (Plan(time="day", candidates=("ridge", *more)) for more in (("ridge_lags",), ()))
    record = pellucid.learn(known, "y", effort="quick", plan=both)
    alone = pellucid.learn(known, "y", effort="quick", plan=one)
    beyond = record.final.ahead
    assert (beyond["steps"], beyond["name"]) == (1, "ridge regression")
    assert beyond["curve"][-1][1] > beyond["level"]  # from there on the lags are worse
    assert f"more than 1 step ahead are predicted by {beyond['name']}" in str(record.verdict)
    score = alone.final.table["rmse"]
    assert beyond["score"]["estimate"] == pytest.approx(score.estimate, rel=0.1)
    with pytest.warns(DataWarning, match="59 rows are more than 1 step ahead"):
        said = record.predict(new)
    assert_array_equal(said[1:], record.model.far_.predict(new[1:]))
    truth = table["y"][240:].to_numpy()
    assert np.sqrt(np.mean((said - truth) ** 2)) < beyond["score"]["high"]
    path = tmp_path / "m.pellucid"
    pellucid.save(record.model, path)
    with pytest.warns(DataWarning, match="59 rows"):
        again = Application(pellucid.load(path), Asked(interval=0.9)).answer(new)
    assert_array_equal(again["prediction"], said)
    width = (again["high"] - again["low"]).to_numpy()
    assert width[0] < width[1] == pytest.approx(width[-1])  # intervals of the model that predicts
    with pytest.warns(DataWarning, match="59 rows"):
        shuffled = record.predict(new[::-1])
    assert_allclose(shuffled[::-1], said, rtol=1e-12)
    told = explain_model(record.model, new, row=40)
    assert {one["name"] for one in told.contributions["parts"]} <= {"day", "x"}


def test_where_nothing_without_lags_is_better_the_last_value_stands():
    """A series that rises: the mean of the past is further off than the last value, always."""
    table = momentum().with_columns(pl.col("y") + 10 * pl.int_range(240))
    plan = Plan(time="day", candidates=("ridge_lags",))
    record = pellucid.learn(table, "y", effort="quick", plan=plan)
    assert (record.verdict.chosen, record.final.ahead) == ("ridge regression with lags", None)
    assert "Further ahead the last y known stands for it" in str(record.verdict)
    after = table.tail(3).with_columns(pl.col("day") + dt.timedelta(days=3)).drop("y")
    with pytest.warns(DataWarning, match="2 rows are predicted without the y"):
        assert np.isfinite(record.predict(after)).all()


def test_the_script_makes_the_same_features(record):
    imports = {}
    code = code_of(record.model[0], imports)
    lines = "\n".join(f"from {m} import {', '.join(names)}" for m, names in imports.items())
    made = {}
    exec(f"{lines}\nfound = {code}", made)  # our own text
    assert made["found"].lags == record.model[0].lags
    new = momentum(250)[[240]].drop("y")
    assert made["found"].with_lags(new).equals(record.model[0].with_lags(new))


def test_a_saved_model_with_lags_is_evaluated(record):
    found = judge(record.model, momentum(300)[240:])
    assert found.table["rmse"].estimate < 3
    assert "y 1 before" in found.drift.to_dict()["columns"][0]["name"]


def test_a_model_with_lags_is_explained(record):
    found = explain_model(record.model, momentum())
    assert found.importance[0]["name"] in record.model[0].feature_names_in_


def test_classes_in_time():
    """A state that stays as it is: the label before is a column."""
    rng = np.random.default_rng(0)
    state = np.zeros(200, dtype=int)
    for i in range(1, 200):
        state[i] = state[i - 1] if rng.random() < 0.7 else 1 - state[i - 1]
    labels = np.where(state == 1, "wet", "dry")
    table = pl.DataFrame({"day": days(200), "x": rng.normal(size=200), "y": labels})
    found = pellucid.learn(table, "y", effort="quick", plan=Plan(candidates=("logistic_lags",)))
    assert found.verdict.chosen in ("logistic regression with lags", "guessing")
    assert found.final.gain.yardstick == "the last value"
    assert found.verdict.kind in ("excluded", "not_shown")  # as good as the last value, no better
