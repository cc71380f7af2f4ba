"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.evaluation.calibration.calibrated import (
    CalibratedClassifierCV as CalibratedClassifierCV,
)
from pellucid.evaluation.calibration.reliability_curve import Reliability as Reliability
from pellucid.evaluation.calibration.reliability_curve import reliability as reliability
from pellucid.evaluation.callbacks import Logger as Logger
from pellucid.evaluation.callbacks import Recorder as Recorder
from pellucid.evaluation.callbacks import StopWhen as StopWhen
from pellucid.evaluation.callbacks import TimeLimit as TimeLimit
from pellucid.evaluation.callbacks import ValidationStop as ValidationStop
from pellucid.evaluation.conformal.conformal_classifier import (
    ConformalClassifier as ConformalClassifier,
)
from pellucid.evaluation.conformal.conformal_regressor import (
    ConformalRegressor as ConformalRegressor,
)
from pellucid.evaluation.conformal.conformal_scores import conformal_quantile as conformal_quantile
from pellucid.evaluation.explain.accumulated import AccumulatedEffects as AccumulatedEffects
from pellucid.evaluation.explain.accumulated import accumulated_effects as accumulated_effects
from pellucid.evaluation.explain.importance import permutation_importance as permutation_importance
from pellucid.evaluation.explain.tree_shapley import TreeShap as TreeShap
from pellucid.evaluation.explain.tree_shapley import tree_shap as tree_shap
from pellucid.evaluation.guarantees.rademacher import Rademacher as Rademacher
from pellucid.evaluation.guarantees.rademacher import rademacher_bound as rademacher_bound
from pellucid.evaluation.guarantees.rademacher import rademacher_complexity as rademacher_complexity
from pellucid.evaluation.guarantees.risk_bounds import BoundChoice as BoundChoice
from pellucid.evaluation.guarantees.risk_bounds import RiskBound as RiskBound
from pellucid.evaluation.guarantees.risk_bounds import finite_class_bound as finite_class_bound
from pellucid.evaluation.guarantees.risk_bounds import finite_class_size as finite_class_size
from pellucid.evaluation.guarantees.risk_bounds import growth_function as growth_function
from pellucid.evaluation.guarantees.risk_bounds import hoeffding as hoeffding
from pellucid.evaluation.guarantees.risk_bounds import margin_bound as margin_bound
from pellucid.evaluation.guarantees.risk_bounds import norm_class_bound as norm_class_bound
from pellucid.evaluation.guarantees.risk_bounds import select_by_bound as select_by_bound
from pellucid.evaluation.guarantees.risk_bounds import validation_bound as validation_bound
from pellucid.evaluation.guarantees.risk_bounds import validation_size as validation_size
from pellucid.evaluation.guarantees.risk_bounds import vc_bound as vc_bound
from pellucid.evaluation.hypotheses.comparison import Comparison as Comparison
from pellucid.evaluation.hypotheses.comparison import compare as compare
from pellucid.evaluation.hypotheses.five_by_two import five_by_two_cv as five_by_two_cv
from pellucid.evaluation.hypotheses.five_by_two import five_by_two_test as five_by_two_test
from pellucid.evaluation.hypotheses.label_permutations import PermutationScores as PermutationScores
from pellucid.evaluation.hypotheses.label_permutations import (
    permutation_test_score as permutation_test_score,
)
from pellucid.evaluation.hypotheses.multiple import adjust_p_values as adjust_p_values
from pellucid.evaluation.hypotheses.paired_labels import cochran_q_test as cochran_q_test
from pellucid.evaluation.hypotheses.paired_labels import mcnemar_test as mcnemar_test
from pellucid.evaluation.hypotheses.posterior_difference import (
    BayesianComparison as BayesianComparison,
)
from pellucid.evaluation.hypotheses.posterior_difference import (
    bayesian_comparison as bayesian_comparison,
)
from pellucid.evaluation.hypotheses.rank_tests import FriedmanTest as FriedmanTest
from pellucid.evaluation.hypotheses.rank_tests import friedman_test as friedman_test
from pellucid.evaluation.hypotheses.signed_ranks import wilcoxon_test as wilcoxon_test
from pellucid.evaluation.hypotheses.significance import SignificanceTest as SignificanceTest
from pellucid.evaluation.hypotheses.t_tests import corrected_t_test as corrected_t_test
from pellucid.evaluation.hypotheses.t_tests import mean_test as mean_test
from pellucid.evaluation.hypotheses.t_tests import paired_t_test as paired_t_test
from pellucid.evaluation.intervals.intervals import Interval as Interval
from pellucid.evaluation.intervals.intervals import MetricTable as MetricTable
from pellucid.evaluation.intervals.intervals import mean_interval as mean_interval
from pellucid.evaluation.intervals.intervals import proportion_interval as proportion_interval
from pellucid.evaluation.intervals.metric_intervals import metric_interval as metric_interval
from pellucid.evaluation.metrics.classification import ClassificationTable as ClassificationTable
from pellucid.evaluation.metrics.classification import (
    classification_metrics as classification_metrics,
)
from pellucid.evaluation.metrics.confusion_rates import ConfusionTable as ConfusionTable
from pellucid.evaluation.metrics.confusion_rates import Rates as Rates
from pellucid.evaluation.metrics.confusion_rates import confusion_table as confusion_table
from pellucid.evaluation.metrics.confusion_rates import rates as rates
from pellucid.evaluation.metrics.costs import mean_cost as mean_cost
from pellucid.evaluation.metrics.criteria import gaussian_criteria as gaussian_criteria
from pellucid.evaluation.metrics.criteria import information_criteria as information_criteria
from pellucid.evaluation.metrics.criteria import one_standard_error as one_standard_error
from pellucid.evaluation.metrics.metrics import Metric as Metric
from pellucid.evaluation.metrics.metrics import resolve_metric as resolve_metric
from pellucid.evaluation.metrics.regression_scores import RegressionTable as RegressionTable
from pellucid.evaluation.metrics.regression_scores import regression_metrics as regression_metrics
from pellucid.evaluation.metrics.tasks import ClusteringTable as ClusteringTable
from pellucid.evaluation.metrics.tasks import RankingTable as RankingTable
from pellucid.evaluation.metrics.tasks import clustering_metrics as clustering_metrics
from pellucid.evaluation.metrics.tasks import multilabel_metrics as multilabel_metrics
from pellucid.evaluation.metrics.tasks import ranking_metrics as ranking_metrics
from pellucid.evaluation.metrics.thresholds import ThresholdCurve as ThresholdCurve
from pellucid.evaluation.metrics.thresholds import best_threshold as best_threshold
from pellucid.evaluation.metrics.thresholds import threshold_curve as threshold_curve
from pellucid.evaluation.selection.tuned import TunedEstimator as TunedEstimator
from pellucid.evaluation.splits.advice import SplitAdvice as SplitAdvice
from pellucid.evaluation.splits.advice import suggest_split as suggest_split
from pellucid.evaluation.splits.bootstrap_split import BootstrapSplit as BootstrapSplit
from pellucid.evaluation.splits.guard import GuardedTest as GuardedTest
from pellucid.evaluation.splits.guard import HeldOutUsedError as HeldOutUsedError
from pellucid.evaluation.splits.holdout import HoldOutSplit as HoldOutSplit
from pellucid.evaluation.splits.holdout import ThreeWaySplit as ThreeWaySplit
from pellucid.evaluation.splits.holdout import ordered_split as ordered_split
from pellucid.evaluation.splits.holdout import three_way_split as three_way_split
from pellucid.evaluation.splits.splitters import TimeSeriesSplit as TimeSeriesSplit
from pellucid.evaluation.splits.splitters import train_test_split as train_test_split
from pellucid.evaluation.validation.bias_variance_parts import BiasVariance as BiasVariance
from pellucid.evaluation.validation.bias_variance_parts import BootstrapDraw as BootstrapDraw
from pellucid.evaluation.validation.bias_variance_parts import SimulatedDraw as SimulatedDraw
from pellucid.evaluation.validation.bias_variance_parts import bias_variance as bias_variance
from pellucid.evaluation.validation.bias_variance_parts import (
    decompose_squared as decompose_squared,
)
from pellucid.evaluation.validation.bias_variance_parts import (
    decompose_zero_one as decompose_zero_one,
)
from pellucid.evaluation.validation.bootstrap_632 import bootstrap_estimate as bootstrap_estimate
from pellucid.evaluation.validation.bootstrap_632 import combine_632 as combine_632
from pellucid.evaluation.validation.curves import complexity_curve as complexity_curve
from pellucid.evaluation.validation.curves import size_curve as size_curve
from pellucid.evaluation.validation.cv_scores import cross_validated as cross_validated
from pellucid.evaluation.validation.diagnosis import Diagnosis as Diagnosis
from pellucid.evaluation.validation.diagnosis import diagnose_fit as diagnose_fit
from pellucid.evaluation.validation.fold_summary import CvSummary as CvSummary
from pellucid.evaluation.validation.fold_summary import cv_summary as cv_summary
from pellucid.evaluation.validation.nested import nested_cross_validation as nested_cross_validation
from pellucid.evaluation.validation.smoother_scores import (
    generalised_cross_validation as generalised_cross_validation,
)
from pellucid.evaluation.validation.smoother_scores import leave_one_out as leave_one_out

__all__: list[str]
_HOME: dict[str, str]
