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


def forest() -> Any:
    """One forest for all: exact splits and splits at bins do not grow the same trees."""
    from pellucid import RandomForestRegressor

    X, y = table()
    return X, RandomForestRegressor(50, max_depth=10, random_state=0).fit(X, y), {}


def ours_forest(data: Any) -> Any:
    from pellucid.evaluation import tree_shap

    X, model, _ = data
    return tree_shap(model, X[:200]).values


def shap_tree(tree: Any, share: float) -> dict[str, Any]:
    """A tree in the form that shap reads."""
    return {
        "children_left": np.array(tree.children_left, np.int32),
        "children_right": np.array(tree.children_right, np.int32),
        "children_default": np.array(tree.children_right, np.int32),
        "features": np.array(tree.feature, np.int32),
        "thresholds": np.array(tree.threshold),
        "values": share * tree.value.reshape(-1, 1),
        "node_sample_weight": np.array(tree.weighted_n_node_samples, np.float64),
    }


def shap_forest(data: Any) -> Any:
    import shap

    X, model, kept = data
    if "model" not in kept:
        share = 1 / len(model.estimators_)
        trees = [shap_tree(one.tree_, share) for one in model.estimators_]
        kept["model"] = shap.TreeExplainer({"trees": trees})
    return kept["model"].shap_values(X[:200])


def alike(ours: Any, theirs: Any) -> bool:
    """Other trees, the same picture: mean |share| of the features agrees within a few per cent."""
    return bool(np.abs(ours - theirs).max() < 0.1 * ours.max())


def equal(ours: Any, theirs: Any) -> bool:
    """The same trees: every share of every row."""
    return bool(np.allclose(ours, theirs, rtol=0, atol=1e-10))


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
        forest,
        {"pellucid": ours_forest, "shap": shap_forest},
        equal,
        "8 flops x points x nodes x trees x rows",
        note="Both explain the same forest; every value of every row is compared",
    ),
]
