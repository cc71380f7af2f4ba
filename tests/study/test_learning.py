"""The whole study: example 16, determinism, test rows untouched, ties, interrupts, saved models."""

import json
import time

import numpy as np
import polars as pl
import pytest
from scipy.special import bdtrc
from sklearn.base import clone

import pellucid
from pellucid import Plan, Study, learn
from pellucid.study import TaskError
from pellucid.study.judging.final_score import TestRows
from pellucid.study.verdict.final_model import LEFT_TO_DO


def noise_table(seed, n=120):
    rng = np.random.default_rng([seed, 5])
    numbers = {f"x{j}": rng.normal(size=n) for j in range(3)}
    codes = [f"c{i}" for i in rng.integers(60, size=n)]
    return pl.DataFrame({**numbers, "code": codes, "y": rng.choice(["a", "b"], n)})


def line_table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pl.DataFrame({"x": x, "z": rng.normal(size=n), "y": 3 * x + 1 + rng.normal(size=n)})


def class_table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    c = rng.integers(2, size=n)
    x = rng.normal(size=n) + 2 * c
    color = np.where(rng.random(n) < 0.8, np.array(["red", "blue"])[c], "grey")
    return pl.DataFrame({"x": x, "color": color, "y": np.array(["no", "yes"])[c]})


@pytest.fixture(scope="module")
def classes():
    study = Study(class_table(), "y", effort="quick")
    return study, study.run()


@pytest.fixture(scope="module")
def line():
    study = Study(line_table(), "y", plan=Plan(candidates=("ridge", "lasso", "ridge_splines")))
    return study, study.run()


@pytest.mark.parametrize("seed", [0, 1])
def test_random_labels_have_no_signal(seed):
    """Example 16: the leak canary."""
    record = learn(noise_table(seed), "y", effort="quick")
    assert record.verdict.kind in ("not_shown", "excluded")
    assert record.verdict.text[0].startswith(("Not shown. ", "No. "))
    assert record.final.gain.low <= 0
    said = "PEL405" in [one.code for one in record.findings]
    assert said == (record.verdict.kind == "excluded")


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
@pytest.mark.parametrize("regression", [False, True])
def test_random_labels_have_no_signal_at_the_stated_rate(regression, block, tally):
    """Example 16 over 100 seeds: false alarms stay within what alpha = 0.05 allows."""
    alarms = 0
    for seed in range(5 * block, 5 * block + 5):
        table = noise_table(seed)
        if regression:
            rng = np.random.default_rng(seed)
            table = table.with_columns(y=pl.Series(rng.normal(size=table.height)))
        record = learn(table, "y", random_state=seed)
        alarms += record.verdict.kind in ("shown", "suspect")
    total = tally.add(f"example 16, {regression}", block, [alarms], 20)
    assert total is None or bdtrc(total[0] - 1, 100, 0.05) > 0.01  # P(at least so many alarms)


def test_a_line_needs_no_more_than_a_line(line):
    """Example 16: y = 3x + 1 + noise."""
    record = line[1]
    assert record.verdict.kind == "shown"
    assert record.verdict.chosen in ("ridge regression", "lasso")
    assert "nonlinear" not in record.final.residual_health["problems"]
    assert record.insight.importance[0]["name"] == "x"
    assert "predicts y within" in record.verdict.text[0]
    estimates = {row["name"]: row for row in record.insight.coefficients["rows"]}
    x = line_table()["x"].to_numpy()[line[0].split().train]
    assert estimates["x"]["low"] < 3 * x.std() < estimates["x"]["high"]


def test_rings_need_more_than_a_line():
    """Example 16: make_rings."""
    X, y = pellucid.data.make_rings(200, random_state=0)
    table = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "ring": y})
    record = learn(table, "ring", plan=Plan(candidates=("logistic", "lda", "bayes", "qda")))
    assert record.verdict.kind == "shown"
    assert "the bends matter" in str(record.verdict)
    by_name = {row.key: row for row in record.leaderboard}
    assert by_name["lda"].p_value < 0.05


