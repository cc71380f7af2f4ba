"""Models made of models.

``forest/`` (random forests and relatives), ``boosting/`` (AdaBoost, gradient boosting),
``committees/`` (bagging, voting, stacking), ``labels/`` (several classes or labels from binary
classifiers), ``targets/`` (several numbers), ``semi_supervised/``. Here: ``rule_lists.py`` (rules
of a forest), ``tree_sums.py`` (any model of trees as one sum) and ``bins.py`` (tables in bins of
one byte).
"""

from pellucid._lazy import lazy_names

_HOME = {
    "AdaBoostClassifier": "boosting.adaboost",
    "AdaBoostRegressor": "boosting.ada_boost_regressor",
    "AdaBoostRound": "boosting.adaboost",
    "BaggingClassifier": "committees.bagging",
    "BaggingRegressor": "committees.bagging",
    "Bootstrap": "committees.bootstrap",
    "ClassifierChain": "labels.chain",
    "CutPointClassifier": "labels.cut_point",
    "CutPointCurve": "labels.cut_point",
    "Disjoint": "committees.bootstrap",
    "DiversityReport": "committees.resampling",
    "EarlyStopping": "boosting.gradient_model",
    "ExtraTreesClassifier": "forest.extra_trees",
    "ExtraTreesRegressor": "forest.extra_trees",
    "Forest": "forest.record",
    "ForestCalibration": "forest.intervals",
    "GradientBoostingClassifier": "boosting.gradient_boosting",
    "GradientBoostingRegressor": "boosting.gradient_boosting",
    "Growth": "boosting.growth_limits",
    "HistGradientBoostingClassifier": "boosting.hist_boosting",
    "HistGradientBoostingRegressor": "boosting.hist_boosting",
    "Huber": "boosting.gradient_losses",
    "IsolationForest": "forest.isolation",
    "LabelPowersetClassifier": "labels.powerset",
    "MultiOutputClassifier": "labels.multi_output",
    "MultiOutputRegressor": "targets.multi_output_regressor",
    "OneVsOneClassifier": "labels.one_vs_one",
    "OneVsReferenceClassifier": "labels.one_vs_reference",
    "OneVsRestClassifier": "labels.one_vs_rest",
    "OutOfBagSearch": "forest.oob_search",
    "PairwiseRanker": "labels.ranker",
    "PermutationImportance": "forest.reading",
    "Quantile": "boosting.gradient_losses",
    "RandomForestClassifier": "forest.forest",
    "RandomForestRegressor": "forest.forest",
    "RegressorChain": "targets.regressor_chain",
    "RepresentationClassifier": "semi_supervised.representation",
    "RuleList": "rule_lists",
    "SelfTrainingClassifier": "semi_supervised.self_training",
    "StackingClassifier": "committees.stacking",
    "StackingRegressor": "committees.stacking",
    "TreeImpurities": "forest.tree_impurity",
    "VotingClassifier": "committees.voting",
    "VotingRegressor": "committees.voting",
    "adaboost_round": "boosting.adaboost",
    "bootstrap_indices": "committees.bootstrap",
    "ensemble_diversity": "committees.resampling",
    "expected_unique_fraction": "committees.resampling",
    "majority_accuracy": "committees.resampling",
    "rule_list": "rule_lists",
    "simplify_rules": "rule_lists",
    "tree_impurities": "forest.tree_impurity",
    "variance_of_average": "committees.resampling",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
