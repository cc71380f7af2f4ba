"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.ensemble.boosting.ada_boost_regressor import AdaBoostRegressor as AdaBoostRegressor
from pellucid.ensemble.boosting.adaboost import AdaBoostClassifier as AdaBoostClassifier
from pellucid.ensemble.boosting.adaboost import AdaBoostRound as AdaBoostRound
from pellucid.ensemble.boosting.adaboost import adaboost_round as adaboost_round
from pellucid.ensemble.boosting.gradient_boosting import (
    GradientBoostingClassifier as GradientBoostingClassifier,
)
from pellucid.ensemble.boosting.gradient_boosting import (
    GradientBoostingRegressor as GradientBoostingRegressor,
)
from pellucid.ensemble.boosting.gradient_losses import Huber as Huber
from pellucid.ensemble.boosting.gradient_losses import Quantile as Quantile
from pellucid.ensemble.boosting.gradient_model import EarlyStopping as EarlyStopping
from pellucid.ensemble.boosting.growth_limits import Growth as Growth
from pellucid.ensemble.boosting.hist_boosting import (
    HistGradientBoostingClassifier as HistGradientBoostingClassifier,
)
from pellucid.ensemble.boosting.hist_boosting import (
    HistGradientBoostingRegressor as HistGradientBoostingRegressor,
)
from pellucid.ensemble.committees.bagging import BaggingClassifier as BaggingClassifier
from pellucid.ensemble.committees.bagging import BaggingRegressor as BaggingRegressor
from pellucid.ensemble.committees.bootstrap import Bootstrap as Bootstrap
from pellucid.ensemble.committees.bootstrap import Disjoint as Disjoint
from pellucid.ensemble.committees.bootstrap import bootstrap_indices as bootstrap_indices
from pellucid.ensemble.committees.resampling import DiversityReport as DiversityReport
from pellucid.ensemble.committees.resampling import ensemble_diversity as ensemble_diversity
from pellucid.ensemble.committees.resampling import (
    expected_unique_fraction as expected_unique_fraction,
)
from pellucid.ensemble.committees.resampling import majority_accuracy as majority_accuracy
from pellucid.ensemble.committees.resampling import variance_of_average as variance_of_average
from pellucid.ensemble.committees.stacking import StackingClassifier as StackingClassifier
from pellucid.ensemble.committees.stacking import StackingRegressor as StackingRegressor
from pellucid.ensemble.committees.voting import VotingClassifier as VotingClassifier
from pellucid.ensemble.committees.voting import VotingRegressor as VotingRegressor
from pellucid.ensemble.forest.extra_trees import ExtraTreesClassifier as ExtraTreesClassifier
from pellucid.ensemble.forest.extra_trees import ExtraTreesRegressor as ExtraTreesRegressor
from pellucid.ensemble.forest.forest import RandomForestClassifier as RandomForestClassifier
from pellucid.ensemble.forest.forest import RandomForestRegressor as RandomForestRegressor
from pellucid.ensemble.forest.intervals import ForestCalibration as ForestCalibration
from pellucid.ensemble.forest.isolation import IsolationForest as IsolationForest
from pellucid.ensemble.forest.oob_search import OutOfBagSearch as OutOfBagSearch
from pellucid.ensemble.forest.reading import PermutationImportance as PermutationImportance
from pellucid.ensemble.forest.record import Forest as Forest
from pellucid.ensemble.forest.tree_impurity import TreeImpurities as TreeImpurities
from pellucid.ensemble.forest.tree_impurity import tree_impurities as tree_impurities
from pellucid.ensemble.labels.chain import ClassifierChain as ClassifierChain
from pellucid.ensemble.labels.cut_point import CutPointClassifier as CutPointClassifier
from pellucid.ensemble.labels.cut_point import CutPointCurve as CutPointCurve
from pellucid.ensemble.labels.multi_output import MultiOutputClassifier as MultiOutputClassifier
from pellucid.ensemble.labels.one_vs_one import OneVsOneClassifier as OneVsOneClassifier
from pellucid.ensemble.labels.one_vs_reference import (
    OneVsReferenceClassifier as OneVsReferenceClassifier,
)
from pellucid.ensemble.labels.one_vs_rest import OneVsRestClassifier as OneVsRestClassifier
from pellucid.ensemble.labels.powerset import LabelPowersetClassifier as LabelPowersetClassifier
from pellucid.ensemble.labels.ranker import PairwiseRanker as PairwiseRanker
from pellucid.ensemble.rule_lists import RuleList as RuleList
from pellucid.ensemble.rule_lists import rule_list as rule_list
from pellucid.ensemble.rule_lists import simplify_rules as simplify_rules
from pellucid.ensemble.semi_supervised.representation import (
    RepresentationClassifier as RepresentationClassifier,
)
from pellucid.ensemble.semi_supervised.self_training import (
    SelfTrainingClassifier as SelfTrainingClassifier,
)
from pellucid.ensemble.targets.multi_output_regressor import (
    MultiOutputRegressor as MultiOutputRegressor,
)
from pellucid.ensemble.targets.regressor_chain import RegressorChain as RegressorChain

__all__: list[str]
_HOME: dict[str, str]
