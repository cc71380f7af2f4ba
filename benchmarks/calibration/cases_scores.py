"""Scores, tests, explanations and prediction intervals of any model."""

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

import pellucid as pl
from benchmarks.calibration.case import Case, Outcome, inside
from pellucid import evaluation, reinforcement
from pellucid.core.arrays.typing import Array, Rng


def share(n: int, p: float, method: str, rng: Rng) -> Outcome:
    found = evaluation.proportion_interval(int(rng.binomial(n, p)), n, method=method)
    return Outcome([inside(found.low, found.high, p)], str(found))


def mean(n: int, heavy: bool, rng: Rng) -> Outcome:
    x = rng.standard_t(3, size=n) if heavy else rng.normal(size=n)
    found = evaluation.mean_interval(x)
    return Outcome([inside(found.low, found.high, 0.0)], str(found))


def ranked(metric: str, n: int, share: float, truth: float, rng: Rng) -> Outcome:
    """Scores N(y, 1); the share of positives is fixed, so that the truth is that of the design."""
    y = (np.arange(n) < round(n * share)).astype(int)
    s = rng.normal(size=n) + y
    found = evaluation.metric_interval(metric, y, s, n_resamples=800, random_state=1)
    return Outcome([inside(found.low, found.high, truth)], str(found))


