"""Answers of saved models: every kind of task, calibration that covers, questions refused."""

import numpy as np
import polars as pl
import pytest

import pellucid
from pellucid.data import DataWarning
from pellucid.study import Plan
from pellucid.study.judging.conformal import calibration_scores, label_sets, limits
from pellucid.study.records import Task
from pellucid.study.saved.evaluation import as_labels, change_of, judge
from pellucid.study.saved.prediction import Application, Asked, QuestionError, probabilities

NUMBERS = Task("regression", ("y",), (), None, "rmse", False, 0, "")
CLASSES = Task("binary", ("y",), ("a", "b"), "b", "accuracy", True, 0, "")


def test_intervals_cover():
    """Split conformal: over many draws the share of covered rows is at least the confidence."""
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(300):
        y, f = rng.standard_t(3, size=60), np.zeros(60)
        kept = calibration_scores(NUMBERS, None, f[:59], None, y[:59], "random")
        hits.append(abs(y[59]) <= limits(kept, 0.8)[0])
    assert 0.8 - 0.06 < np.mean(hits) < 0.8 + 0.06


def test_sets_cover():
    rng = np.random.default_rng(0)
    hits = []
    for _ in range(300):
        p = rng.random(51)
        P = np.column_stack([1 - p, p])
        y = np.where(rng.random(51) < p, "b", "a")
        kept = calibration_scores(CLASSES, np.array(["a", "b"]), None, P[:50], y[:50], "random")
        inside = label_sets(P[50:], limits(kept, 0.9)[0])[0]
        hits.append(inside[int(y[50] == "b")])
    assert np.mean(hits) > 0.9 - 0.05


def test_a_class_the_model_never_saw_is_the_strangest():
    y = np.array(["a", "zebra"])
    P = np.array([[0.9, 0.1], [0.5, 0.5]])
    kept = calibration_scores(CLASSES, np.array(["a", "b"]), None, P, y, "random")
    np.testing.assert_allclose(kept["scores"], [0.1, 1.0])


def test_several_labels_and_several_numbers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    table = {"a": x[:, 0], "b": x[:, 1], "u": x[:, 0] + 0.1 * rng.normal(size=200),
             "v": 2 * x[:, 1] + 0.1 * rng.normal(size=200)}  # fmt: skip
    record = pellucid.learn(table, ["u", "v"], effort="quick")
    frame = pl.DataFrame(table)
    said = Application(record.model, Asked(interval=0.9)).answer(frame.select("a", "b"))
    assert said.columns == ["prediction_u", "prediction_v", "low_u", "high_u", "low_v", "high_v"]
    covered = (frame["u"] >= said["low_u"]) & (frame["u"] <= said["high_u"])
    assert covered.mean() > 0.8


def test_own_intervals_of_a_model_without_calibration():
    rng = np.random.default_rng(0)
    X = pl.DataFrame({"a": rng.normal(size=50)})
    model = pellucid.LinearRegression().fit(X, 2 * X["a"].to_numpy() + rng.normal(size=50))
    said = Application(model, Asked(interval=0.9)).answer(X)
    np.testing.assert_allclose(
        said.select("low", "high").to_numpy(), model.predict_interval(X, confidence=0.9)
    )


def test_questions_are_refused_before_a_row_is_read():
    X = np.random.default_rng(0).normal(size=(40, 1))
    nb = pellucid.GaussianNB().fit(X, (X[:, 0] > 0).astype(int))
    with pytest.raises(QuestionError, match="no calibration rows"):
        Application(nb, Asked(sets=0.9))
    with pytest.raises(QuestionError, match="--sets"):
        Application(nb, Asked(interval=0.9))
    with pytest.raises(QuestionError, match="does not predict"):
        Application(pellucid.StandardScaler().fit(X), Asked())


