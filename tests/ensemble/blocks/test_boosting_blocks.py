"""Boosting on blocks: the trees of ``fit``, whatever the blocks, the backend, and what is lost."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from pellucid.backends import Joblib, Serial
from pellucid.data import blocks
from pellucid.ensemble.blocks import shards as shards_module
from pellucid.ensemble.blocks.shards import Shards
from pellucid.ensemble.boosting import block_rounds
from pellucid.ensemble.boosting.block_rows import Aside, cells_in_use
from pellucid.ensemble.boosting.boosted_trees import part_of

N = 40_000
RULES = {"max_iter": 3, "early_stopping": False, "random_state": 1}


def table(seed=0, n=N):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 2] = rng.integers(0, 7, n)
    score = np.sin(2 * X[:, 0]) + X[:, 1] * (X[:, 2] > 3)
    X[rng.random(X.shape) < 0.04] = np.nan
    return X, score + 0.2 * rng.normal(size=n)


def assert_same(a, b):
    for name, x, y in zip(a.trees_._fields, a.trees_, b.trees_, strict=True):
        np.testing.assert_array_equal(x, y, err_msg=name)
    np.testing.assert_array_equal(a._bins.edges, b._bins.edges)
    np.testing.assert_array_equal(a._baseline, b._baseline)
    for name in ("objective", "validation"):
        assert [row.get(name) for row in a.history_] == [row.get(name) for row in b.history_]


X, Y = table()
CASES = {
    "squared": (HistGradientBoostingRegressor, {}, Y),
    "wide trees": (HistGradientBoostingRegressor, {"max_leaf_nodes": 300}, Y),
    "shallow": (HistGradientBoostingRegressor, {"max_leaf_nodes": None, "max_depth": 3}, Y),
    "monotone": (HistGradientBoostingRegressor, {"monotonic_cst": [1, 0, 0, -1]}, Y),
    "poisson": (HistGradientBoostingRegressor, {"loss": "poisson"}, np.abs(Y)),
    "small counts": (HistGradientBoostingRegressor, {"loss": "poisson"}, 1e-9 * np.abs(Y)),
    "gamma, apart": (
        HistGradientBoostingRegressor,
        {"loss": "gamma", "interaction_cst": "no_interactions"},
        np.abs(Y) + 0.1,
    ),
    "two classes": (HistGradientBoostingClassifier, {}, Y > 0),
    "drawn columns": (
        HistGradientBoostingClassifier,
        {"max_features": 0.5, "class_weight": "balanced"},
        np.digitize(Y, [-0.5, 0.5]),
    ),
    "categories": (HistGradientBoostingClassifier, {"categorical_features": [2]}, Y > 0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_blocks_give_the_trees_of_the_fit_in_memory(name):
    kind, rules, y = CASES[name]
    whole = kind(**RULES | rules).fit(X, y)
    for rows in (3_000, 1_000_000):
        assert_same(whole, kind(**RULES | rules).fit_blocks(blocks(X, target=y, block_rows=rows)))


@pytest.mark.parametrize("fraction", [False, True])
def test_weights(fraction):
    rng = np.random.default_rng(2)
    w = rng.integers(0, 4, N).astype(float)
    w = w * 0.37 if fraction else w
    model = HistGradientBoostingClassifier(**RULES)
    parts = [
        HistGradientBoostingClassifier(**RULES).fit_blocks(
            blocks(X, target=Y > 0, weight=w, block_rows=rows), backend=backend
        )
        for rows, backend in ((5_000, None), (20_000, Serial()))
    ]
    assert_same(*parts)
    whole = model.fit(X, Y > 0, sample_weight=w)
    if fraction:  # sums of weights that are not whole are rounded where rows are dropped
        np.testing.assert_allclose(whole.predict_proba(X), parts[0].predict_proba(X), rtol=1e-9)
    else:
        for name in ("feature", "threshold", "value"):
            left, right = (getattr(m.trees_, name) for m in (whole, parts[0]))
            np.testing.assert_allclose(left, right, rtol=1e-12)


@settings(deadline=None, max_examples=8)
@given(st.integers(1, 60_000), st.integers(1, 4), st.sampled_from(["squared", "drawn columns"]))
def test_any_blocks_and_any_number_of_shards(block_rows, width, name):
    kind, rules, y = CASES[name]
    rules = RULES | {"early_stopping": True} | rules

    def fit(rows):
        return kind(**rules).fit_blocks(blocks(X, target=y, block_rows=rows), backend=Serial())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards_module, "PER_WORKER", width)
        patch.setattr("pellucid.ensemble.boosting.block_fit.PER_WORKER", width)
        found = fit(block_rows)
    assert_same(KNOWN.setdefault(name, found), found)


KNOWN = {}


@pytest.mark.parametrize("name", ["squared", "drawn columns", "categories"])
def test_a_state_that_is_lost_is_made_anew(monkeypatch, name):
    kind, rules, y = CASES[name]
    rules = RULES | {"max_iter": 5, "early_stopping": True, "min_samples_leaf": 50} | rules
    whole = kind(**rules).fit_blocks(blocks(X, target=y, block_rows=4_096))
    rng, counted, found = np.random.default_rng(4), Shards.each, []

    def forgetful(self, *given):
        kept = shards_module._kept.fits.get(self.fit, {})
        for number in [k for k in sorted(kept) if rng.random() < 0.4]:
            del kept[number]
        found.append(self)
        return counted(self, *given)

    monkeypatch.setattr(Shards, "each", forgetful)
    again = kind(**rules).fit_blocks(blocks(X, target=y, block_rows=4_096))
    assert_same(whole, again)
    assert found[-1].rebuilt > 10


@pytest.mark.slow
def test_processes_that_share_nothing():
    kind, rules, y = CASES["two classes"]
    rules = RULES | rules | {"max_leaf_nodes": 7}
    whole = kind(**rules).fit(X, y)
    source = blocks(X, target=y, block_rows=16_384)
    assert_same(whole, kind(**rules).fit_blocks(source, backend=Joblib(n_jobs=2)))


@pytest.mark.parametrize("name", ["squared", "drawn columns"])
def test_passes_and_bytes_of_a_tree(monkeypatch, name):
    kind, rules, y = CASES[name]
    found = []
    close = Shards.close
    monkeypatch.setattr(Shards, "close", lambda self: (found.append(self), close(self))[1])
    leaves = 31
    models, counts = [], []
    for rows in (2_000, 20_000):
        for shards in (1, 8):
            monkeypatch.setattr(shards_module, "PER_WORKER", shards)
            monkeypatch.setattr("pellucid.ensemble.boosting.block_fit.PER_WORKER", shards)
            source = blocks(X, target=y, block_rows=rows)
            models.append(kind(**RULES | rules).fit_blocks(source, backend=Serial()))
            counts.append((found[-1].passes, found[-1].received))
    assert len(set(counts)) == 1  # neither blocks nor shards matter
    (passes, received), model = counts[0], models[0]
    K, rounds, width = model.n_trees_per_iteration_, model.n_iter_, 1 if name == "squared" else 2
    S = 8 * len(cells_in_use(model._bins, width))
    assert passes <= 1 + rounds * (2 + leaves - 1)
    deepest = [max(depth(model, r * K + k) for k in range(K)) for r in range(rounds)]
    assert passes <= 1 + sum(2 + d for d in deepest)
    assert received <= rounds * K * (S * leaves * np.log2(leaves) + 16)
    assert received >= rounds * K * S


def depth(model, t):
    part = part_of(model.trees_, t, t + 1)
    levels = np.ones(len(part.left) + 1, int)
    for k, both in enumerate(zip(part.left, part.right, strict=True)):
        for child in both:
            if child >= 0:
                levels[child] = levels[k] + 1
    return levels[: len(part.left)].max()


def test_rows_kept_aside_depend_on_their_number_alone():
    whole = Aside(7, 0.1).rows(0, 100_000)
    parts = np.concatenate([Aside(7, 0.1).rows(a, 1_000) for a in range(0, 100_000, 1_000)])
    np.testing.assert_array_equal(whole, parts)
    assert abs(whole.mean() - 0.1) < 0.005
    assert abs((whole & Aside(8, 0.1).rows(0, 100_000)).mean() - 0.01) < 0.002


def test_early_stopping_stops_and_scores_the_rows_kept_aside():
    rng = np.random.default_rng(3)
    y = np.sign(X[:, 1]) + rng.normal(size=N)
    y = np.where(np.isnan(y), 0.0, y)
    rules = {"max_iter": 200, "learning_rate": 0.5, "n_iter_no_change": 3, "random_state": 0}
    model = HistGradientBoostingRegressor(**rules)
    model.fit_blocks(blocks(X, target=y, block_rows=10_000))
    assert model.do_early_stopping_
    assert model.n_iter_ < 100
    assert len(model.validation_score_) == model.n_iter_ + 1
    aside = Aside(*_aside(model)).rows(0, N)
    gap = y[aside] - model.predict(X[aside])
    assert model.validation_score_[-1] == pytest.approx(-0.5 * (gap**2).mean(), rel=1e-12)


def _aside(model):
    seed = int(np.random.default_rng(model._seed).integers(2**31))
    return seed, model.validation_fraction


def test_words_are_categories(tmp_path):
    rng = np.random.default_rng(5)
    words = rng.choice(["ash", "birch", "cedar", None], 30_000)
    frame = pl.DataFrame(
        {"x": rng.normal(size=30_000), "tree": words, "y": rng.normal(size=30_000)}
    )
    frame = frame.with_columns(y=pl.col("y") * 0.1 + (pl.col("tree") == "birch").fill_null(False))
    frame.write_parquet(tmp_path / "trees.parquet")
    rules = RULES | {"categorical_features": ["tree"]}
    whole = HistGradientBoostingRegressor(**rules).fit(frame.select("x", "tree"), frame["y"])
    source = blocks(str(tmp_path / "trees.parquet"), target="y", block_rows=9_000)
    parts = HistGradientBoostingRegressor(**rules).fit_blocks(source)
    assert_same(whole, parts)
    assert parts.categories_[1].tolist() == ["ash", "birch", "cedar"]
    np.testing.assert_array_equal(whole.predict(frame.drop("y")), parts.predict(frame.drop("y")))
    with pytest.raises(ValueError, match=r"'tree' holds words \(String\)"):
        HistGradientBoostingRegressor().fit_blocks(source)


def test_what_blocks_cannot_do_is_said():
    source = blocks(X[:200], target=Y[:200])
    with pytest.raises(ValueError, match=r"absolute_error.*fit"):
        HistGradientBoostingRegressor(loss="absolute_error").fit_blocks(source)
    with pytest.raises(ValueError, match="warm_start"):
        HistGradientBoostingRegressor(warm_start=True).fit_blocks(source)
    with pytest.raises(ValueError, match=r"scoring='r2'.*scoring='loss'"):
        HistGradientBoostingRegressor(scoring="r2", early_stopping=True).fit_blocks(source)
    with pytest.raises(ValueError, match="one class"):
        HistGradientBoostingClassifier().fit_blocks(blocks(X[:200], target=np.zeros(200)))
    with pytest.raises(ValueError, match="zero for every row"):
        HistGradientBoostingRegressor().fit_blocks(
            blocks(X[:200], target=Y[:200], weight=np.zeros(200))
        )
    with pytest.raises(ValueError, match="gamma"):
        HistGradientBoostingRegressor(loss="gamma").fit_blocks(source)


def test_few_sums_at_a_time_give_the_same_tree(monkeypatch):
    kind, rules, y = CASES["wide trees"]
    rules = RULES | rules | {"max_iter": 1, "max_leaf_nodes": 40}
    source = blocks(X, target=y)
    whole = kind(**rules).fit_blocks(source)
    monkeypatch.setattr(block_rounds, "PASS_BYTES", 1)  # one leaf a pass
    monkeypatch.setattr(block_rounds, "POOL_BYTES", 1)  # hardly any sums are kept
    assert_same(whole, kind(**rules).fit_blocks(source))
