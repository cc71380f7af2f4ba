"""Which task a target asks for (STU-02)."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pellucid.study import detect_task
from pellucid.study.reading.tasks import rare_share

rng = np.random.default_rng(0)

CASES = [
    ("two texts", ["a", "b"] * 10, "binary", "accuracy"),
    ("three texts", ["a", "b", "c"] * 10, "multiclass", "accuracy"),
    ("truth", [True, False] * 10, "binary", "accuracy"),
    ("zero one", [0, 1] * 10, "binary", "accuracy"),
    ("two floats", [1.5, 2.5] * 10, "binary", "accuracy"),
    ("few whole", [1, 2, 3] * 10, "multiclass", "accuracy"),
    ("eleven whole", list(range(11)) * 3, "regression", "rmse"),
    ("few fractions", [0.5, 1.5, 2.5] * 10, "regression", "rmse"),
    ("numbers", rng.normal(size=50), "regression", "rmse"),
    ("lists", [["a"], ["a", "b"], ["b"]] * 5, "multilabel", "f1"),
    ("joined", ["a;b", "b", "a;c", "c"] * 5, "multilabel", "f1"),
    ("numbers as text", [str(v) for v in rng.normal(size=30)], "regression", "rmse"),
]


@pytest.mark.parametrize(("y", "kind", "metric"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_rules(y, kind, metric):
    task = detect_task(y)
    assert (task.kind, task.metric) == (kind, metric)
    assert metric in task.reason
    assert task.greater_is_better == (metric != "rmse")


def test_no_target_is_clustering_and_anomaly_on_request():
    assert detect_task().kind == "clustering"
    assert detect_task(kind="anomaly").kind == "anomaly"
    with pytest.raises(ValueError, match="needs a target"):
        detect_task(kind="regression")


def test_several_columns():
    two = pl.DataFrame({"a": [0, 1, 1], "b": ["x", "y", "x"]})
    assert detect_task(two).kind == "multilabel"
    assert detect_task(two).classes == ("a", "b")
    numbers = pl.DataFrame({"a": [0.5, 1.0, 3.0], "b": [1, 2, None]})
    task = detect_task(numbers)
    assert (task.kind, task.unlabelled, task.target) == ("multi_output_regression", 1, ("a", "b"))
    with pytest.raises(ValueError, match="neither"):
        detect_task(pl.DataFrame({"a": [0.5, 1.0, 3.0], "b": ["x", "y", "z"]}))


def test_query_makes_a_ranking():
    assert detect_task([1, 2, 0, 1], query=[1, 1, 2, 2]).kind == "ranking"
    assert detect_task([1, 2, 0, 1], query=[1, 1, 2, 2]).metric == "ndcg"
    with pytest.raises(ValueError, match="number"):
        detect_task(["a", "b"], query=[1, 1])


def test_rare_class_changes_the_measure():
    """A class beyond 80 %: average precision (two classes), log loss (more); else right answers."""
    assert detect_task(["a"] * 81 + ["b"] * 19).metric == "average_precision"
    assert detect_task(["a"] * 80 + ["b"] * 20).metric == "accuracy"
    assert detect_task(["a"] * 81 + ["b"] * 14 + ["c"] * 5).metric == "log_loss"
    some = detect_task(["a"] * 50 + ["b"] * 45 + ["c"] * 5)
    assert some.metric == "accuracy"
    assert "5.0% of the rows, and balanced_accuracy would count every class alike" in some.reason
    assert detect_task([str(i % 10) + "x" for i in range(100)]).metric == "accuracy"
    assert rare_share(2) == 0.2


def test_positive_is_the_rarer_or_the_later():
    assert detect_task(["a", "b", "b"]).positive == "a"
    assert detect_task(["a", "b"]).positive == "b"
    assert detect_task([0, 0, 1]).positive == 1
    assert detect_task(["a", "b", "c"]).positive is None


def test_costs_and_wishes():
    task = detect_task(["a", "b"] * 5, cost_matrix=[[0, 1], [5, 0]])
    assert (task.metric, task.greater_is_better) == ("mean_cost", False)
    assert detect_task(["a", "b"] * 5, metric="roc_auc").metric == "roc_auc"
    forced = detect_task([1, 2, 3] * 5, kind="regression")
    assert (forced.kind, forced.alternatives) == ("regression", ())
    assert detect_task([1, 2, 3] * 5).alternatives == ("regression",)
    with pytest.raises(ValueError, match="cannot be taken"):
        detect_task(["a", "b"], kind="regression")
    with pytest.raises(ValueError, match="did you mean"):
        detect_task(["a", "b"], kind="binry")
    with pytest.raises(ValueError, match="cost matrix"):
        detect_task(rng.normal(size=9), cost_matrix=[[0, 1], [1, 0]])


def test_missing_targets_are_counted_in_every_container():
    for y in (
        pl.Series("y", ["a", None, "b"]),
        pd.Series(["a", None, "b"], name="y"),
        np.array(["a", None, "b"], dtype=object),
        ["a", None, "b"],
    ):
        task = detect_task(y)
        assert (task.kind, task.unlabelled, task.classes) == ("binary", 1, ("a", "b"))
    assert detect_task(np.array([1.5, np.nan, 2.7, 3.1])).unlabelled == 1


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([], "no rows"),
        ([None, None], "no value"),
        (pl.Series(["2020-01-01", "2021-01-01"]), "dates"),
        (np.zeros((2, 2, 2)), "dimensions"),
    ],
    ids=["empty", "missing", "dates", "cube"],
)
def test_refusals(y, words):
    with pytest.raises(ValueError, match=words):
        detect_task(y)


def test_one_class_is_described_not_refused():
    assert detect_task(["a"] * 5).classes == ("a",)
    assert detect_task([1, 1, 1]).kind == "binary"


def test_record_is_plain():
    import json

    json.dumps(detect_task(np.array([0, 1, 1])).to_dict())
