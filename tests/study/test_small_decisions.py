"""Guards, limits and ties of the small functions of a study, each at its edge."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from pellucid.study import advise, detect_task
from pellucid.study.candidates.halving import _known
from pellucid.study.candidates.training import Part
from pellucid.study.checks.fit import ECE, _calibration, _outside
from pellucid.study.checks.leaks import exact_sum
from pellucid.study.checks.target import _class_findings, read_targets
from pellucid.study.errors import TaskError
from pellucid.study.learning import Study
from pellucid.study.reading.cell_values import _numbered_days
from pellucid.study.reading.number_summary import ordered
from pellucid.study.reading.profiles import read_columns
from pellucid.study.tables.group_count import Measures, elect
from pellucid.study.verdict.insights import _grid

rng = np.random.default_rng(0)


def test_advice_refuses_a_kind_it_does_not_know():
    for asked in ({"kind": "regresion"}, {"kind": "binary", "knowledge": "some"}):
        with pytest.raises(ValueError, match="must be one of"):
            advise(n_rows=100, n_columns=5, **asked)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "topic", "choice"),
    [
        (500, 40, "selection", "best subset"),
        (500, 41, "selection", "backward"),
        (41, 41, "selection", "forward"),
        (500, 15, "neighbours", "kd-tree"),
        (500, 16, "neighbours", "hashing"),
        (500, 5_000, "solver", "closed form"),
        (500, 5_001, "solver", "gradient descent"),
        (100_000, 5_001, "solver", "SGD"),
        (999_999, 5, "solver", "closed form"),
        (1_000_000, 5, "solver", "SGD"),
        (6, 5, "svm_form", "primal"),
        (5, 5, "svm_form", "dual"),
        (9_999, 5, "multiclass", "one-vs-all"),
        (10_000, 5, "multiclass", "one-vs-one"),
    ],
)
def test_advice_turns_at_its_limit(n_rows, n_columns, topic, choice):
    kind = "regression" if topic in ("selection", "solver") else "multiclass"
    said = advise(kind=kind, n_rows=n_rows, n_columns=n_columns, n_classes=3)
    assert {line.topic: line.choice for line in said}[topic] == choice


@pytest.mark.parametrize("known", [9, 10])
def test_a_study_needs_ten_rows_with_a_target(known):
    y = ["ab"[i % 2] if i < known else None for i in range(14)]
    study = Study(pl.DataFrame({"x": rng.normal(size=14), "y": y}), "y", effort="quick")
    if known == 10:
        assert len(study.split().folds) >= 2
        return
    with pytest.raises(TaskError, match="9 rows have a target; at least 10"):
        study.split()


@pytest.mark.parametrize("rows", [12, 11])
def test_a_sum_needs_ten_rows_more_than_columns(rows):
    a, b = rng.normal(size=(2, 12))
    y = a + b
    a[rows:] = np.nan
    columns = read_columns(pl.DataFrame({"a": a, "b": b}))
    (target,) = read_targets(
        read_columns(pl.DataFrame({"y": y}))["y"], detect_task(pl.Series("y", y)), None
    )
    assert (exact_sum(list(columns.values()), target) is not None) == (rows == 12)


def test_the_rare_class_is_told_with_its_own_share():
    y = pl.Series("y", ["a"] * 95 + ["b"] * 5)
    (target,) = read_targets(read_columns(y.to_frame())["y"], detect_task(y), None)
    found = {one.code: one.evidence for one in _class_findings(target)}["PEL202"]
    assert (found["minority"], found["share"]) == ("b", 0.05)


@pytest.mark.parametrize(
    ("cells", "values"), [([], []), ([None, np.inf], []), ([3.0, None], [3.0]), ([1, 1], [1])]
)
def test_the_values_of_a_curve(cells, values):
    column = pl.Series("x", cells, dtype=pl.Int64 if 1 in cells else pl.Float64)
    assert _grid(column, "number") == values


@pytest.mark.parametrize(
    ("cells", "infinite", "kinds"),
    [([1, 2], 0, 0), ([1, np.inf], 1, 1), ([-np.inf, 1], 1, 1), ([-np.inf, 1, np.inf], 2, 2)],
)
def test_infinities_are_counted_by_their_side(cells, infinite, kinds):
    found = ordered(np.array(cells, dtype=float))
    assert (found.infinite, found[3]) == (infinite, kinds)


@pytest.mark.parametrize(
    ("ece", "band", "told"),
    [(2 * ECE, ECE, 1), (2 * ECE, 3 * ECE, 0), (0.5 * ECE, 0.1 * ECE, 0), (ECE, 0.1 * ECE, 0)],
)
def test_probabilities_are_off_beyond_the_limit_and_beyond_chance(ece, band, told):
    final = SimpleNamespace(reliability={"ece": ece, "band": band})
    row = SimpleNamespace(name="m", chosen=True)
    facts = SimpleNamespace(evaluation=SimpleNamespace(final=final), rows=[row])
    assert len(_calibration(facts)) == told


@pytest.mark.parametrize(
    ("low", "high", "moved", "metric", "told"),
    [
        (0.1, 0.3, False, "f1", 1),
        (0.1, 0.6, False, "f1", 0),
        (0.9, 1.0, False, "f1", 1),
        (0.8, 1.0, False, "f1", 0),
        (0.1, 0.3, True, "f1", 0),
        (0.1, 0.3, True, "average_precision", 1),
    ],
)
def test_a_test_score_apart_from_the_folds_is_told(low, high, moved, metric, told):
    """Intervals that touch do not lie apart; a moved cut explains what depends on it."""
    cv = SimpleNamespace(low=0.5, high=0.8, estimate=0.6)
    row = SimpleNamespace(name="m", chosen=True, interval=cv, complexity=1)
    test = SimpleNamespace(low=low, high=high, estimate=(low + high) / 2)
    facts = SimpleNamespace(
        evaluation=SimpleNamespace(final=SimpleNamespace(table={metric: test})),
        rows=[row],
        task=SimpleNamespace(kind="binary", metric=metric),
        cut=SimpleNamespace(moved=moved),
    )
    assert len(_outside(facts)) == told
    row.complexity = 0  # guessing says the shares of its rows, whatever they are
    assert _outside(facts) == []


def test_votes_for_one_group_or_none_do_not_count():
    tried = [Measures(k, 0.0, 0.0, 0.0, 0.0, 1.0, None, None) for k in (2, 3, 4)]
    assert elect(tried, {"a": 1, "b": 1, "c": None, "d": 4}).k == 4
    assert elect(tried, {"a": 3, "b": 2, "c": 1}).k == 2
    assert elect(tried, {"a": None, "b": 1}).k == 2


def test_the_positive_class_is_the_rarer_and_the_later_of_even_ones():
    for y, positive in (("aab", "b"), ("abb", "a"), ("ab", "b")):
        assert detect_task(pl.Series("y", list(y) * 12)).positive == positive


def test_dates_that_became_numbers_are_refused():
    kept = _numbered_days(np.array([20240131.0, np.nan]), "day")
    assert str(kept[0])[:10] == "2024-01-31"
    assert np.isnat(kept[1])
    for wrong in (17.0, 21001232.0, 19000100.0):
        with pytest.raises(ValueError, match="was dates in training"):
            _numbered_days(np.array([20240131.0, wrong]), "day")


def test_rows_of_a_class_that_is_not_learned_are_not_judged():
    Z, none = np.arange(6.0)[:, None], np.zeros(0, dtype=int)
    part = Part(None, Z[:2], np.array([0, 1]), Z[2:], np.array([0, 2, 1, 2]), none, none)
    kept = _known(part)
    assert kept.y_judge.tolist() == [0, 1]
    assert kept.Z_judge.ravel().tolist() == [2.0, 4.0]
