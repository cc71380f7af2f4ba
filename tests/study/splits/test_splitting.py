"""Which rows teach and which rows judge (STU-04)."""

from datetime import timedelta

import numpy as np
import polars as pl
import pytest

from pellucid.study import Plan, detect_task, make_split
from pellucid.study.splits.split import _misfit

rng = np.random.default_rng(0)


def table(n=200, classes=("a", "b", "c"), shares=(0.6, 0.3, 0.1)):
    return pl.DataFrame(
        {
            "x": rng.normal(size=n),
            "g": rng.integers(0, max(4, n // 10), n),
            "t": rng.integers(0, max(4, n // 5), n),
            "y": rng.choice(classes, n, p=shares),
            "z": rng.normal(size=n),
        }
    )


def split(frame, target, seed=0, **plan):
    y = frame[target] if isinstance(target, str) else None
    task = detect_task(y, query=plan.get("query"))
    record = make_split(frame, task, Plan(**plan), seed)
    check(record, frame.height)
    return record


def check(record, n):
    """Parts are disjoint, folds lie within the training rows and judge a row at most once."""
    train, test = set(record.train.tolist()), set(record.test.tolist())
    assert not train & test
    assert train | test <= set(range(n))
    assert train
    assert test
    judged = []
    for learn, judge in record.folds:
        assert len(learn)
        assert len(judge)
        assert not set(learn.tolist()) & set(judge.tolist())
        assert set(learn.tolist()) | set(judge.tolist()) <= train
        judged += judge.tolist()
    assert len(judged) == len(set(judged))
    assert record.reason.endswith(".")


def test_classes_keep_their_shares():
    frame = table(1000)
    record = split(frame, "y")
    assert record.kind == "stratified"
    assert len(record.test) == 200
    everywhere = frame["y"].value_counts(normalize=True).sort("y")["proportion"].to_numpy()
    for rows in (record.test, record.train):
        share = frame["y"].gather(rows).value_counts(normalize=True).sort("y")["proportion"]
        np.testing.assert_allclose(share.to_numpy(), everywhere, atol=0.006)
    assert len(record.folds) == 10  # 800 rows are left
    assert len(split(table(2000), "y").folds) == 5


def test_numbers_are_split_at_random():
    record = split(table(200), "z")
    assert (record.kind, len(record.train), len(record.test)) == ("random", 160, 40)
    assert len(record.folds) == 10
    assert sum(len(judge) for _, judge in record.folds) == 160


def test_seed_decides():
    frame = table()
    a, b, c = split(frame, "y", 3), split(frame, "y", 3), split(frame, "y", 4)
    assert np.array_equal(a.test, b.test)
    assert all(np.array_equal(p[1], q[1]) for p, q in zip(a.folds, b.folds, strict=True))
    assert not np.array_equal(a.test, c.test)


def test_test_size():
    assert len(split(table(200), "y", test_size=0.35).test) == 70


def test_a_class_of_one_row_teaches_and_rare_ones_are_dealt_out():
    frame = table(200).with_columns(
        y=pl.Series(["a"] * 120 + ["b"] * 70 + ["c"] * 6 + ["d"] * 3 + ["e"])
    )
    for seed in range(10):
        record = split(frame, "y", seed)
        labels = frame["y"].to_numpy()
        assert "e" not in labels[record.test]
        for learn, _ in record.folds:  # no fold learns without a class
            assert set(labels[learn]) == set(labels[record.train])
        assert len(record.folds) >= 4


@pytest.mark.parametrize("target", ["y", "z"])
def test_groups_stay_together(target):
    frame = table(300)
    for seed in range(5):
        record = split(frame, target, seed, groups="g")
        assert record.kind == "groups"
        groups = frame["g"].to_numpy()
        assert not set(groups[record.train]) & set(groups[record.test])
        for learn, judge in record.folds:
            assert not set(groups[learn]) & set(groups[judge])
        assert len(record.test) == pytest.approx(60, abs=6)


def test_rare_class_of_groups_is_on_both_sides():
    """Four of forty groups hold the rare class; the draw puts some of them in the test."""
    g = np.repeat(np.arange(40), 5)
    frame = pl.DataFrame({"x": rng.normal(size=200), "g": g, "y": np.where(g < 4, "r", "s")})
    record = split(frame, "y", groups="g")
    labels = frame["y"].to_numpy()
    assert set(labels[record.test]) == {"r", "s"}
    assert all(set(labels[learn]) == {"r", "s"} for learn, _ in record.folds)


def test_ranking_keeps_lists_whole():
    frame = table(300).with_columns(y=pl.Series(rng.integers(0, 4, 300)))
    record = split(frame, "y", query="g")
    groups = frame["g"].to_numpy()
    assert not set(groups[record.train]) & set(groups[record.test])


def test_copies_stay_together():
    frame = pl.concat([table(200), table(200).head(0)])
    frame = pl.concat([frame, frame.head(60)]).sample(fraction=1, shuffle=True, seed=1)
    record = split(frame, "y")
    rows = frame.rows()
    train = {rows[i] for i in record.train}
    assert not train & {rows[i] for i in record.test}
    for learn, judge in record.folds:
        assert not {rows[i] for i in learn} & {rows[i] for i in judge}
    assert "60 copies" in record.reason


def test_copies_that_have_their_own_identifier():
    frame = table(200)
    frame = pl.concat([frame, frame.head(60)]).with_columns(
        id=pl.Series([f"N{i}" for i in range(260)])
    )
    record = split(frame, "y")
    rows = frame.drop("id").rows()
    assert not {rows[i] for i in record.train} & {rows[i] for i in record.test}


def test_coarse_tables_are_not_torn_apart():
    """Two columns of two values: equal rows are other cases, not copies."""
    frame = pl.DataFrame({"c": rng.choice(["u", "v"], 200), "y": rng.choice(["a", "b"], 200)})
    assert len(split(frame, "y").test) == 40


@pytest.mark.parametrize("target", ["y", "z"])
def test_time_judges_the_latest(target):
    frame = table(300)
    record = split(frame, target, time="t")
    t = frame["t"].to_numpy()
    assert record.kind == "sequential"
    assert t[record.train].max() < t[record.test].min()  # ties stay together
    for learn, judge in record.folds:
        assert t[learn].max() < t[judge].min()
    assert len(record.test) == pytest.approx(60, abs=10)
    assert len(record.folds) == 5


def test_time_and_groups():
    frame = table(300)
    record = split(frame, "z", time="t", groups="g")
    groups = frame["g"].to_numpy()
    assert not set(groups[record.train]) & set(groups[record.test])


def test_rows_in_the_order_of_their_date_are_a_sequence():
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 7, 18), eager=True)
    frame = table(200).with_columns(day=days)
    record = split(frame, "y")
    assert record.kind == "sequential"
    np.testing.assert_array_equal(record.test, np.arange(160, 200))
    assert split(frame.sample(fraction=1, shuffle=True, seed=0), "y").kind == "stratified"
    text = frame.with_columns(day=pl.col("day").dt.strftime("%d.%m.%Y"))
    assert split(text, "y").kind == "sequential"
    assert split(frame, "y", groups="g").kind == "groups"
    later = [day + timedelta(days=k % 9) for k, day in enumerate(days)]
    gaps = [None if k % 3 else day for k, day in enumerate(days)]
    both = frame.with_columns(left=pl.Series(later), back=pl.Series(gaps))
    assert split(both, "y").time == "day"  # the only one whose order the rows have
    assert split(both.with_columns(paid=days), "y").kind == "stratified"


def test_rows_without_target_are_in_neither_part():
    frame = table(200).with_columns(
        y=pl.when(pl.col("t") < 10).then(None).otherwise(pl.col("y")),
        z=pl.when(pl.col("t") < 10).then(float("nan")).otherwise(pl.col("z")),
    )
    gone = set(np.flatnonzero(frame["t"].to_numpy() < 10).tolist())
    for target in ("y", "z"):
        record = split(frame, target)
        assert not gone & (set(record.train.tolist()) | set(record.test.tolist()))
        assert len(record.train) + len(record.test) == 200 - len(gone)


@pytest.mark.parametrize("n", [5, 8, 12, 29])
def test_tiny_tables(n):
    frame = table(n, ("a", "b"), (0.5, 0.5))
    frame = frame.with_columns(y=pl.Series((["a", "b"] * n)[:n]))
    for target in ("y", "z"):
        record = split(frame, target)
        assert len(record.test) >= 1
        assert len(record.folds) >= 2
    record = split(frame, "z", time="t")
    assert record.kind == "sequential"


def test_large_tables_hold_out_once():
    n = 200_000
    frame = pl.DataFrame({"x": rng.normal(size=n), "y": rng.integers(0, 2, n)})
    record = make_split(frame, detect_task(frame["y"]))
    assert len(record.folds) == 1
    learn, judge = record.folds[0]
    assert (len(learn), len(judge), len(record.test)) == (120_000, 40_000, 40_000)


def test_no_target():
    assert split(table(100), None).kind == "random"


def test_refusals():
    frame = table(50)
    with pytest.raises(ValueError, match="no column 'gg'"):
        split(frame, "y", groups="gg")
    with pytest.raises(ValueError, match="at least 4"):
        split(frame.head(3), "z")
    with pytest.raises(ValueError, match="at least 3"):
        split(frame.with_columns(g=pl.lit(1)), "z", groups="g")
    with pytest.raises(ValueError, match="one value only"):
        split(frame.with_columns(t=pl.lit(1)), "z", time="t")
    with pytest.raises(ValueError, match="dates or numbers"):
        split(frame, "z", time="y")
    with pytest.raises(ValueError, match="test_size"):
        split(frame, "z", test_size=1.5)


@pytest.mark.parametrize("seed", range(4))
def test_no_fold_of_groups_judges_one_class_only(seed):
    """A rare class in few groups: fewer folds, each with both classes."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(50), 4)
    rare = np.isin(who, rng.choice(50, 9, replace=False)) & (rng.random(200) < 0.8)
    frame = pl.DataFrame({"who": who, "x": rng.normal(size=200), "y": np.where(rare, "n", "y")})
    split = make_split(frame, detect_task(frame["y"]), Plan(groups="who"))
    assert f"{len(split.folds)} folds" in split.reason
    for learn, judge in split.folds:
        assert set(frame["y"].gather(judge)) == {"n", "y"} == set(frame["y"].gather(learn))
        assert not set(frame["who"].gather(learn)) & set(frame["who"].gather(judge))


def test_a_split_that_takes_or_leaves_a_whole_class_costs_most():
    """Distances to the goal are below 1 each; a class on one side alone costs 1 more."""
    y = np.array([0] * 6 + [1] * 6 + [2] * 2)
    inside = np.zeros(14, dtype=bool)
    inside[[0, 6]] = True  # one of each large class, none of the small one
    spread = _misfit(inside, y, 2.0)
    inside[[0, 6]], inside[[0, 1]] = False, True  # none of class 1
    assert _misfit(inside, y, 2.0) > spread + 0.5
    inside[:] = [i in (0, 6, 12, 13) for i in range(14)]  # all of class 2
    whole = _misfit(inside, y, 4.0)
    inside[:] = [i in (0, 1, 6, 12) for i in range(14)]
    assert whole > _misfit(inside, y, 4.0) + 0.5
    assert _misfit(inside, None, 4.0) == 0.0
