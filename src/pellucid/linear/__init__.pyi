"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.linear.bayes.ard import ARDRegression as ARDRegression
from pellucid.linear.bayes.bayes import BayesianLinearRegression as BayesianLinearRegression
from pellucid.linear.bayes.bayesian_logistic import (
    BayesianLogisticRegression as BayesianLogisticRegression,
)
from pellucid.linear.bayes.bayesian_ridge import BayesianRidge as BayesianRidge
from pellucid.linear.bayes.evidence import InverseGamma as InverseGamma
from pellucid.linear.budget import Budget as Budget
from pellucid.linear.components.cca import CCA as CCA
from pellucid.linear.components.pcr import (
    PrincipalComponentRegression as PrincipalComponentRegression,
)
from pellucid.linear.components.pls import PLSRegression as PLSRegression
from pellucid.linear.diagnostics.collinear import collinearity as collinearity
from pellucid.linear.diagnostics.collinear import least_squares_report as least_squares_report
from pellucid.linear.diagnostics.residuals import residual_health as residual_health
from pellucid.linear.glm.gamma import GammaRegressor as GammaRegressor
from pellucid.linear.glm.negative_binomial import (
    NegativeBinomialRegressor as NegativeBinomialRegressor,
)
from pellucid.linear.glm.poisson import PoissonRegressor as PoissonRegressor
from pellucid.linear.glm.tweedie import TweedieRegressor as TweedieRegressor
from pellucid.linear.hyperplane import Hyperplane as Hyperplane
from pellucid.linear.imputation.iterative_imputer import IterativeImputer as IterativeImputer
from pellucid.linear.isotonic.isotonic_regression import IsotonicRegression as IsotonicRegression
from pellucid.linear.lars.lars import Lars as Lars
from pellucid.linear.lars.lars import LassoLars as LassoLars
from pellucid.linear.lars.lars_ic import LassoLarsIC as LassoLarsIC
from pellucid.linear.lars.least_angle import lars_path as lars_path
from pellucid.linear.lars.stagewise import StagewiseRegression as StagewiseRegression
from pellucid.linear.lasso.elastic_net import ElasticNet as ElasticNet
from pellucid.linear.lasso.lasso import Lasso as Lasso
from pellucid.linear.lasso.lasso_cv import ElasticNetCV as ElasticNetCV
from pellucid.linear.lasso.lasso_cv import LassoCV as LassoCV
from pellucid.linear.lasso.paths import enet_path as enet_path
from pellucid.linear.lasso.paths import lasso_path as lasso_path
from pellucid.linear.least_squares.formula import from_formula as from_formula
from pellucid.linear.least_squares.gauss_markov import linear_estimator as linear_estimator
from pellucid.linear.least_squares.indicator import LeastSquaresClassifier as LeastSquaresClassifier
from pellucid.linear.least_squares.indicator import MaskingWarning as MaskingWarning
from pellucid.linear.least_squares.least_squares import LinearRegression as LinearRegression
from pellucid.linear.least_squares.simple import simple_regression as simple_regression
from pellucid.linear.logistic.firth import FirthLogisticRegression as FirthLogisticRegression
from pellucid.linear.logistic.logistic import LogisticRegression as LogisticRegression
from pellucid.linear.logistic.logistic import SeparationWarning as SeparationWarning
from pellucid.linear.logistic.logistic_cv import LogisticRegressionCV as LogisticRegressionCV
from pellucid.linear.logistic.ordinal import OrdinalLogisticRegression as OrdinalLogisticRegression
from pellucid.linear.logistic.paths import logistic_path as logistic_path
from pellucid.linear.penalties.bridge import BridgeRegression as BridgeRegression
from pellucid.linear.penalties.dantzig import DantzigSelector as DantzigSelector
from pellucid.linear.penalties.group_lasso import GroupLasso as GroupLasso
from pellucid.linear.penalties.multi_task import MultiTaskLasso as MultiTaskLasso
from pellucid.linear.penalty_scales import convert_penalty as convert_penalty
from pellucid.linear.perceptron.perceptron import Perceptron as Perceptron
from pellucid.linear.perceptron.separability import linear_separability as linear_separability
from pellucid.linear.ridge.paths import ridge_path as ridge_path
from pellucid.linear.ridge.ridge import Ridge as Ridge
from pellucid.linear.ridge.ridge_classifier import RidgeClassifier as RidgeClassifier
from pellucid.linear.ridge.ridge_classifier_cv import RidgeClassifierCV as RidgeClassifierCV
from pellucid.linear.ridge.ridge_cv import RidgeCV as RidgeCV
from pellucid.linear.robust.huber import HuberRegressor as HuberRegressor
from pellucid.linear.robust.quantile import QuantileRegressor as QuantileRegressor
from pellucid.linear.robust.ransac_regressor import RANSACRegressor as RANSACRegressor
from pellucid.linear.robust.theil_sen_regressor import TheilSenRegressor as TheilSenRegressor
from pellucid.linear.scaled import ScaledRegressor as ScaledRegressor
from pellucid.linear.splines.smoothing_spline import SmoothingSpline as SmoothingSpline
from pellucid.linear.stochastic.sgd import SGDRegressor as SGDRegressor
from pellucid.linear.stochastic.sgd_classifier import SGDClassifier as SGDClassifier
from pellucid.linear.subsets.orthogonal_matching_pursuit import (
    OrthogonalMatchingPursuit as OrthogonalMatchingPursuit,
)
from pellucid.linear.subsets.stability import stability_selection as stability_selection
from pellucid.linear.subsets.stepwise import StepwiseRegression as StepwiseRegression
from pellucid.linear.subsets.stepwise_logistic import (
    StepwiseLogisticRegression as StepwiseLogisticRegression,
)
from pellucid.linear.subsets.subsets import BestSubsetRegression as BestSubsetRegression

__all__: list[str]
_HOME: dict[str, str]