def test_the_record_is_whole_and_json(classes):
    _, record = classes
    text = json.dumps(record.to_dict())
    assert json.loads(text)["schema"] == "pellucid-report/1"
    assert record.partial == ""
    assert record.final.n == len(record.split.test) == len(record.final.predictions)
    assert record.final.confusion["labels"] == ["no", "yes"]
    assert np.sum(record.final.confusion["counts"]) == record.final.n
    assert {row.key for row in record.leaderboard} >= {"guess", "lda"}
    assert sum(row.chosen for row in record.leaderboard) == 1
    assert len(record.verdict.text) <= 5
    assert record.insight.learning_curve["sizes"] == sorted(record.insight.learning_curve["sizes"])
    assert record.card["representation"]
    assert record.verdict.interval == record.final.table["accuracy"]


def test_worst_rows_and_what_to_try_are_those_of_this_study():
    """A date is told as a date, and nothing is advised that every study has done already."""
    rng = np.random.default_rng(0)
    n, p = 90, 25
    X = rng.normal(size=(n, p))
    day = [f"{d % 28 + 1:02}/{d % 12 + 1:02}/2023" for d in rng.permutation(n)]
    table = {f"x{j}": X[:, j] for j in range(p)} | {"day": day}
    plan = Plan(candidates=("ridge", "forest"), prefer="strong")
    record = learn(table | {"y": X[:, 0] + 0.5 * rng.normal(size=n)}, "y", plan=plan)
    assert all(len(row["cells"]["day"]) == 10 for row in record.final.worst)
    tried = {"regularise more", "penalise less", "use an ensemble", "use a richer model class"}
    assert record.diagnosis.kind == "overfit"
    assert record.diagnosis.remedies == ("use fewer columns", "collect more rows")
    assert not tried & {r for some in LEFT_TO_DO.values() for r in some}


def test_same_data_same_record(classes):
    began = time.monotonic()
    again = learn(class_table(), "y", effort="quick")
    passed = time.monotonic() - began
    assert 0 < again.reproduction["seconds"] <= passed + 0.01
    spent = [row.seconds for row in again.leaderboard if row.seconds is not None]
    assert spent
    assert all(0 <= seconds <= passed for seconds in spent)
    assert _without_seconds(again.to_dict()) == _without_seconds(classes[1].to_dict())


def _without_seconds(value):
    if isinstance(value, dict):
        return {k: _without_seconds(v) for k, v in value.items() if k != "seconds"}
    return [_without_seconds(v) for v in value] if isinstance(value, list) else value


def test_test_rows_have_no_part_before_the_end(classes):
    """With other targets on the test rows, leaderboard and model stay the same to the bit."""
    study, record = classes
    test = record.split.test
    table = class_table()
    y = table["y"].to_numpy().astype(object)
    y[test] = y[test][::-1]
    other = Study(table.with_columns(y=pl.Series(y.tolist())), "y", effort="quick")
    other._done["split"] = record.split  # the same rows, whatever their targets
    changed = other.run()
    for a, b in zip(record.leaderboard, changed.leaderboard, strict=True):
        assert a.folds == b.folds
    X = table.select(list(study._workshop.kinds))
    assert (record.tested.predict(X) == changed.tested.predict(X)).all()


def test_the_test_rows_are_used_once(monkeypatch):
    uses = []
    plain = TestRows.score
    monkeypatch.setattr(TestRows, "score", lambda self, model: uses.append(1) or plain(self, model))
    study = Study(class_table(), "y", effort="quick", plan=Plan(candidates=("lda",)))
    first = study.evaluate()
    study.run()
    assert study.evaluate().table is first.table
    assert len(uses) == 1