def test_whole_numbers_and_text_name_the_same_classes():
    y, unknown = as_labels(np.array(["0", "1"]), np.array([0, 1]))
    assert (y.tolist(), unknown) == ([0, 1], ())
    with pytest.raises(ValueError, match="'x' is none of the model's classes"):
        as_labels(np.array(["x"]), np.array([0, 1]))


def test_change_is_a_z_test():
    interval = pellucid.evaluation.Interval(0.8, 0.7, 0.9, 0.03, "wilson", 100)
    before = {"estimate": 0.9, "standard_error": 0.04}
    found = change_of(before, interval, True)
    assert found["worse"]
    assert found["p_value"] == pytest.approx(0.0455, abs=1e-4)  # z = 2
    assert not change_of(before, interval, False)["worse"]


def people(rng, m=40, k=6):
    """Rows of people: what is said of one row of a person is right or wrong of them all."""
    who = np.repeat(np.arange(m), k)
    x = rng.normal(size=m)[who]
    y = x + 0.8 * rng.normal(size=m)[who] > 0
    near = {"x": x + 0.05 * rng.normal(size=m * k), "z": rng.normal(size=m * k)}
    names = [f"P{j:02}" for j in who]
    return pl.DataFrame({"who": names, **near, "y": np.where(y, "ill", "well")})


def test_rows_of_people_are_judged_by_people():
    """New rows hang together as those of the study did: the intervals are the same as there."""
    table = people(np.random.default_rng(3))
    plan = Plan(groups="who", candidates=("lda",))
    record = pellucid.learn(table, "y", effort="quick", plan=plan)
    kept = table[record.split.test]
    found = judge(record.tested, kept)
    assert found.together == ("who", "groups", kept["who"].n_unique())
    for name in ("accuracy", "log_loss", "roc_auc"):
        one, own = found.table[name], record.final.table[name]
        assert (one.low, one.high) == pytest.approx((own.low, own.high))
    alone = judge(record.tested, kept.drop("who"))
    assert alone.together == ("who", "groups", 0)
    narrow, wide = (j.table["accuracy"] for j in (alone, found))
    assert wide.high - wide.low > 1.3 * (narrow.high - narrow.low)
    assert wide.standard_error > 1.3 * narrow.standard_error  # the change is measured by it
    by = judge(record.tested, kept.with_columns(half=pl.Series(range(kept.height)) % 2), by="half")
    assert all(one.interval.method == "jackknife" for one in by.groups)


def test_rows_in_time_are_judged_by_stretches():
    rng = np.random.default_rng(4)
    days = pl.Series(np.arange("2024-01-01", "2024-07-19", dtype="datetime64[D]"))
    x = rng.normal(size=len(days))
    drifting = np.cumsum(rng.normal(size=len(days)))
    table = pl.DataFrame({"day": days, "x": x, "y": 3 * x + drifting})
    plan = Plan(time="day", candidates=("ridge",))
    record = pellucid.learn(table, "y", effort="quick", plan=plan)
    kept = table[record.split.test]
    found = judge(record.tested, kept)
    assert (found.together.column, found.together.kind) == ("day", "time")
    assert 2 <= found.together.blocks < kept.height / 2
    mixed = judge(record.tested, kept[rng.permutation(kept.height)])
    for name in ("mae", "rmse"):
        assert mixed.table[name].high == pytest.approx(found.table[name].high)
    own = record.final.table["mae"]
    assert (found.table["mae"].low, found.table["mae"].high) == pytest.approx((own.low, own.high))


def test_ranking_keeps_its_lists():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    table = pl.DataFrame({
        "list": np.repeat(np.arange(30), 10), "x": x, "z": rng.normal(size=300),
        "grade": np.clip(np.round(x + 1), 0, 3),
    })  # fmt: skip
    plan = Plan(query="list")
    model = pellucid.learn(table, "grade", effort="quick", plan=plan).model
    found = judge(model, table)
    assert found.table["ndcg"].estimate > 0.9
    assert found.same_table


