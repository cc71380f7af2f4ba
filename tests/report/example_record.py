"""Records with invented numbers, so that the page can be tested without running a study."""

import numpy as np

from pellucid.evaluation import Comparison, Diagnosis, Interval, MetricTable, cv_summary
from pellucid.study import (
    Audit,
    ColumnPlan,
    ColumnProfile,
    FeatureRecord,
    Final,
    Finding,
    Insight,
    LeaderboardRow,
    SplitRecord,
    StudyRecord,
    Task,
    Verdict,
)

NASTY = "<img src=x onerror=alert(1)>"


def interval(estimate, half=0.02, n=275):
    return Interval(estimate, estimate - half, estimate + half, half / 2, "corrected t", n)


def board(greater=True):
    rng = np.random.default_rng(0)
    names = ["boosting", "logistic regression", "naive Bayes", "decision tree", "guessing"]
    means = [0.981, 0.979, 0.96, 0.94, 0.44] if greater else [3.1, 3.15, 3.9, 4.4, 9.2]
    scores = np.array([m + 0.01 * rng.normal(size=5) for m in means])
    rows = [
        LeaderboardRow(
            name, name.split()[0], interval(float(s.mean())), float(s.mean()) + 0.012, 0.4 + i,
            [4, 1, 1, 2, 0][i], [np.nan, 0.62, 0.031, 0.0004, 1e-9][i], i == 1, i == 0,
            tuple(map(float, s)), {"C": 1.0} if i == 1 else {}, "",
        )
        for i, (name, s) in enumerate(zip(names, scores, strict=True))
    ]  # fmt: skip
    adjusted = np.full((5, 5), 0.4)
    adjusted[:3, 3:] = adjusted[3:, :3] = 0.0004
    better = np.zeros((5, 5), dtype=bool)
    better[:3, 3:] = True
    comparison = Comparison(
        tuple(names), scores, tuple(cv_summary(s, test_ratio=0.25) for s in scores), adjusted,
        adjusted, better, "boosting is best; logistic regression is not distinguishable from it.",
        "accuracy" if greater else "rmse", greater,
    )  # fmt: skip
    return rows, comparison


def findings(column):
    return (
        Finding("PEL101", "info", "Missing values", (column, "sex"), {"share": 0.03, "rows": 11},
                "Cells without a value must be filled or left out.", "Filled inside each fold."),
        Finding("PEL301", "warning", "One column gives the target away", ("copy",),
                {"auc": 1.0}, "A column that alone predicts the target is often made from it.",
                "Left out; keep it with --keep copy if it is known at prediction time."),
        Finding("PEL204", "error", "An example of an error", (), {}, "Why.", "What to do."),
    )  # fmt: skip