def labels(metric: str, n: int, rng: Rng) -> Outcome:
    """The positive class has 40 %, 80 % of either class are found."""
    y = (rng.random(n) < 0.4).astype(int)
    yhat = np.where(rng.random(n) < 0.8, y, 1 - y)
    truth = {
        "f1": 2 * 0.32 / (0.32 + 0.32 + 0.08 + 0.12),
        "balanced_accuracy": 0.8,
        "accuracy": 0.8,
    }
    truth |= {
        "kappa": (0.8 - 0.512) / (1 - 0.512),
        "mcc": 0.2 / math.sqrt(0.24 * 0.44 * 0.56) * 0.72,
    }
    found = evaluation.classification_metrics(y, yhat)
    key = "f_beta" if metric == "f1" else metric
    if metric == "mcc":  # (tp tn - fp fn) / sqrt(...)
        tp, fn, fp, tn = 0.32, 0.08, 0.12, 0.48
        truth["mcc"] = (tp * tn - fp * fn) / math.sqrt(
            (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        )
    return Outcome([inside(found[key].low, found[key].high, truth[metric])])


def errors(metric: str, n: int, law: str, rng: Rng) -> Outcome:
    signal = rng.normal(size=n)
    e = rng.normal(size=n) if law == "normal" else rng.exponential(size=n) - 1
    truth = {
        "rmse": 1.0,
        "mae": math.sqrt(2 / math.pi) if law == "normal" else 2 / math.e,
        "r2": 0.5,
    }
    table = evaluation.regression_metrics(signal + e, signal)
    found = table[metric]
    return Outcome([inside(found.low, found.high, truth[metric])], str(table))


def folds(corrected: bool, rng: Rng) -> Outcome:
    n, p, k = 60, 3, 5
    m = n - n // k
    truth = (m + 1) * (m - 2) / (m * (m - p - 2))
    X = rng.normal(size=(n, p))
    y = X.sum(axis=1) + rng.normal(size=n)
    found = evaluation.cross_validated(
        pl.LinearRegression(), X, y, metric="mse", cv=k, train_scores=False
    )
    one = found.corrected if corrected else found.summary
    return Outcome([inside(one.low, one.high, truth)], str(one))


def importance(rng: Rng) -> Outcome:
    X = rng.normal(size=(200, 2))
    points = rng.normal(size=(9, 2))
    model = pl.LinearRegression().fit(points, points[:, 0])
    y = X[:, 0] + rng.normal(size=200)
    found = evaluation.permutation_importance(
        model, X, y, metric="mse", random_state=1, n_repeats=10
    )
    return Outcome([inside(found.low[0], found.high[0], 2.0)])


def reliable(n: int, rng: Rng) -> Outcome:
    """Probabilities that are right: each bin's share against its mean probability."""
    p = rng.random(n)
    found = evaluation.reliability((rng.random(n) < p).astype(int), p)
    return Outcome(inside(found.low, found.high, found.probability))


def accumulated(rng: Rng) -> Outcome:
    """The accumulated effect of a straight line is the line."""
    X = rng.normal(size=(150, 2))
    model = pl.LinearRegression().fit(X, X @ [1.0, 0.5])
    found = evaluation.accumulated_effects(model, X, 0, n_bootstrap=100, random_state=1)
    effect = np.asarray(found.effect).ravel()
    return Outcome(inside(np.ravel(found.low), np.ravel(found.high), effect))


def multilabel(rng: Rng) -> Outcome:
    Y = (rng.random((60, 3)) < 0.4).astype(int)
    Yhat = np.where(rng.random((60, 3)) < 0.85, Y, 1 - Y)
    found = evaluation.multilabel_metrics(Y, Yhat)["hamming"]
    return Outcome([inside(found.low, found.high, 0.15)])


def rankings(rng: Rng) -> Outcome:
    """Pairs of a good and a bad item, ordered rightly 7 times in 10."""
    right = rng.random(40) < 0.7
    relevance = np.tile([1.0, 0.0], 40)
    score = np.ravel(np.column_stack([right, ~right]).astype(float))
    found = evaluation.ranking_metrics(relevance, score, np.repeat(np.arange(40), 2))
    return Outcome([inside(found["pairwise_accuracy"].low, found["pairwise_accuracy"].high, 0.7)])


def conformal(method: str, rng: Rng) -> Outcome:
    X, new = rng.normal(size=(60, 2)), rng.normal(size=(20, 2))

    def observe(at: Array) -> Array:
        return at.sum(axis=1) + (0.3 + np.abs(at[:, 0])) * rng.standard_t(3, size=len(at))

    model = evaluation.ConformalRegressor(
        pl.LinearRegression(), method=method, confidence=0.9, random_state=1
    )
    ends = model.fit(X, observe(X)).predict_interval(new)
    return Outcome(inside(*ends.T, observe(new)))


def sets(rng: Rng) -> Outcome:
    X, new = rng.normal(size=(80, 2)), rng.normal(size=(20, 2))

    def classes(at: Array) -> Array:
        return (rng.random(len(at)) < expit(2 * at[:, 0])).astype(int)

    model = evaluation.ConformalClassifier(pl.LogisticRegression(), confidence=0.9, random_state=1)
    found = model.fit(X, classes(X)).predict_set(new)
    y = classes(new)
    return Outcome(np.asarray(found)[np.arange(20), y])


def forest(make: Any, rng: Rng) -> Outcome:
    X, new = rng.normal(size=(100, 2)), rng.normal(size=(20, 2))

    def observe(at: Array) -> Array:
        return np.sin(2 * at[:, 0]) + (0.3 + np.abs(at[:, 1])) * rng.normal(size=len(at))

    y = observe(X)
    model = make(n_estimators=60, min_samples_leaf=3, random_state=1, bootstrap=True).fit(X, y)
    ends = model.predict_interval(new, model.calibrate_intervals(X, y, confidence=0.9))
    return Outcome(inside(*np.asarray(ends).reshape(20, 2).T, observe(new)))


def difference(test: str, rng: Rng) -> Outcome:
    """Two sets of scores on 12 independent test sets; the first is better by 0.1."""
    shared = rng.normal(size=12)
    a, b = shared + 0.1 + rng.normal(size=12), shared + rng.normal(size=12)
    alone = test == "mean_test"
    found = evaluation.mean_test(a - b) if alone else evaluation.paired_t_test(a, b)
    return Outcome([inside(found.low, found.high, 0.1)], str(found))


def disagreement(rng: Rng) -> Outcome:
    right_a, right_b = rng.random(120) < 0.8, rng.random(120) < 0.7
    found = evaluation.mcnemar_test(right_a, right_b)
    if found.low is None:
        return Outcome([True])
    return Outcome([inside(found.low, found.high, 0.1)], str(found))


def corrected(k: int, rng: Rng) -> Outcome:
    """Two models with equal scores: nearest neighbours that see one of two equal columns each."""
    X = rng.normal(size=(60, 2))
    y = X.sum(axis=1) + rng.normal(size=60)
    left, right = X[:, :1], X[:, 1:]
    scores = []
    rows = np.array_split(rng.permutation(60), k)
    for part in (left, right):
        own = []
        for test in rows:
            train = np.setdiff1d(np.arange(60), test)
            model = pl.LinearRegression().fit(part[train], y[train])
            own.append(float(np.mean((model.predict(part[test]) - y[test]) ** 2)))
        scores.append(own)
    found = evaluation.corrected_t_test(*scores, test_ratio=1 / (k - 1))
    return Outcome([inside(found.low, found.high, 0.0)], str(found))


def policy(rng: Rng) -> Outcome:
    """A walk that ends with +1 or -1: the mean of 40 episodes against that of the chain."""
    world = reinforcement.grid_world(["-...+"], slip=0.3, step_reward=0.0)
    found = reinforcement.evaluate_policy(
        world, np.zeros(world.n_states, dtype=int), n_episodes=40, random_state=rng
    )
    many = reinforcement.evaluate_policy(
        world, np.zeros(world.n_states, dtype=int), n_episodes=4000, random_state=0
    )
    return Outcome([inside(*found.interval, many.mean)])


AP_FEW = 0.2930  # of N(1, 1) against N(0, 1), one in ten positive: the integral of the precision
AUC = 0.7602499389065233  # Phi(1/sqrt 2)
INTERVALS = [
    *(
        Case(
            "evaluation.proportion_interval",
            f"{how}, n = {n}, p = {p:g}",
            partial(share, n, p, how),
            at_least=how in ("exact", "hoeffding"),
            caveat=said,
        )
        for how, n, p, said in (
            ("wilson", 10, 0.7, ""),
            ("wilson", 50, 0.9, ""),
            ("exact", 10, 0.7, ""),
            ("hoeffding", 50, 0.9, ""),
            ("normal", 50, 0.9, "too short for few rows and near 0 or 1"),
        )
    ),
    Case("evaluation.mean_interval", "normal values, n = 5", partial(mean, 5, False)),
    Case("evaluation.mean_interval", "values t(3), n = 30", partial(mean, 30, True)),
    Case(
        "evaluation.metric_interval",
        "roc_auc, 60 of 150 positive",
        partial(ranked, "roc_auc", 150, 0.4, AUC),
    ),
    Case(
        "evaluation.metric_interval",
        "roc_auc, 6 of 30 positive",
        partial(ranked, "roc_auc", 30, 0.2, AUC),
    ),
    Case(
        "evaluation.metric_interval",
        "average_precision, 4 of 40 positive",
        partial(ranked, "average_precision", 40, 0.1, AP_FEW),
        share=0.5,
    ),
    *(
        Case("evaluation.classification_metrics", f"{m}, n = {n}", partial(labels, m, n), share=0.5)
        for m, n in (
            ("accuracy", 40),
            ("f1", 150),
            ("mcc", 150),
            ("kappa", 40),
            ("balanced_accuracy", 40),
        )
    ),
    *(
        Case(
            "evaluation.regression_metrics",
            f"{m}, {law} errors, n = {n}",
            partial(errors, m, n, law),
            share=0.5,
            caveat="tend to be too short" if law != "normal" else "",
        )
        for m, n, law in (
            ("rmse", 100, "normal"),
            ("mae", 30, "normal"),
            ("r2", 100, "normal"),
            ("rmse", 150, "skew"),
        )
    ),
    Case(
        "evaluation.cv_summary",
        "5 folds taken as independent",
        partial(folds, False),
        share=0.5,
        caveat="the interval is too narrow",
    ),
    Case(
        "evaluation.cv_summary",
        "5 folds, corrected",
        partial(folds, True),
        share=0.5,
        at_least=True,
    ),
    Case("evaluation.permutation_importance", "straight line, n = 200", importance, share=0.5),
    Case("evaluation.reliability", "right probabilities, n = 300", partial(reliable, 300)),
    Case(
        "evaluation.accumulated_effects",
        "straight line, n = 150",
        accumulated,
        at_least=True,
        share=0.2,
    ),
    Case("evaluation.multilabel_metrics", "hamming, n = 60", multilabel, share=0.5),
    Case("evaluation.ranking_metrics", "pairwise_accuracy, 40 groups", rankings),
    *(
        Case(
            "evaluation.ConformalRegressor.predict_interval",
            f"{method}, noise t(3) of unequal size, n = 60",
            partial(conformal, method),
            0.9,
            at_least=True,
            share=0.5,
        )
        for method in ("split", "cv+", "jackknife+")
    ),
    Case(
        "evaluation.ConformalClassifier.predict_set",
        "two classes, n = 80",
        sets,
        0.9,
        at_least=True,
        share=0.5,
    ),
    Case(
        "ensemble.RandomForestRegressor.predict_interval",
        "unequal noise, n = 100",
        partial(forest, pl.RandomForestRegressor),
        0.9,
        share=0.2,
    ),
    Case(
        "ensemble.ExtraTreesRegressor.predict_interval",
        "unequal noise, n = 100",
        partial(forest, pl.ExtraTreesRegressor),
        0.9,
        share=0.2,
    ),
    Case("evaluation.mean_test", "12 independent differences", partial(difference, "mean_test")),
    Case("evaluation.paired_t_test", "12 independent test sets", partial(difference, "paired")),
    Case("evaluation.mcnemar_test", "120 rows", disagreement),
    Case(
        "evaluation.corrected_t_test",
        "10 folds of 60 rows",
        partial(corrected, 10),
        at_least=True,
        share=0.5,
    ),
    Case("reinforcement.evaluate_policy", "40 episodes", policy, share=0.3),
]
