"""What the residuals of the linear model say about a regression (linear.health)."""

from typing import Any

import numpy as np

from pellucid.evaluation.splits.folds import FAILURES
from pellucid.linear import LinearRegression
from pellucid.linear.diagnostics.residuals import residual_health
from pellucid.study.candidates.training import Workshop
from pellucid.study.verdict.insights import full_rank

MOST_ROWS, LEVEL = 20_000, 0.01
KEPT = ("nonlinear", "outliers", "heteroscedastic", "autocorrelated")
SAID = {
    "good": "The residuals of the linear model look like noise.",
    "nonlinear": "The residuals of the linear model bend: the relation is curved.",
    "outliers": "A few rows lie far from what the linear model says.",
    "heteroscedastic": "The residuals of the linear model spread more for some rows than others.",
    "autocorrelated": "The residuals of neighbouring rows are alike: time matters.",
}


def residual_record(shop: Workshop) -> dict[str, Any] | None:
    """Kind and sentence for the report, the problems and the largest Cook's distance."""
    rows = np.unique(np.concatenate([np.concatenate(fold) for fold in shop.folds]))
    if shop.scorer.task.kind != "regression" or len(rows) > MOST_ROWS:
        return None
    features = shop.make_features({"reference": True})
    Z = features.fit_transform(shop.frame[rows], shop.y[rows])
    if len(rows) < Z.shape[1] + 3:
        return None
    X, _ = full_rank(Z, features.get_feature_names_out())
    if not X.shape[1]:
        return None
    model = LinearRegression().fit(X, shop.y[rows])
    try:
        health = residual_health(model, X, shop.y[rows], alpha=LEVEL)
    except FAILURES:  # too few residuals to judge
        return None
    wanted = [k for k in KEPT if k != "autocorrelated" or shop.kind == "sequential"]
    found = [problem for problem in health.problems if problem.name in wanted]
    kind = found[0].name if found else "good"
    cook = np.where(np.isfinite(health.cooks_distance), health.cooks_distance, 0.0)
    first = next((p for p in found if p.name == "nonlinear"), None)
    return {
        "kind": kind,
        "sentence": SAID[kind],
        "problems": [problem.name for problem in found],
        "p_value": None if first is None else float(first.p_value),
        "cook": float(cook.max()) if len(cook) else None,
        "row": int(rows[int(cook.argmax())]),
    }