def example(kind="binary", column="bill_length_mm"):
    rng = np.random.default_rng(1)
    greater = kind != "regression"
    rows, comparison = board(greater)
    metric = "accuracy" if greater else "rmse"
    classes = {"binary": ("no", NASTY), "regression": ()}[kind]
    p = np.linspace(0.05, 0.95, 10)
    final = interval(0.985 if greater else 3.2, 0.02, 69)
    guess = MetricTable({metric: interval(0.44 if greater else 9.2)})
    table = MetricTable({metric: final, "r2": interval(0.88)})
    common = {"table": table, "n": 69, "baseline": guess}
    worst = [{"row": 17, "actual": "no", "predicted": NASTY, "loss": 3.2,
              "cells": {column: NASTY, "sex": None, "mass": 3750.0}}]  # fmt: skip
    if greater:
        t = np.linspace(0, 1, 60)
        last = Final(
            **common, wrong=1, confusion={"labels": list(classes), "counts": [[40, 1], [0, 28]]},
            reliability={"predicted": p.tolist(), "observed": (p**1.1).tolist(),
                         "low": (p - 0.05).tolist(), "high": (p + 0.04).tolist(),
                         "counts": [7] * 10, "ece": 0.012, "band": 0.03},
            threshold={"name": "f1", "thresholds": t.tolist(),
                       "precision": (0.4 + 0.6 * t).tolist(),
                       "recall": (1 - t**3).tolist(), "cost": None, "chosen": 0.42,
                       "why": "0.42 balances the two (F1) on rows not learned from."},
            by_class=[{"label": c, "n": 35, "precision": 0.97, "recall": 0.99, "recall_low": 0.9,
                       "recall_high": 1.0} for c in classes],
            worst=worst,
        )  # fmt: skip
    else:
        actual = rng.normal(30, 9, 200)
        last = Final(
            **common, worst=worst,
            residuals={"actual": actual.tolist(),
                       "predicted": (actual + rng.normal(0, 3, 200)).tolist()},
            residual_health={"kind": "good", "sentence": "The errors show no pattern."},
        )  # fmt: skip
    sizes = [40, 80, 160, 275]
    insight = Insight(
        coefficients={"of": "logistic regression", "valid": True, "reason": "", "notes": [],
                      "rows": [{"name": f"{column} {i}", "estimate": 2.0 - i, "standard_error": 0.3,
                                "statistic": (2.0 - i) / 0.3, "p_value": 0.01, "low": 1.4 - i,
                                "high": 2.6 - i} for i in range(5)]},
        importance=[{"name": f"{column} {i}", "estimate": 0.2 / (i + 1), "low": 0.15 / (i + 1),
                     "high": 0.25 / (i + 1)} for i in range(6)],
        dependence=[{"name": column, "values": list(range(20)), "kind": "number",
                     "mean": [1 / (1 + np.exp(10 - v)) for v in range(20)]}] * 2,
        learning_curve={"sizes": sizes, "train": [1, 0.99, 0.985, 0.984],
                        "test": [0.9, 0.95, 0.97, 0.979], "test_low": [0.85, 0.92, 0.95, 0.965],
                        "test_high": [0.94, 0.98, 0.985, 0.99], "train_low": [1, 1, 1, 1],
                        "train_high": [1, 1, 1, 1]},
        complexity_curve={"parameter": "C", "values": [0.01, 0.1, 1.0, 10.0],
                          "train": [0.9, 0.97, 0.985, 0.99], "test": [0.9, 0.96, 0.979, 0.978],
                          "test_se": [0.01] * 4, "chosen": 1.0, "rule": "one standard error"},
    )  # fmt: skip
    every = findings(column)
    return StudyRecord(
        task=Task(kind, ("species",), classes, classes[-1] if greater else None, metric, greater, 0,
                  "Two labels, about as many of each: the share named right is a fair measure."),
        audit=Audit(every[:2], (
            ColumnProfile(column, "number", "input", 2, 160, 32.1, 59.6, 44.4, 5.4,
                          tuple((str(i), int(c)) for i, c in enumerate([2, 9, 30, 40, 22, 9, 3]))),
            ColumnProfile("sex", "category", "input", 11, 2, counts=(("male", 168), (NASTY, 165))),
            ColumnProfile("species", "category", "target", 0, 2),
        ), 344, 8, "ab" * 32),
        split=SplitRecord("stratified", np.arange(275), np.arange(275, 344),
                          tuple((np.arange(220), np.arange(55)) for _ in range(5)),
                          "No time or group column, so rows are drawn at random within classes."),
        features=FeatureRecord((ColumnPlan(column, "number", "median, indicator, standardised", 2),
                                ColumnPlan("sex", "category", "one column per level", 3)),
                               (("copy", "PEL301: gives the target away"),), 275, 5, 5,
                               "5 features for 275 rows: enough rows."),
        baseline=rows[-1], leaderboard=tuple(rows), comparison=comparison, final=last,
        diagnosis=Diagnosis("good", 0.01, "train and test agree", ()), insight=insight,
        findings=every,
        verdict=Verdict("shown", (
            "Yes. A linear model names the species of a new row right 98 times in 100 "
            "(95 % interval 93 to 100).",
            "Guessing the commonest class is right 44 times in 100.",
            "No richer model was significantly better, so the simplest was kept.",
            f"One thing to fix next: {column} is missing in 11 rows."),
            metric, final, 0.44 if greater else 9.2, "logistic regression", ("tie",)),
        card={"representation": "softmax of a linear score", "evaluation": "log loss + |w|^2/2",
              "optimisation": "Newton, gradient 1e-12", "numbers": {"C": 1.0}},
        model=None,
        reproduction={"source": "penguins.csv", "seed": 0, "digest": "ab" * 32,
                      "command": "pellucid learn penguins.csv --target species",
                      "versions": {"pellucid": "0.1", "numpy": "2.4"}},
    )  # fmt: skip
