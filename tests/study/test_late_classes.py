"""A class that comes late, or in a few stretches only: what can be learned is, the rest is said."""

import numpy as np
import polars as pl
import pytest

from pellucid import Plan, learn
from pellucid.study.errors import TaskError


def table_of(labels, seed=0):
    n, rng = len(labels), np.random.default_rng(seed)
    x = rng.normal(size=n) + 2 * (labels == labels[-1])
    return pl.DataFrame({"day": np.arange(n), "x": x, "z": rng.normal(size=n), "y": labels})


def study(labels, **asked):
    return learn(table_of(labels), "y", effort="quick", plan=Plan(time="day"), **asked)


def test_every_candidate_is_scored_where_inner_stretches_have_one_class():
    labels = np.repeat(["a", "b"], [100, 100])
    labels[140:] = np.where(np.arange(60) % 4 == 0, "c", "b")
    record = study(labels)
    assert record.reproduction["not_scored"] == []
    assert {"boosting", "logistic"} <= {row.key for row in record.leaderboard}


def test_a_measure_that_most_stretches_cannot_have_is_refused_with_one_that_they_can():
    labels = np.full(200, "a")
    labels[5:12] = labels[190:199] = "b"
    with pytest.raises(TaskError, match=r"average_precision of 'y' needs both classes.*log_loss"):
        study(labels)
    record = study(labels, metric="log_loss")
    assert record.verdict.kind != "shown" or record.final.gain.low > 0
    # no row held out was of the class: nothing says that it is impossible
    assert record.final.table["log_loss"].estimate < 2
