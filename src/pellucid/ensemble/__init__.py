"""Models made of models, and the arithmetic of resampling."""

from pellucid._lazy import lazy_names

_HOME = {
    "ClassifierChain": "chain",
    "CutPointClassifier": "cut_point",
    "CutPointCurve": "cut_point",
    "LabelPowersetClassifier": "powerset",
    "MultiOutputClassifier": "multi_output",
    "OneVsOneClassifier": "one_vs_one",
    "OneVsReferenceClassifier": "one_vs_reference",
    "OneVsRestClassifier": "one_vs_rest",
    "PairwiseRanker": "ranker",
    "expected_unique_fraction": "resampling",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
