"""Boosting on folded columns: the folding loses nothing, and is what native columns would give."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    Plan,
    TableFeatures,
    learn,
    load,
    save,
)
from pellucid.study.candidates.table_boosting import (
    Folding,
    TableBoostingClassifier,
    TableBoostingRegressor,
    find_folding,
    fold,
    kept_columns,
)


def table(n=300, seed=0):
    """Numbers with gaps, categories of 2 and 5 levels, a truth."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    level, two, truth = rng.integers(5, size=n), rng.integers(2, size=n), rng.random(n) < 0.5
    y = np.array([0.0, 3.0, -2.0, 1.0, 5.0])[level] + x * (1 + two) + rng.normal(size=n)
    gaps = rng.random(n) < 0.2
    frame = pl.DataFrame(
        {
            "x": pl.Series([None if g else v for g, v in zip(gaps, x.tolist(), strict=True)]),
            "level": [f"l{k}" for k in level],
            "two": np.where(two == 1, "yes", "no"),
            "truth": truth,
        }
    )
    return frame, y, (np.where(gaps, np.nan, x), level, two, truth)


def test_the_columns_of_a_table_are_found_again():
    frame, y, (x, level, two, truth) = table()
    Z = TableFeatures(scale=False).fit_transform(frame, y)
    folded, category = fold(Z, find_folding(Z))
    assert category.tolist() == [False, True, False, False]
    np.testing.assert_array_equal(folded, np.column_stack([x, level, two, truth]))


@given(st.integers(0, 10_000))
def test_nothing_is_lost(seed):
    """Rows that differ before differ after, whatever the columns of 0 and 1 mean."""
    rng = np.random.default_rng(seed)
    Z = rng.integers(0, 2, size=(12, 7)).astype(float)
    Z[:, rng.integers(7)] = rng.normal(size=12).round(1)
    folding = find_folding(Z)
    folded, _ = fold(Z, folding)
    assert folded.shape[1] == len(kept_columns(folding, 7))
    before, after = (len(np.unique(A, axis=0, equal_nan=True)) for A in (Z, folded))
    assert after == before


def test_answers_are_those_of_native_columns():
    frame, y, (x, level, two, truth) = table()
    Z = TableFeatures(scale=False).fit_transform(frame, y)
    native = np.column_stack([x, level, two, truth])
    asked = {"categorical_features": [False, True, False, False], "early_stopping": False}
    ours = TableBoostingRegressor(random_state=0).fit(Z, y)
    other = HistGradientBoostingRegressor(random_state=0, **asked).fit(native, y)
    np.testing.assert_array_equal(ours.predict(Z), other.predict(native))
    labels = np.where(y > 1, "up", "down")
    ours = TableBoostingClassifier(random_state=0).fit(Z, labels)
    other = HistGradientBoostingClassifier(random_state=0, **asked).fit(native, labels)
    np.testing.assert_array_equal(ours.predict_proba(Z), other.predict_proba(native))
    assert ours.feature_importances_.sum() == pytest.approx(1)
    assert ours.feature_importances_[[0, 2]].sum() > 0.7  # the number and the five levels


def test_an_unseen_level_is_a_missing_cell():
    frame, y, _ = table()
    features = TableFeatures(scale=False, rare=0.0).fit(frame, y)
    new = features.transform(frame[:1].with_columns(level=pl.lit("never seen")))
    folding = find_folding(features.transform(frame))
    assert np.isnan(fold(new, folding)[0][0, 1])
    model = TableBoostingRegressor(random_state=0).fit(features.transform(frame), y)
    assert np.isfinite(model.predict(new)).all()


def test_growing_on_is_growing_at_once():
    frame, y, _ = table()
    Z = TableFeatures().fit_transform(frame, y)
    grown = TableBoostingRegressor(max_iter=10, warm_start=True, random_state=0).fit(Z, y)
    grown.set_params(max_iter=40).fit(Z, y)
    whole = TableBoostingRegressor(max_iter=40, random_state=0).fit(Z, y)
    np.testing.assert_array_equal(grown.predict(Z), whole.predict(Z))


def test_no_columns_of_0_and_1_leave_all_as_it_is():
    Z = np.random.default_rng(0).normal(size=(20, 3))
    folding = find_folding(Z)
    assert (len(folding.levels), len(folding.gaps)) == (0, 0)
    np.testing.assert_array_equal(fold(Z, folding)[0], Z)
    empty = Folding(np.zeros((0, 2), int), np.zeros(0, int))
    assert kept_columns(empty, 3).tolist() == [0, 1, 2]


def test_a_study_keeps_it_bit_for_bit(tmp_path):
    frame, y, _ = table()
    record = learn(
        frame.with_columns(y=y), "y", plan=Plan(candidates=("boosting",)), effort="quick"
    )
    assert record.verdict.chosen == "gradient boosting"
    save(record.model, tmp_path / "model.pellucid")
    again = load(tmp_path / "model.pellucid")
    np.testing.assert_array_equal(again.predict(frame), record.model.predict(frame))