def test_ties_are_said_as_ties(line):
    record = line[1]
    level = [f for f in record.findings if f.code == "PEL501"]
    assert len(level[0].where) > 1
    assert any("cannot be told apart" in s or "within chance" in s for s in record.verdict.text)


def test_the_task_is_frozen(classes):
    study, _ = classes
    with pytest.raises(AttributeError):
        study.metric = "roc_auc"
    with pytest.raises(AttributeError):
        study.task = None


def test_the_saved_model_has_learned_from_all_rows(classes, tmp_path):
    """As if fitted on them by hand; score and calibration are those of the tested model."""
    study, record = classes
    split = record.split
    record.save(tmp_path / "model.pellucid")
    model = pellucid.load(tmp_path / "model.pellucid")
    X, y = study.take(np.concatenate([split.train, split.test]))
    by_hand = clone(record.tested).fit(X, y)
    np.testing.assert_array_equal(by_hand.predict_proba(X), model.predict_proba(X))
    assert (model.predict_proba(X) != record.tested.predict_proba(X)).any()
    assert record.learned == (len(split.train), len(X))
    about, tested = model.study_, record.tested.study_
    assert (about["learned"], tested["learned"]) == (len(X), len(split.train))
    assert about["score"] == tested["score"]
    np.testing.assert_array_equal(about["calibration"]["scores"], tested["calibration"]["scores"])
    P = record.tested.predict_proba(X.tail(len(split.test)))
    place = np.searchsorted(model.classes_, y[len(split.train) :])
    honest = np.sort(1 - P[np.arange(len(P)), place])
    np.testing.assert_allclose(about["calibration"]["scores"], honest)


@pytest.mark.parametrize("plan", [Plan(groups="who"), Plan(time="day"), Plan()])
def test_every_kind_of_study_refits(plan):
    """Groups, time, and where guessing is the model."""
    rng = np.random.default_rng(1)
    n = 120
    x = rng.normal(size=n)
    table = {
        "x": x,
        "who": [f"p{i % 20}" for i in range(n)],
        "day": np.datetime64("2020-01-01") + np.arange(n),
        "y": rng.permutation(x) if plan == Plan() else 3 * x + rng.normal(size=n),
    }
    one = plan._replace(candidates=("ridge",), groups=plan.groups or "none")
    study = Study(table, "y", effort="quick", plan=one)
    record = study.run()
    assert (record.verdict.chosen == "guessing") == (plan == Plan())
    X, y = study.take(np.concatenate([record.split.train, record.split.test]))
    by_hand = clone(record.tested).fit(X, y)
    np.testing.assert_array_equal(by_hand.predict(X), record.model.predict(X))
    assert record.learned == (len(record.split.train), n)
    if plan == Plan():
        assert record.model.predict(X[:1])[0] == pytest.approx(y.mean())


def test_without_time_for_the_refit_the_tested_model_is_kept(monkeypatch):
    seen = []

    def late(self, needed=0.0):
        seen.append(needed)
        return needed > 0

    monkeypatch.setattr("pellucid.study.verdict.final_model.Ground.late", late)
    record = learn(
        class_table(), "y", effort="quick", plan=Plan(candidates=("lda",), time_limit=999)
    )
    assert record.model is record.tested
    assert not record.learned.refitted
    assert max(seen) > 0
    assert "the refit on all rows" in record.partial
    assert "it was not refitted on all rows" in pellucid.report.render(record)


def test_the_scored_model_is_kept_beside(classes, tmp_path):
    study, record = classes
    pellucid.save(record.tested, tmp_path / "tested.pellucid")
    model = pellucid.load(tmp_path / "tested.pellucid")
    rows = study.frame[record.split.test].select(list(model.feature_names_in_))
    said = [one["prediction"] for one in record.final.predictions]
    assert model.predict(rows).tolist() == said
    assert model.study_["target"] == ["y"]
    new = pl.DataFrame({"x": [0.5, None], "color": ["violet", None]})
    assert len(model.predict(new)) == 2
    assert model[0].drift(new).unseen == (0, 1)


