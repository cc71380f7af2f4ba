"""Ordered classes: found, asked for, overruled, judged in steps."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

import pellucid
from pellucid.study import Plan, Study, detect_task
from pellucid.study.candidates.ordered import OrderedClassifier, places
from pellucid.study.reading.orders import SCALES, known_order

ORDER = ("low", "medium", "high")


def grades(n=300, seed=0):
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    at = np.digitize(1.5 * x + rng.logistic(size=n), [-1.0, 1.0])
    return {"x": x, "z": z, "grade": np.array(ORDER)[at]}


# --- the order ---------------------------------------------------------------------------------


def test_known_words_have_their_order():
    task = detect_task(grades()["grade"])
    assert (task.kind, task.nature, task.order) == ("multiclass", "ordered", ORDER)
    assert "low < medium < high" in task.reason
    assert "--task multiclass" in task.reason
    assert task.classes == ("high", "low", "medium")  # sorted, as everywhere


def test_the_order_can_be_overruled():
    task = detect_task(grades()["grade"], kind="multiclass")
    assert (task.nature, task.order) == ("", ())
    study = Study(grades(), "grade", task="multiclass", effort="quick")
    assert "ordinal" not in {c.key for c in study.candidates()}


@pytest.mark.parametrize(
    ("labels", "order"),
    [
        (["Very_Low", "HIGH", "low"], ("Very_Low", "low", "HIGH")),
        (["Fair", "Good", "Ideal", "Premium", "Very Good"],
         ("Fair", "Good", "Very Good", "Premium", "Ideal")),
        (["L", "M", "S"], ("S", "M", "L")),
        (["red", "green", "blue"], ()),
        (["low", "high"], ()),
        (["low", "high", "unknown"], ()),
        (["low", "Low", "high"], ()),
    ],
)  # fmt: skip
def test_scales_of_words(labels, order):
    assert known_order(labels) == order


def test_no_scale_repeats_a_word():
    for scale in SCALES:
        words = scale.split(" / ")
        assert len(set(words)) == len(words) >= 3


def test_marks_are_ordered_when_asked():
    marks = np.random.default_rng(0).integers(1, 6, 200)
    assert detect_task(marks).nature == ""
    task = detect_task(marks, kind="ordinal")
    assert (task.kind, task.nature, task.order) == ("multiclass", "ordered", (1, 2, 3, 4, 5))
    with pytest.raises(ValueError, match="order of blue, green, red is not known"):
        detect_task(["red", "green", "blue"] * 10, kind="ordinal")


def test_a_frame_may_give_the_order():
    cells = ["c", "a", "b"] * 20
    kind = pd.CategoricalDtype(["b", "c", "a"], ordered=True)
    tables = [
        pl.DataFrame({"x": range(60), "y": pl.Series(cells, dtype=pl.Enum(["b", "c", "a"]))}),
        pd.DataFrame({"x": range(60), "y": pd.Categorical(cells, dtype=kind)}),
    ]
    for table in tables:
        assert Study(table, "y").task.order == ("b", "c", "a")
    loose = pd.DataFrame({"x": range(60), "y": pd.Categorical(cells)})
    assert Study(loose, "y").task.order == ()


# --- the model ---------------------------------------------------------------------------------


def test_an_ordered_classifier_is_that_of_the_places():
    """An oracle: the same model on numbers, its columns put back."""
    t = grades()
    X = np.column_stack([t["x"], t["z"]])
    at = places(t["grade"], ORDER)
    inner = pellucid.OrdinalLogisticRegression(C=1.0)
    model = OrderedClassifier(inner, ORDER).fit(X, t["grade"])
    plain = pellucid.OrdinalLogisticRegression(C=1.0).fit(X, at)
    P = plain.predict_proba(X)
    assert model.classes_.tolist() == ["high", "low", "medium"]
    assert_allclose(model.predict_proba(X), P[:, [2, 0, 1]])
    assert (model.predict(X) == np.array(ORDER)[P.argmax(axis=1)]).all()
    assert model.card().numbers["order"] == "low < medium < high"
    few = OrderedClassifier(inner, ORDER).fit(X[at < 2], t["grade"][at < 2])
    assert few.predict_proba(X).shape == (300, 2)


@pytest.fixture(scope="module")
def record():
    return pellucid.learn(grades(), "grade", plan=Plan(candidates=("ordinal", "logistic")))


def test_steps_stand_beside_accuracy(record, tmp_path):
    rows = record.final.predictions
    y, said = ([row[k] for row in rows] for k in ("actual", "prediction"))
    steps = np.abs(places(y, ORDER) - places(said, ORDER)).mean()
    assert_allclose(record.final.table["mean_steps"].estimate, steps)
    assert record.verdict.kind == "shown"
    assert record.verdict.metric == "accuracy"
    told = [s for s in record.verdict.text if s.startswith("Its label is")]
    assert told
    assert f"{steps:.3g} steps off on average" in told[0]
    assert f"{record.final.baseline['mean_steps'].estimate:.3g} steps off." in told[0]
    json.dumps(record.to_dict())


def test_the_ordinal_model_is_tried_and_saved(tmp_path):
    found = pellucid.learn(grades(), "grade", plan=Plan(candidates=("ordinal",)))
    assert found.verdict.chosen == "ordinal logistic regression"
    found.save(tmp_path / "m.pellucid")
    again = pellucid.load(tmp_path / "m.pellucid")
    new = pl.DataFrame({"x": [-3.0, 0.0, 3.0], "z": [0.0, 0.0, 0.0]})
    assert again.predict(new).tolist() == list(ORDER)
    assert_allclose(again.predict_proba(new), found.predict_proba(new))
