"""Models made of models, and the arithmetic of resampling."""

from pellucid._lazy import lazy_names

_HOME = {
    "BaggingClassifier": "bagging",
    "BaggingRegressor": "bagging",
    "Bootstrap": "bootstrap",
    "ClassifierChain": "chain",
    "CutPointClassifier": "cut_point",
    "CutPointCurve": "cut_point",
    "Disjoint": "bootstrap",
    "DiversityReport": "resampling",
    "Forest": "forest_record",
    "Growth": "growth",
    "HistGradientBoostingClassifier": "hist_boosting",
    "HistGradientBoostingRegressor": "hist_boosting",
    "IsolationForest": "isolation",
    "LabelPowersetClassifier": "powerset",
    "MultiOutputClassifier": "multi_output",
    "OneVsOneClassifier": "one_vs_one",
    "OneVsReferenceClassifier": "one_vs_reference",
    "OneVsRestClassifier": "one_vs_rest",
    "OutOfBagSearch": "oob_search",
    "PairwiseRanker": "ranker",
    "PermutationImportance": "forest_reading",
    "RandomForestClassifier": "forest",
    "RandomForestRegressor": "forest",
    "bootstrap_indices": "bootstrap",
    "ensemble_diversity": "resampling",
    "expected_unique_fraction": "resampling",
    "majority_accuracy": "resampling",
    "variance_of_average": "resampling",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