def test_leaking_columns_are_left_out_and_shown_beside():
    table = class_table(200)
    leaky = table.with_columns(
        id=pl.Series([f"P{i}" for i in range(200)]), copy=(pl.col("y") == "yes").cast(pl.Float64)
    )
    record = learn(leaky, "y", effort="quick", plan=Plan(candidates=("lda",)))
    assert {name for name, _ in record.features.left_out} == {"id", "copy"}
    assert record.final.with_left_out["with"]["estimate"] > 0.99
    assert record.final.with_left_out["without"]["estimate"] < 0.99
    assert any("copy was left out" in sentence for sentence in record.verdict.text)


def test_interrupt_keeps_a_partial_record():
    def progress(stage, done, total, text):
        if stage == "train" and "linear discriminant" in text:
            raise KeyboardInterrupt

    study = Study(class_table(), "y", plan=Plan(candidates=("lda", "bayes")), progress=progress)
    with pytest.raises(KeyboardInterrupt):
        study.run()
    record = study.record()
    assert record.partial.startswith("interrupted while training linear discriminant analysis")
    assert record.verdict is None
    assert [row.key for row in record.leaderboard] == ["guess"]
    json.dumps(record.to_dict())
    with pytest.raises(ValueError, match="no model to save"):
        record.save("nowhere.pellucid")


def test_the_time_limit_is_said():
    plan = Plan(candidates=("ridge", "lasso", "ridge_splines"), time_limit=0.0)
    record = learn(line_table(), "y", plan=plan)
    assert len(record.leaderboard) == 2
    assert "left no time for lasso" in record.partial
    assert any("not whole" in sentence for sentence in record.verdict.text)


def test_costs_move_the_decision():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = np.where(x + rng.normal(size=300) > 0.8, "sick", "well")
    plan = Plan(cost_matrix=[[0, 20], [1, 0]], candidates=("lda",))
    study = Study(pl.DataFrame({"x": x, "y": y}), "y", plan=plan)
    record = study.run()
    assert record.task.metric == "mean_cost"
    assert "PEL503" in [one.code for one in record.findings]
    assert record.final.threshold["chosen"] == pytest.approx(1 / 21)
    table = record.final.by_class
    assert next(row["recall"] for row in table if row["label"] == "sick") > 0.85


def test_rare_class():
    rng = np.random.default_rng(1)
    x = rng.normal(size=1200)
    y = np.where(rng.random(1200) < 1 / (1 + np.exp(5 - 2.2 * x)), "yes", "no")
    record = learn(pl.DataFrame({"x": x, "y": y}), "y", plan=Plan(candidates=("lda",)))
    assert record.task.metric == "average_precision"
    assert record.verdict.kind == "shown"
    assert record.final.threshold["chosen"] == 0.5  # the likelier class, as nobody asked otherwise
    plan = Plan(candidates=("lda",))
    record = learn(pl.DataFrame({"x": x, "y": y}), "y", plan=plan, metric="average_precision")
    assert record.final.threshold["chosen"] != 0.5
    assert isinstance(record.model[-1], pellucid.LossMatrixClassifier)


@pytest.mark.parametrize(
    ("table", "target", "words"),
    [
        ({"x": [1.0] * 20, "y": ["a"] * 20}, "y", "one class only, 'a'"),
        ({"x": [1.0] * 20, "y": [7] * 20}, "y", "one value only, 7;"),
        ({"x": [1.0] * 20, "y": range(20)}, "y", r"'x', never varies \(PEL102\)$"),
        ({"x": range(40), "y": range(40)}, None, "pellucid cluster"),
        ({"x": range(5), "y": ["a", "b", "a", "b", "a"]}, "y", "at least"),
    ],
)
def test_impossible_tasks(table, target, words):
    with pytest.raises(ValueError, match=words):
        learn(table, target)


