"""Histogram boosting in use: predictions, small tables, a busy machine, losses round by round.

With no more values in a column than there are bins every library has the same bins, and the losses
agree round by round; ``python -m benchmarks.ensemble.boosting_use`` prints them for five tables.
"""

import subprocess
import sys
from contextlib import contextmanager
from functools import partial

import numpy as np

from benchmarks.ensemble.boosting import (
    CLASSIFIERS,
    REGRESSORS,
    P,
    as_good,
    classify,
    log_loss,
    numbers,
    regress,
    square_loss,
)  # fmt: skip
from benchmarks.harness import Case


def fitted(make, data):
    X, y, X_held, _ = data
    return make().fit(X, y), np.tile(X_held, (4, 1))


_models: dict = {}


def predict(name, data):
    """200,000 predictions; the fit is made once, in the call that warms up."""
    if name not in _models:
        _models[name] = fitted(REGRESSORS[name], data)
    model, X = _models[name]
    return np.mean((model.predict(X) - np.tile(data[3], 4)) ** 2)


def small(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(475, 15))
    y = (X[:, 0] * X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=475) > 0).astype(int)
    return X[:275], y[:275], X[275:], y[275:]


def nearly_as_good(ours, theirs):
    return bool(ours <= 1.1 * theirs)  # 200 held-out rows


ROUNDS = (1, 2, 5, 10, 20, 50, 100)


def grid_table(kind, seed, n=5_000, p=10):
    """Columns of 60 values: the same bins in every library."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 60, size=(n, p)) / 60.0
    z = np.sin(6 * X[:, 0] * X[:, 1]) + 2 * (X[:, 2] - 0.4) ** 2 + X[:, 3] + np.abs(X[:, 4] - 0.6)
    z += 0.3 * rng.standard_normal(n)
    return kind, X, (z if kind == "Regressor" else (z > np.median(z)).astype(int))


def five_tables():
    """Numbers, numbers with heavy tails, a table with missing cells, two of classes."""
    tables = [grid_table("Regressor", seed) for seed in range(3)]
    tables += [grid_table("Classifier", seed) for seed in (3, 4)]
    kind, X, y = tables[1]
    tables[1] = kind, X, np.sinh(2 * y)
    rng = np.random.default_rng(5)
    tables[2][1][rng.random(X.shape) < 0.1] = np.nan
    return tables


def staged(name, model, X, proba):
    """Answers after the rounds ``ROUNDS``."""
    if name in ("pellucid", "scikit-learn"):
        found = list((model.staged_predict_proba if proba else model.staged_predict)(X))
        return [found[k - 1] for k in ROUNDS]
    say = model.predict_proba if proba else model.predict
    if name == "lightgbm":
        return [say(X, num_iteration=k) for k in ROUNDS]
    return [say(X, iteration_range=(0, k)) for k in ROUNDS]


def losses_per_round(name, tables):
    """Training losses (tables, rounds).

    xgboost limits the curvature of a leaf, the others its rows. For squared errors that is the
    same (20); for classes one row and a curvature of 1e-3 is the one limit that all can have.
    """
    limit = {"lightgbm": "min_child_samples", "xgboost": "min_child_weight"}
    out = []
    for kind, X, y in tables:
        proba = kind == "Classifier"
        least = 20 if not proba else 1e-3 if name == "xgboost" else 1
        limits = {limit.get(name, "min_samples_leaf"): least}
        model = (CLASSIFIERS if proba else REGRESSORS)[name]().set_params(**limits).fit(X, y)
        answers = staged(name, model, X, proba)
        out.append([log_loss(p[:, 1], y) if proba else square_loss(p, y) for p in answers])
    return np.array(out)


def no_worse_in_any_round(ours, theirs):
    return bool((ours <= 1.001 * theirs).all())


def print_losses():
    """The losses of every library, table by table."""
    tables = five_tables()
    found = {name: losses_per_round(name, tables) for name in CLASSIFIERS}
    for t, (kind, *_) in enumerate(tables):
        print(f"\n{kind} {t}: round " + " ".join(f"{k:>9d}" for k in ROUNDS))
        for name, losses in found.items():
            print(f"{name:>18} " + " ".join(f"{v:9.5f}" for v in losses[t]))


@contextmanager
def busy():
    """Another job that keeps one core busy."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as job:
        try:
            yield
        finally:
            job.kill()


def crowded(make, data):
    with busy():
        return regress(make, data)


def cases():
    yield Case(
        f"HistGradientBoostingRegressor 100,000 x {P}, another job on one core",
        partial(numbers, 100_000),
        {name: partial(crowded, make) for name, make in REGRESSORS.items()}, as_good,
        "what is left of the cores", rounds=1, repeats=1,
    )  # fmt: skip
    yield Case(
        "HistGradientBoostingRegressor.predict 200,000 x 30, 100 trees", partial(numbers, 100_000),
        {name: partial(predict, name) for name in REGRESSORS}, as_good,
        "3000 nodes a row, by bits", rounds=1,
    )  # fmt: skip
    yield Case(
        "HistGradientBoostingClassifier 275 x 15", small,
        {name: partial(classify, make) for name, make in CLASSIFIERS.items()}, nearly_as_good,
        "a few microseconds a node", rounds=2,
    )  # fmt: skip
    yield Case(
        "HistGradientBoosting loss per round, five tables 5,000 x 10", five_tables,
        {name: partial(losses_per_round, name) for name in CLASSIFIERS}, no_worse_in_any_round,
        "losses of rounds 1 to 100 within 1e-3; `benchmarks.ensemble.boosting_use` prints them",
        rounds=1, repeats=1,
    )  # fmt: skip


CASES = list(cases())

if __name__ == "__main__":
    print_losses()
