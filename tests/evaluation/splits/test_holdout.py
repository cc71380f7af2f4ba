"""Splits: no row on two sides, all rows somewhere, groups whole, the future never trained on."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    train_test_split,
)
from sklearn.neighbors import KNeighborsRegressor

import pellucid
from pellucid.evaluation import (
    BootstrapSplit,
    GuardedTest,
    HeldOutUsedError,
    HoldOutSplit,
    ordered_split,
    suggest_split,
    three_way_split,
)

sizes = st.one_of(st.integers(0, 5), st.floats(0, 0.45))


def assert_partition(parts, n):
    rows = np.concatenate(parts)
    assert len(rows) == n
    np.testing.assert_array_equal(np.sort(rows), np.arange(n))


@settings(max_examples=60, deadline=None)
@given(n=st.integers(12, 80), validation=sizes, test=sizes, seed=st.integers(0, 99))
@example(n=12, validation=0.4375, test=0.4375, seed=0)  # 5.25 rows each, rounded up to all 12
@example(n=12, validation=0.4375, test=5, seed=0)  # one row to train on is enough
def test_random_parts_are_disjoint_and_exhaustive(n, validation, test, seed):
    options = {"validation_size": validation, "test_size": test, "random_state": seed}
    wanted = [s if isinstance(s, int) else int(np.ceil(s * n)) for s in (validation, test)]
    if sum(wanted) >= n:
        with pytest.raises(ValueError, match="train"):
            three_way_split(n, **options)
        return
    parts = three_way_split(n, **options)
    assert_partition(parts, n)
    assert [len(parts.validation), len(parts.test)] == wanted


@settings(max_examples=60, deadline=None)
@given(groups=st.lists(st.integers(0, 9), min_size=12, max_size=60), seed=st.integers(0, 99))
def test_groups_stay_together(groups, seed):
    groups = np.array(groups)
    if len(np.unique(groups)) < 3:
        with pytest.raises(ValueError, match="groups"):
            three_way_split(len(groups), groups=groups, random_state=seed)
        return
    for order in (None, np.arange(len(groups))):
        parts = three_way_split(len(groups), groups=groups, order=order, random_state=seed)
        assert_partition(parts, len(groups))
        sides = [set(groups[part]) for part in parts]
        assert all(sides)
        assert not (sides[0] & sides[1] | sides[0] & sides[2] | sides[1] & sides[2])


@settings(max_examples=40, deadline=None)
@given(order=st.lists(st.integers(-50, 50), min_size=10, max_size=60))
def test_order_puts_the_latest_in_test(order):
    order = np.array(order)
    parts = three_way_split(len(order), order=order)
    assert_partition(parts, len(order))
    assert order[parts.train].max() <= order[parts.validation].min()
    assert order[parts.validation].max() <= order[parts.test].min()


@settings(max_examples=40, deadline=None)
@given(n=st.integers(30, 90), seed=st.integers(0, 99))
def test_stratified_parts_keep_the_shares(n, seed):
    y = np.array(["a", "b", "b"])[np.arange(n) % 3]
    parts = three_way_split(n, stratify=y, random_state=seed)
    assert_partition(parts, n)
    for part in parts:
        assert abs((y[part] == "a").mean() - 1 / 3) < 1.5 / len(part)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 40), seed=st.integers(0, 99), stratify=st.booleans())
def test_bootstrap_tests_on_what_was_not_drawn(n, seed, stratify):
    y = np.arange(n) % 2 if n > 3 else np.zeros(n)
    for train, test in BootstrapSplit(5, stratify=stratify, random_state=seed).split(y, y):
        assert len(train) == n
        assert len(test) > 0
        assert set(train).isdisjoint(test)
        assert set(train) | set(test) == set(range(n))
        if stratify:
            np.testing.assert_array_equal(np.sort(y[train]), np.sort(y))


def test_example_15_same_test_rows_as_scikit_learn():
    rows = np.arange(100)
    train, test = train_test_split(rows, test_size=0.3, random_state=0)
    parts = three_way_split(100, validation_size=0, test_size=0.3, random_state=0)
    np.testing.assert_array_equal(parts.test, test)
    np.testing.assert_array_equal(parts.train, train)
    y = rows % 4
    test = train_test_split(rows, test_size=0.3, random_state=3, stratify=y)[1]
    again = three_way_split(100, test_size=0.3, random_state=3, stratify=y)
    np.testing.assert_array_equal(again.test, test)


def test_records():
    parts = three_way_split(10, random_state=0)
    assert str(parts) == "6 rows to train, 2 to validate, 2 to test"
    assert sorted(row for rows in parts.to_dict().values() for row in rows) == list(range(10))
    assert parts.to_frame()["part"].value_counts().shape == (3, 2)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"test_size": 0.6, "validation_size": 0.5}, "train"),
        ({"test_size": 1.5}, "test_size"),
        ({"validation_size": -1}, "validation_size"),
        ({"test_size": "many"}, "test_size"),
        ({"groups": [1, 2]}, "groups"),
        ({"order": [1.0, np.nan] * 5}, "row 1"),
        ({"stratify": [0] * 10, "order": range(10)}, "stratify"),
        ({"groups": [1] * 10}, "groups"),
        ({"random_state": -1}, "random_state"),
    ],
)
def test_bad_splits_are_refused(options, word):
    with pytest.raises(ValueError, match=word):
        three_way_split(10, **options)


def test_the_global_state_is_left_alone():
    before = np.random.get_state()[1].copy()
    three_way_split(50)
    list(BootstrapSplit(2).split(range(9)))
    np.testing.assert_array_equal(np.random.get_state()[1], before)


def test_ordered_split():
    train, test = ordered_split(10)
    np.testing.assert_array_equal(test, [8, 9])
    assert_partition((train, test), 10)
    with pytest.raises(ValueError, match="test_size"):
        ordered_split(10, test_size=0)


def test_hold_out_leaves_the_test_rows_alone():
    parts = three_way_split(200, random_state=4)
    ((train, validation),) = HoldOutSplit(random_state=4).split(np.zeros(200))
    np.testing.assert_array_equal(train, parts.train)
    np.testing.assert_array_equal(validation, parts.validation)


def test_bootstrap_refuses():
    with pytest.raises(ValueError, match="2 rows"):
        list(BootstrapSplit().split([1]))
    with pytest.raises(ValueError, match="class of at least 2"):
        list(BootstrapSplit(stratify=True).split([1, 2], ["a", "b"]))
    with pytest.raises(ValueError, match="needs y"):
        list(BootstrapSplit(stratify=True).split([1, 2]))
    assert BootstrapSplit(7).get_n_splits() == 7
    assert "n_splits=7" in repr(BootstrapSplit(7))


def test_bootstrap_shares_of_distinct_rows():
    shares = [len(set(a)) / 200 for a, _ in BootstrapSplit(400, random_state=0).split(range(200))]
    assert np.mean(shares) == pytest.approx(1 - (1 - 1 / 200) ** 200, abs=0.004)


# --- advice ------------------------------------------------------------------------------------


def test_advice():
    assert isinstance(
        suggest_split(100, order=range(100), groups=range(100)).splitter, TimeSeriesSplit
    )
    grouped = suggest_split(100, groups=np.arange(100) % 20)
    assert grouped.kind == "group_k_fold"
    assert isinstance(grouped.splitter, GroupKFold)
    assert suggest_split(50_000).kind == "hold_out"
    assert suggest_split(49_999).splitter.n_splits == 5
    plain = suggest_split(999)
    assert (plain.kind, plain.splitter.n_splits) == ("k_fold", 10)
    assert isinstance(plain.splitter, KFold)
    assert "Leave-one-out" in plain.reason
    classes = suggest_split(1000, y=np.arange(1000) % 3)
    assert isinstance(classes.splitter, StratifiedKFold)
    assert classes.splitter.n_splits == 5
    assert suggest_split(100, y=np.linspace(0, 1, 100)).kind == "k_fold"
    assert suggest_split(100, y=np.arange(100)).kind == "k_fold"


@pytest.mark.parametrize(("rare", "k"), [(7, 7), (2, 2), (1, 2)])
def test_advice_lowers_the_folds_to_the_smallest_class(rare, k):
    y = np.r_[np.zeros(100 - rare), np.ones(rare)].astype(int)
    with pytest.warns(UserWarning, match="smallest class"):
        advice = suggest_split(100, y=y)
    assert advice.splitter.n_splits == k


def test_advice_for_few_groups_and_rows():
    with pytest.warns(UserWarning, match="3 groups"):
        assert suggest_split(30, groups=np.arange(30) % 3).splitter.n_splits == 3
    with pytest.warns(UserWarning, match="in order"):
        assert suggest_split(4, order=range(4)).splitter.n_splits == 3
    with pytest.raises(ValueError, match="at least 2"):
        suggest_split(30, groups=[1] * 30)


# --- the guarded test set ----------------------------------------------------------------------


def noisy_line(n=60):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + rng.normal(size=n)


def test_guard_raises_when_used_twice():
    X, y = noisy_line()
    model = pellucid.LinearRegression().fit(X[:40], y[:40])
    guard = GuardedTest(X[40:], y[40:], metric=["rmse", "r2"], uses=2)
    first = guard.score(model)
    assert set(first) == {"rmse", "r2"}
    assert first["rmse"].low < first["rmse"].estimate < first["rmse"].high
    guard.score(model)
    with pytest.raises(HeldOutUsedError, match="2 times"):
        guard.score(model)
    assert [use.number for use in guard.log] == [1, 2]
    assert guard.log[0].model == "LinearRegression"
    assert guard.log[0].to_dict()["table"]["rmse"]["estimate"] == first["rmse"].estimate
    assert "0 of 2 uses left" in repr(guard)


def test_guard_gives_the_whole_table_by_default():
    X, y = noisy_line()
    assert "mae" in GuardedTest(X, y).score(pellucid.LinearRegression().fit(-X, y))
    labels = np.where(y > 0, "up", "down")
    table = GuardedTest(X, labels).score(pellucid.GaussianNB().fit(-X, labels))
    assert {"accuracy", "log_loss", "roc_auc"} <= set(table)


def test_guard_warns_of_training_rows():
    X, y = noisy_line()
    model = pellucid.LinearRegression().fit(X, y)
    with pytest.warns(UserWarning, match="20 different rows"):
        GuardedTest(X[40:], y[40:], metric="mae").score(model, training=X)
    keeps = KNeighborsRegressor().fit(X, y)
    with pytest.warns(UserWarning, match="fitted on"):
        GuardedTest(X[40:], y[40:], metric="mae").score(keeps)


def test_a_failed_look_does_not_count():
    X, y = noisy_line()
    guard = GuardedTest(X, y, metric="mae")
    with pytest.raises(ValueError, match="not fitted"):
        guard.score(pellucid.LinearRegression())
    assert guard.uses_left == 1


def test_rows_of_a_frame_with_dates_can_be_compared():
    """Dates, text and numbers have no common type: they are compared cell by cell."""
    import datetime

    import polars as pl

    from pellucid.evaluation.splits.guard import row_keys

    day = datetime.date(2024, 1, 1)
    frame = pl.DataFrame({"x": [1.5, 1.5, 2.5], "day": [day, day, day], "c": ["a", "a", "b"]})
    assert len(row_keys(frame)) == 2
    assert row_keys(frame.head(1)) < row_keys(frame)
