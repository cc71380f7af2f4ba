"""The decision tables of the course (STU-10)."""

import json

import pytest

from pellucid.study import advise


def choices(**options):
    options = {"kind": "binary", "n_rows": 500, "n_columns": 10} | options
    return {line.topic: line.choice for line in advise(**options)}


@pytest.mark.parametrize(
    ("knowledge", "word"),
    [("full", "Bayes"), ("form", "generative"), ("labels", "discriminative"),
     ("none", "unsupervised")],
)  # fmt: skip
def test_what_is_known_decides_first(knowledge, word):
    assert word in choices(knowledge=knowledge)["model"]


@pytest.mark.parametrize(
    ("need", "word"),
    [("interpret", "linear"), ("missing", "generative"), ("generate", "generative"),
     ("any_query", "generative"), ("sparse", "lasso"), ("grouped", "elastic net"),
     ("small_data", "naive Bayes"), ("robust", "logistic"), ("stream", "stochastic"),
     ("image", "convolutional"), ("sequence", "recurrent")],
)  # fmt: skip
def test_needs(need, word):
    assert word in choices(needs=[need])[need]


def test_sizes():
    assert choices()["svm_form"] == "primal"
    assert choices(n_rows=9, n_columns=10)["svm_form"] == "dual"
    assert choices(n_rows=11, n_columns=10)["svm_form"] == "primal"
    assert choices()["selection"] == "best subset"
    assert choices(n_columns=41)["selection"] == "backward"
    assert choices(n_columns=600)["selection"] == "forward"
    assert choices(n_columns=15)["neighbours"] == "kd-tree"
    assert choices(n_columns=16)["neighbours"] == "hashing"
    assert choices()["solver"] == "closed form"
    assert choices(n_columns=20_000)["solver"] == "gradient descent"
    assert choices(n_rows=5_000_000)["solver"] == "SGD"


def test_classes():
    many = choices(kind="multiclass", n_classes=10, n_rows=60_000)
    few = choices(kind="multiclass", n_classes=10, n_rows=600)
    assert many["multiclass"] == "one-vs-one"
    assert few["multiclass"] == "one-vs-all"
    assert "multiclass" not in choices()


def test_clusters_control_ensembles():
    assert "k-means" in choices(kind="clustering", needs=["proximity"])["similarity"]
    assert "spectral" in choices(kind="clustering", needs=["transitive"])["similarity"]
    assert "unsupervised" in choices(kind="clustering")["model"]
    assert "iteration" in choices(kind="control", needs=["known_model"])["control"]
    assert "TD" in choices(kind="control", needs=["fixed_policy"])["control"]
    assert "Q-learning" in choices(kind="control", needs=["control"])["control"]
    assert "approximation" in choices(kind="control", needs=["large_states"])["control"]
    for need, word in (("variance", "bagging"), ("bias", "boosting"), ("combine", "stacking")):
        assert choices(needs=[need])["ensemble"] == word


def test_every_line_has_a_reason_and_is_plain():
    for kind in ("binary", "regression", "clustering", "anomaly", "control", "multilabel"):
        lines = advise(kind=kind, n_rows=100, n_columns=5)
        assert lines
        assert all(line.reason for line in lines)
        json.dumps([line.to_dict() for line in lines])


@pytest.mark.parametrize(
    "wrong",
    [{"kind": "binry"}, {"knowledge": "some"}, {"needs": ["speed"]}, {"n_rows": 0},
     {"n_classes": 1}],
    ids=["kind", "knowledge", "needs", "rows", "classes"],
)  # fmt: skip
def test_refusals(wrong):
    with pytest.raises(ValueError, match=r"must be"):
        choices(**wrong)