def test_wrong_column_names():
    with pytest.raises(ValueError, match="did you mean 'color'"):
        learn(class_table(), "colour")
    with pytest.raises(ValueError, match="no column 'when'"):
        learn(class_table(), "y", plan=Plan(time="when"))
    assert issubclass(TaskError, ValueError)


def test_multilabel():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    Z = X + 0.3 * rng.normal(size=X.shape)
    tags = [";".join(t for t, v in zip("ab", row, strict=True) if v > -0.5) or "c" for row in Z]
    table = pl.DataFrame({"u": X[:, 0], "v": X[:, 1], "tags": tags})
    record = learn(table, "tags", effort="quick")
    assert record.task.kind == "multilabel"
    assert record.verdict.kind == "shown"
    assert record.final.table["f1"].estimate > 0.8


def test_groups_and_time_and_ranking():
    rng = np.random.default_rng(3)
    n = 200
    x = rng.normal(size=n)
    table = pl.DataFrame(
        {"g": np.repeat(np.arange(20), 10), "x": x, "y": 3 * x + rng.normal(size=n)}
    )
    plan = Plan(groups="g", candidates=("ridge",))
    record = learn(table, "y", plan=plan)
    assert (record.split.kind, record.verdict.kind) == ("groups", "shown")
    assert "g" not in record.model.feature_names_in_
    days = table.with_columns(g=pl.Series(np.arange(n)).cast(pl.Date))
    record = learn(days, "y", plan=Plan(time="g", candidates=("ridge",)))
    assert record.split.kind == "sequential"
    relevance = table.with_columns(y=pl.Series(np.clip(np.round(x + 2), 0, 4)))
    record = learn(relevance, "y", plan=Plan(query="g", candidates=("ridge",)))
    assert (record.task.metric, record.verdict.kind) == ("ndcg", "shown")


def test_groups_of_one_class_each():
    """A fold may judge rows of one class only."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(12), 10)
    x = rng.normal(size=120) + 2 * (group % 2)
    table = pl.DataFrame({"x": x, "who": group, "y": np.array(["no", "yes"])[group % 2]})
    plan = Plan(groups="who", candidates=("logistic", "lda"))
    record = learn(table, "y", plan=plan, metric="accuracy")
    assert len(record.leaderboard) == 3
    assert record.reproduction["not_scored"] == []
    # f1 of a fold without the positive class is undefined: the study ends all the same
    assert learn(table, "y", plan=plan, metric="f1").final is not None


def test_record_predicts_tables_with_columns_that_were_left_out(tmp_path):
    table = line_table().with_columns(same=pl.lit(1.0))
    record = learn(table, "y", effort="quick")
    assert "same" in str(record.features.to_dict()) or "same" in str(record.audit.to_dict())
    table.write_csv(tmp_path / "rows.csv")
    said = record.predict(table)
    assert np.array_equal(record.predict(tmp_path / "rows.csv"), said)
    assert np.array_equal(record.model.predict(table.select("x", "z")), said)
    with pytest.raises(ValueError, match="needs the column 'x', which the table lacks"):
        record.predict({"z": [1.0]})


def test_a_record_in_a_notebook_is_short_and_has_a_page(classes, tmp_path):
    _, record = classes
    text = record.verdict.text
    wordy = record._replace(verdict=record.verdict._replace(text=(text[0], *["So it is."] * 90)))
    for one in (record, wordy):  # however much there is to say
        assert len(repr(one)) < 500
        assert repr(one).startswith("<study of ")
        assert text[0] in repr(one)
        assert str(one) == str(one.verdict)
    assert repr(wordy).endswith("So it is. ...>")
    assert record._repr_html_().startswith("<iframe")
    path = record.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert path.endswith("page.html")
    assert "<h2>Verdict" in page or 'id="verdict"' in page