class TwoLabels:
    """Answers as several-label classifiers do: a pair of columns for each label."""

    classes_ = (np.array([0, 1]), np.array([0]))

    def predict_proba(self, Z):
        return [np.array([[0.3, 0.7]]), np.array([[1.0]])]


def test_probabilities_of_several_labels():
    """A label that training never had holds with probability 0."""
    np.testing.assert_allclose(probabilities(TwoLabels(), None), [[0.7, 0.0]])


def wandering(n, rng):
    """A series in days whose next value is near the last."""
    y = np.zeros(n)
    for t in range(1, n):
        y[t] = 0.95 * y[t - 1] + rng.normal()
    day = np.datetime64("2020-01-01") + np.arange(n)
    return pl.DataFrame({"day": day, "x": rng.normal(size=n), "y": y})


def told_ahead(record, later, path, **asked):
    """What the saved model says of the rows after its own, without their target."""
    pellucid.save(record.model, path)
    with pytest.warns(DataWarning) as told:
        said = Application(pellucid.load(path), Asked(**asked)).answer(later.drop("y"))
    assert "predicted without the y of the moment before" in str(told[0].message)
    return said


def test_intervals_of_a_series_widen_with_the_steps_ahead(tmp_path):
    """Each number of steps has the errors of the tested model that far ahead, on its test rows."""
    table = wandering(460, np.random.default_rng(0))
    record = pellucid.learn(table[:400], "y", effort="quick")
    known = record.tested.study_["calibration"]
    steps = known["ahead"]["steps"]
    assert steps[:2] == [2, 3]
    said = told_ahead(record, table[400:], tmp_path / "m.pellucid", interval=0.9)
    half = (said["high"] - said["low"]).to_numpy() / 2
    near = half[: steps[-1]]  # beyond the reach another model answers
    assert (np.diff(near) >= 0).all()
    assert near[1] > 1.2 * near[0]
    assert near[0] == pytest.approx(limits(known, 0.9)[0])
    first = known["ahead"]["scores"][0]
    assert near[1] == pytest.approx(np.sort(first)[int(np.ceil(0.9 * (len(first) + 1))) - 1])


def test_sets_of_a_series_widen_with_the_steps_ahead(tmp_path):
    table = wandering(500, np.random.default_rng(1))
    words = np.array(["low", "mid", "top"])[np.digitize(table["y"], [-1.5, 1.5])]
    table = table.with_columns(y=pl.Series(words))
    record = pellucid.learn(table[:440], "y", effort="quick")
    known = record.tested.study_["calibration"]
    steps = known["ahead"]["steps"]
    said = told_ahead(record, table[440:], tmp_path / "m.pellucid", sets=0.8, proba=True)
    names = record.model.classes_.tolist()
    P = said.select(f"probability_{c}" for c in names).to_numpy()
    q = np.maximum.accumulate([limits({"scores": s}, 0.8)[0] for s in known["ahead"]["scores"]])
    for h, limit in zip(steps, q, strict=True):
        inside = label_sets(P[h - 1 : h], max(limit, limits(known, 0.8)[0]))[0]
        assert said["set"][h - 1] == ";".join(np.array(names)[inside])


def test_a_study_with_costs_is_judged_without_them():
    """Costs are not kept in the file: the measure is then the accuracy."""
    x = np.random.default_rng(0).normal(size=120)
    table = pl.DataFrame({"x": x, "y": np.where(x > 0.3, "yes", "no")})
    plan = Plan(cost_matrix=[[0, 1], [10, 0]], candidates=("lda",))
    model = pellucid.learn(table, "y", effort="quick", plan=plan).model
    assert model.study_["metric"] == "mean_cost"
    found = judge(model, table, None)
    assert (found.task.metric, found.before, found.change) == ("accuracy", None, None)
    assert found.table["accuracy"].estimate > 0.8
