"""Checks, random streams, frames, records, threads."""

import datetime
import json
import math
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_info

from pellucid.core.arrays import check
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.records import Card, Summary, plain, show
from pellucid.core.runtime.random import generator, stream
from pellucid.core.runtime.threads import limit_threads, map_threads, thread_count


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: check.positive(alpha=-1), "alpha must be > 0, got -1"),
        (lambda: check.positive(alpha="x"), "alpha must be a number, got 'x'"),
        (lambda: check.positive(alpha=math.nan), "alpha must be a number, got nan"),
        (lambda: check.positive(alpha=True), "alpha must be a number, got True"),
        (lambda: check.non_negative(tol=-0.5), "tol must be >= 0, got -0.5"),
        (lambda: check.whole(k=0), "k must be a whole number >= 1, got 0"),
        (lambda: check.whole(k=True), "k must be a whole number >= 1, got True"),
        (lambda: check.whole(at_least=2, k=1.0), "k must be a whole number >= 2, got 1.0"),
        (lambda: check.fraction(q=1), r"q must be between 0 and 1 \(both excluded\), got 1"),
        (lambda: check.boolean(flag=1), "flag must be True or False, got 1"),
        (lambda: check.one_of(("a", "b"), word="c"), "word must be one of 'a', 'b', got 'c'"),
        (lambda: check.one_of(("ward",), link="wart"), "did you mean 'ward'"),
        (lambda: generator(-1), "random_state must be None, a whole number >= 0"),
        (lambda: generator("x"), "random_state must be None"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_numpy_numbers_are_numbers():
    check.positive(a=np.float32(1), b=np.int64(2))
    check.whole(k=np.int32(3))
    check.boolean(f=np.bool_(True))


def test_generators():
    assert generator(3).random() == generator(np.int64(3)).random()
    same = np.random.default_rng(1)
    assert generator(same) is same
    a, b = (generator(np.random.RandomState(0)).random() for _ in range(2))
    assert a == b
    assert stream(1, 2).random() != stream(1, 3).random()


FRAME = {"a": [1, 2], "b": [0.5, None], "c": [True, False]}


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame])
def test_frames_become_matrices(make):
    frame = make(FRAME)
    assert is_frame(frame)
    X = frame_matrix(frame)
    assert_array_equal(X, [[1, 0.5, 1], [2, np.nan, 0]])
    assert X.flags.c_contiguous


def test_columns_may_have_numbers_for_names():
    """Columns of several types are read one by one, by their place: 0 is no row."""
    frame = pd.DataFrame({0: [1.0, 2.0], 1: pd.Categorical([3.0, 4.0])})
    assert_array_equal(frame_matrix(frame), [[1, 3], [2, 4]])


def test_dates_and_text_are_refused():
    with pytest.raises(ValueError, match="column 'when' has type Date"):
        frame_matrix(pl.DataFrame({"when": [datetime.date(2020, 1, 1)]}))
    with pytest.raises(ValueError, match="column 'name' holds text such as 'x'"):
        frame_matrix(pd.DataFrame({"name": ["x", None]}, dtype=object))
    assert_array_equal(frame_matrix(pd.DataFrame({"n": [1, 2.5]}, dtype=object)), [[1], [2.5]])
    assert not is_frame(np.ones((2, 2)))


def test_plain_is_json():
    value = {"a": np.array([1.0, np.nan]), "b": (np.int64(1), math.inf), 3: None}
    assert json.loads(json.dumps(plain(value))) == {"a": [1.0, None], "b": [1, None], "3": None}
    assert show(np.float64(1) / 3) == "0.333333"


def test_records_escape_html():
    card = Card("<x>", "e", "o", {"n": 1}, ("s",), ("<w>",))
    assert "<x>" not in card._repr_html_()
    assert "Scale" in str(card)
    assert card.to_dict()["warnings"] == ["<w>"]
    summary = Summary(
        title="<t>",
        names=("<n>",),
        arrays={"estimate": np.array([1.0])},
        scalars={"r2": 0.5},
        valid=False,
        reason="<r>",
    )
    assert all(tag not in summary._repr_html_() for tag in ("<t>", "<n>", "<r>"))
    assert "Not valid for inference: <r>" in str(summary)
    assert summary.r2 == 0.5
    with pytest.raises(AttributeError, match="no 'nope'"):
        summary.nope  # noqa: B018


def test_map_keeps_order_limits_blas_and_may_nest():
    def work(i):
        inner = list(map_threads(lambda j: i * 10 + j, range(3)))
        blas = {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}
        return inner, blas, threading.current_thread().name

    with limit_threads(2):
        results = list(map_threads(work, range(6)))
    assert [inner for inner, _, _ in results] == [[i * 10 + j for j in range(3)] for i in range(6)]
    assert all(blas == {1} for _, blas, _ in results)
    assert all(name.startswith(("pellucid", "MainThread")) for _, _, name in results)


def test_errors_in_threads_reach_the_caller():
    with pytest.raises(ZeroDivisionError), limit_threads(2):
        list(map_threads(lambda i: 1 // i, [1, 0, 2]))


def test_thread_count(monkeypatch):
    monkeypatch.setenv("PELLUCID_NUM_THREADS", "3")
    assert thread_count() == 3
    with limit_threads(1):
        assert thread_count() == 1
    monkeypatch.delenv("PELLUCID_NUM_THREADS")
    monkeypatch.setenv("OMP_NUM_THREADS", "1,4")
    assert thread_count() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    assert thread_count() >= 1
    monkeypatch.setenv("PELLUCID_NUM_THREADS", "lots")
    with pytest.raises(ValueError, match=r"PELLUCID_NUM_THREADS must be .*got 'lots'"):
        thread_count()
    with pytest.raises(ValueError, match="threads must be >= 1"), limit_threads(0):
        pass
