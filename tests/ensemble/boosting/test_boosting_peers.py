"""Histogram boosting against LightGBM and XGBoost with equal settings, round by round.

Libraries choose different edges for columns of many values, and a tree that is greedy turns such a
difference into another tree: losses of single tables lie a few percent apart, either way. So there
are two claims. Where the bins are the same (no more values than bins), the losses of a table are
the same round by round. Where they are not, the held-out losses are no worse on the mean of
several tables of a kind.

Equal settings: rate 0.1, 31 leaves, l2 = 1, 255 bins, curvature 1e-3 in a leaf, 20 rows in a leaf
for numbers. For classes no limit of rows can be the same: XGBoost has none, and LightGBM guesses
rows from curvature (with ``min_child_samples=20`` it has leaves of ten rows after 40 rounds).
"""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pellucid import HistGradientBoostingClassifier, HistGradientBoostingRegressor

lightgbm = pytest.importorskip("lightgbm")
ROUNDS = 30
N, HELD = 1_000, 1_000


def friedman(rng, X):
    z = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return z + 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(len(X))


def heavy_tails(rng, X):
    return np.sinh(2 * (X[:, 0] - X[:, 1] * X[:, 2])) + 0.3 * rng.standard_t(3, len(X))


def with_gaps(rng, X):
    y = 3 * X[:, 0] + np.abs(X[:, 1] - 0.4) + 0.3 * rng.standard_normal(len(X))
    X[rng.random(X.shape) < 0.1] = np.nan
    return y


def two_moons(rng, X):
    side = np.sin(7 * X[:, 0]) - 3 * X[:, 1] + X[:, 2] + 0.3 * rng.standard_normal(len(X))
    return (side > np.median(side)).astype(int)


def rare_class(rng, X):
    odds = 6 * X[:, 0] * X[:, 1] + 3 * X[:, 2] - 5
    return (rng.random(len(X)) < 1 / (1 + np.exp(-odds))).astype(int)


TABLES = {
    "friedman": (friedman, False),
    "heavy tails": (heavy_tails, False),
    "missing cells": (with_gaps, False),
    "two moons": (two_moons, True),
    "rare class": (rare_class, True),
}


def table(name, seed, values=None):
    """Training and held-out rows; ``values`` per column at most."""
    make, classes = TABLES[name]
    rng = np.random.default_rng(seed)
    X = rng.random((N + HELD, 8))
    X = X if values is None else np.floor(X * values) / values
    y = make(rng, X)
    return X[:N], y[:N], X[N:], y[N:], classes


def ours(X, y, classes, least):
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    params = {"l2_regularization": 1.0, "min_samples_leaf": least, "early_stopping": False}
    model = kind(max_iter=ROUNDS, **params).fit(X, y)
    say = model.staged_predict_proba if classes else model.staged_predict
    return lambda Z: list(say(Z))


def light(X, y, classes, least):
    kind = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
    model = kind(
        n_estimators=ROUNDS, num_leaves=31, learning_rate=0.1, min_child_samples=least,
        min_child_weight=1e-3, reg_lambda=1.0, max_bin=255, min_data_in_bin=1, n_jobs=1, verbose=-1,
    ).fit(X, y)  # fmt: skip
    booster = model.booster_
    return lambda Z: [booster.predict(Z, num_iteration=k + 1) for k in range(ROUNDS)]


def extreme(X, y, classes, least):
    """Its leaves are limited by curvature, which is the number of rows for squared errors."""
    xgboost = pytest.importorskip("xgboost")
    kind = xgboost.XGBClassifier if classes else xgboost.XGBRegressor
    model = kind(
        n_estimators=ROUNDS, tree_method="hist", grow_policy="lossguide", max_leaves=31,
        max_depth=0, learning_rate=0.1, min_child_weight=1e-3 if classes else least,
        reg_lambda=1.0, max_bin=256, n_jobs=1,
    ).fit(X, y)  # fmt: skip
    booster = model.get_booster()

    def stages(Z):
        table = xgboost.DMatrix(Z)
        return [booster.predict(table, iteration_range=(0, k + 1)) for k in range(ROUNDS)]

    return stages


def losses(stages, y, classes):
    """The loss after every round."""
    if not classes:
        return np.array([np.mean((s - y) ** 2) for s in stages])
    p = np.array([s[:, 1] if s.ndim == 2 else s for s in stages]).clip(1e-12, 1 - 1e-12)
    return -np.mean(np.where(y == 1, np.log(p), np.log1p(-p)), axis=1)


@cache
def curves(name, learner, seed, values):
    """(2, rounds): losses on training and on held-out rows."""
    X, y, X_held, y_held, classes = table(name, seed, values)
    stages = learner(X, y, classes, 1 if classes else 20)
    return np.array([losses(stages(Z), z, classes) for Z, z in ((X, y), (X_held, y_held))])


def ratios(name, peer, seeds, values=None):
    """(seeds, 2, rounds): our losses by theirs."""
    found = [[curves(name, who, seed, values) for seed in seeds] for who in (ours, peer)]
    return np.array(found[0]) / np.array(found[1])


def no_worse_on_the_mean(found):
    """What is minimised, the training loss, up to three standard errors; held-out rows to 1 %.

    Held-out means of fifteen tables still wander: by +0.8 % of XGBoost's here, and by -0.5 to
    +0.4 % on three times thirty others (see the page of the algorithm).
    """
    mean, error = found.mean(axis=0), found.std(axis=0) / np.sqrt(len(found))
    return bool((mean[0] < 1 + 3 * error[0] + 1e-4).all() and (mean < 1.01).all())


@pytest.mark.parametrize("name", list(TABLES))
def test_where_bins_are_the_same_losses_are_those_of_xgboost(name):
    train, held = ratios(name, extreme, [0, 1], values=60).swapaxes(0, 1)
    assert_allclose(train, 1.0, atol=1e-3)
    assert (held < 1 + 5e-3).all()


def test_where_bins_are_the_same_losses_are_no_worse_than_those_of_lightgbm():
    """After a few rounds, splits that are nearly equally good part the trees."""
    found = np.concatenate([ratios(name, light, [0, 1, 2], values=60) for name in TABLES])
    assert (found[:, 0, :3] < 1 + 3e-3).all()
    assert no_worse_on_the_mean(found)


@pytest.mark.parametrize("peer", [light, extreme])
def test_losses_on_columns_of_many_values_are_no_worse_on_the_mean(peer):
    assert no_worse_on_the_mean(np.concatenate([ratios(name, peer, [0, 1, 2]) for name in TABLES]))
