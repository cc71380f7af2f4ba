"""Explanations of trees: ours against shap's TreeExplainer and LightGBM's own contributions."""

from typing import Any

import numpy as np

from benchmarks.harness import Case


def table() -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 20))
    return X, X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.1 * rng.normal(size=len(X))


def booster(X: Any, y: Any) -> Any:
    """LightGBM's trees: the peers explain these, ours those of our own boosting."""
    import lightgbm

    return lightgbm.LGBMRegressor(n_estimators=100, num_leaves=31, verbose=-1).fit(X, y)


def boosted() -> Any:
    X, y = table()
    return X, y, {}


def ours_boosted(data: Any) -> Any:
    from pellucid import HistGradientBoostingRegressor
    from pellucid.evaluation import tree_shap

    X, y, kept = data
    if "model" not in kept:
        kept["model"] = HistGradientBoostingRegressor(max_iter=100).fit(X, y)
    return np.abs(tree_shap(kept["model"], X[:2000]).values).mean(axis=0)


def shap_boosted(data: Any) -> Any:
    import shap

    X, y, kept = data
    if "model" not in kept:
        kept["model"] = shap.TreeExplainer(booster(X, y))
    return np.abs(kept["model"].shap_values(X[:2000])).mean(axis=0)


def lightgbm_boosted(data: Any) -> Any:
    X, y, kept = data
    if "model" not in kept:
        kept["model"] = booster(X, y)
    return np.abs(kept["model"].predict(X[:2000], pred_contrib=True)[:, :-1]).mean(axis=0)


def ours_forest(data: Any) -> Any:
    from pellucid import RandomForestRegressor
    from pellucid.evaluation import tree_shap

    X, y, kept = data
    if "model" not in kept:
        kept["model"] = RandomForestRegressor(50, max_depth=10, random_state=0).fit(X, y)
    return np.abs(tree_shap(kept["model"], X[:200]).values).mean(axis=0)


def shap_forest(data: Any) -> Any:
    import shap
    from sklearn.ensemble import RandomForestRegressor

    X, y, kept = data
    if "model" not in kept:
        model = RandomForestRegressor(50, max_depth=10, random_state=0, n_jobs=-1).fit(X, y)
        kept["model"] = shap.TreeExplainer(model)
    return np.abs(kept["model"].shap_values(X[:200])).mean(axis=0)


def alike(ours: Any, theirs: Any) -> bool:
    """Other trees, the same picture: mean |share| of the features agrees within a few per cent."""
    return bool(np.abs(ours - theirs).max() < 0.1 * ours.max())


CASES = [
    Case(
        "Shapley values, boosting of 100 trees x 31 leaves, 2,000 rows x 20",
        boosted,
        {"pellucid": ours_boosted, "shap": shap_boosted, "lightgbm": lightgbm_boosted},
        alike,
        "8 flops x points x nodes x trees x rows",
        note="the first call fits the model and is not counted",
    ),
    Case(
        "Shapley values, forest of 50 trees of depth 10, 200 rows x 20",
        boosted,
        {"pellucid": ours_forest, "shap": shap_forest},
        alike,
        "8 flops x points x nodes x trees x rows",
        note="the first call fits the model and is not counted",
    ),
]
