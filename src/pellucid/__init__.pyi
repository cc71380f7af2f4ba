"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid import backends as backends
from pellucid import cluster as cluster
from pellucid import data as data
from pellucid import decomposition as decomposition
from pellucid import deep as deep
from pellucid import discriminant as discriminant
from pellucid import ensemble as ensemble
from pellucid import evaluation as evaluation
from pellucid import features as features
from pellucid import graphical as graphical
from pellucid import inference as inference
from pellucid import kernel as kernel
from pellucid import lab as lab
from pellucid import linear as linear
from pellucid import maths as maths
from pellucid import mixture as mixture
from pellucid import naive_bayes as naive_bayes
from pellucid import neighbors as neighbors
from pellucid import neural as neural
from pellucid import persist as persist
from pellucid import plots as plots
from pellucid import reinforcement as reinforcement
from pellucid import report as report
from pellucid import solvers as solvers
from pellucid import study as study
from pellucid import teach as teach
from pellucid.cluster.choosing.number_search import ClusterNumberSearch as ClusterNumberSearch
from pellucid.cluster.density.dbscan import DBSCAN as DBSCAN
from pellucid.cluster.density.hdbscan import HDBSCAN as HDBSCAN
from pellucid.cluster.density.mean_shift import MeanShift as MeanShift
from pellucid.cluster.density.optics import OPTICS as OPTICS
from pellucid.cluster.hierarchy.agglomerative import (
    AgglomerativeClustering as AgglomerativeClustering,
)
from pellucid.cluster.hierarchy.divisive import DivisiveClustering as DivisiveClustering
from pellucid.cluster.kmeans.bisecting import BisectingKMeans as BisectingKMeans
from pellucid.cluster.kmeans.kmeans import KMeans as KMeans
from pellucid.cluster.kmeans.mini_batch import MiniBatchKMeans as MiniBatchKMeans
from pellucid.cluster.medoids.medoids import KMedoids as KMedoids
from pellucid.cluster.soft.fuzzy import FuzzyCMeans as FuzzyCMeans
from pellucid.cluster.soft.possibilistic import PossibilisticCMeans as PossibilisticCMeans
from pellucid.cluster.spectral.spectral import SpectralClustering as SpectralClustering
from pellucid.decomposition.factor_analysis import FactorAnalysis as FactorAnalysis
from pellucid.decomposition.fast_ica import FastICA as FastICA
from pellucid.decomposition.incremental_pca import IncrementalPCA as IncrementalPCA
from pellucid.decomposition.kernel_pca import KernelPCA as KernelPCA
from pellucid.decomposition.maps.isomap import Isomap as Isomap
from pellucid.decomposition.maps.mds import MDS as MDS
from pellucid.decomposition.maps.tsne import TSNE as TSNE
from pellucid.decomposition.nmf import NMF as NMF
from pellucid.decomposition.pca import PCA as PCA
from pellucid.decomposition.probabilistic import ProbabilisticPCA as ProbabilisticPCA
from pellucid.decomposition.truncated_svd import TruncatedSVD as TruncatedSVD
from pellucid.deep.adversaries.adversarial import (
    GenerativeAdversarialNetwork as GenerativeAdversarialNetwork,
)
from pellucid.deep.convolution.convolutional import (
    ConvolutionalClassifier as ConvolutionalClassifier,
)
from pellucid.deep.convolution.convolutional import ConvolutionalRegressor as ConvolutionalRegressor
from pellucid.deep.graphs.graph_network import (
    GraphNeuralNetworkClassifier as GraphNeuralNetworkClassifier,
)
from pellucid.deep.recurrence.recurrent import RecurrentClassifier as RecurrentClassifier
from pellucid.deep.recurrence.recurrent import RecurrentRegressor as RecurrentRegressor
from pellucid.deep.transformers.transformer_classifier import (
    TransformerClassifier as TransformerClassifier,
)
from pellucid.discriminant.generative import GenerativeClassifier as GenerativeClassifier
from pellucid.discriminant.lda import LinearDiscriminantAnalysis as LinearDiscriminantAnalysis
from pellucid.discriminant.qda import QuadraticDiscriminantAnalysis as QuadraticDiscriminantAnalysis
from pellucid.discriminant.rda import (
    RegularizedDiscriminantAnalysis as RegularizedDiscriminantAnalysis,
)
from pellucid.discriminant.rda_cv import (
    RegularizedDiscriminantAnalysisCV as RegularizedDiscriminantAnalysisCV,
)
from pellucid.ensemble.boosting.ada_boost_regressor import AdaBoostRegressor as AdaBoostRegressor
from pellucid.ensemble.boosting.adaboost import AdaBoostClassifier as AdaBoostClassifier
from pellucid.ensemble.boosting.gradient_boosting import (
    GradientBoostingClassifier as GradientBoostingClassifier,
)
from pellucid.ensemble.boosting.gradient_boosting import (
    GradientBoostingRegressor as GradientBoostingRegressor,
)
from pellucid.ensemble.boosting.hist_boosting import (
    HistGradientBoostingClassifier as HistGradientBoostingClassifier,
)
from pellucid.ensemble.boosting.hist_boosting import (
    HistGradientBoostingRegressor as HistGradientBoostingRegressor,
)
from pellucid.ensemble.committees.bagging import BaggingClassifier as BaggingClassifier
from pellucid.ensemble.committees.bagging import BaggingRegressor as BaggingRegressor
from pellucid.ensemble.committees.stacking import StackingClassifier as StackingClassifier
from pellucid.ensemble.committees.stacking import StackingRegressor as StackingRegressor
from pellucid.ensemble.committees.voting import VotingClassifier as VotingClassifier
from pellucid.ensemble.committees.voting import VotingRegressor as VotingRegressor
from pellucid.ensemble.forest.extra_trees import ExtraTreesClassifier as ExtraTreesClassifier
from pellucid.ensemble.forest.extra_trees import ExtraTreesRegressor as ExtraTreesRegressor
from pellucid.ensemble.forest.forest import RandomForestClassifier as RandomForestClassifier
from pellucid.ensemble.forest.forest import RandomForestRegressor as RandomForestRegressor
from pellucid.ensemble.forest.isolation import IsolationForest as IsolationForest
from pellucid.ensemble.forest.oob_search import OutOfBagSearch as OutOfBagSearch
from pellucid.ensemble.labels.chain import ClassifierChain as ClassifierChain
from pellucid.ensemble.labels.cut_point import CutPointClassifier as CutPointClassifier
from pellucid.ensemble.labels.multi_output import MultiOutputClassifier as MultiOutputClassifier
from pellucid.ensemble.labels.one_vs_one import OneVsOneClassifier as OneVsOneClassifier
from pellucid.ensemble.labels.one_vs_reference import (
    OneVsReferenceClassifier as OneVsReferenceClassifier,
)
from pellucid.ensemble.labels.one_vs_rest import OneVsRestClassifier as OneVsRestClassifier
from pellucid.ensemble.labels.powerset import LabelPowersetClassifier as LabelPowersetClassifier
from pellucid.ensemble.labels.ranker import PairwiseRanker as PairwiseRanker
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
from pellucid.evaluation.calibration.calibrated import (
    CalibratedClassifierCV as CalibratedClassifierCV,
)
from pellucid.evaluation.conformal.conformal_classifier import (
    ConformalClassifier as ConformalClassifier,
)
from pellucid.evaluation.conformal.conformal_regressor import (
    ConformalRegressor as ConformalRegressor,
)
from pellucid.evaluation.selection.tuned import TunedEstimator as TunedEstimator
from pellucid.features.bases.expansion import BasisExpansion as BasisExpansion
from pellucid.features.bases.gaussian_basis import GaussianBasis as GaussianBasis
from pellucid.features.bases.natural_spline import NaturalSplineBasis as NaturalSplineBasis
from pellucid.features.bases.polynomial import PolynomialFeatures as PolynomialFeatures
from pellucid.features.bases.splines import SplineTransformer as SplineTransformer
from pellucid.features.bases.truncated_power import TruncatedPowerBasis as TruncatedPowerBasis
from pellucid.features.encoding.bins import KBinsDiscretizer as KBinsDiscretizer
from pellucid.features.encoding.labels import LabelBinarizer as LabelBinarizer
from pellucid.features.encoding.labels import LabelEncoder as LabelEncoder
from pellucid.features.encoding.one_hot import OneHotEncoder as OneHotEncoder
from pellucid.features.encoding.ordinal import OrdinalEncoder as OrdinalEncoder
from pellucid.features.encoding.target_encoder import TargetEncoder as TargetEncoder
from pellucid.features.missing.imputer import SimpleImputer as SimpleImputer
from pellucid.features.missing.knn_imputer import KNNImputer as KNNImputer
from pellucid.features.missing.missing_indicator import MissingIndicator as MissingIndicator
from pellucid.features.scaling.max_abs_scaler import MaxAbsScaler as MaxAbsScaler
from pellucid.features.scaling.minmax_scaler import MinMaxScaler as MinMaxScaler
from pellucid.features.scaling.normalizer import Normalizer as Normalizer
from pellucid.features.scaling.power import PowerTransformer as PowerTransformer
from pellucid.features.scaling.quantile_transformer import (
    QuantileTransformer as QuantileTransformer,
)
from pellucid.features.scaling.robust_scaler import RobustScaler as RobustScaler
from pellucid.features.scaling.standard_scaler import StandardScaler as StandardScaler
from pellucid.features.scaling.unit_norm_scaler import UnitNormScaler as UnitNormScaler
from pellucid.features.selection.drop_collinear import DropCollinear as DropCollinear
from pellucid.features.selection.rfe import RFE as RFE
from pellucid.features.selection.rfecv import RFECV as RFECV
from pellucid.features.selection.select_from_model import SelectFromModel as SelectFromModel
from pellucid.features.selection.select_k_best import SelectKBest as SelectKBest
from pellucid.features.selection.select_percentile import SelectPercentile as SelectPercentile
from pellucid.features.selection.sequential import (
    SequentialFeatureSelector as SequentialFeatureSelector,
)
from pellucid.features.selection.variance_threshold import VarianceThreshold as VarianceThreshold
from pellucid.features.streaming.pipelines import fit_blocks as fit_blocks
from pellucid.features.text.count_vectorizer import CountVectorizer as CountVectorizer
from pellucid.features.text.hashing_vectorizer import HashingVectorizer as HashingVectorizer
from pellucid.features.text.tfidf import TfidfTransformer as TfidfTransformer
from pellucid.features.text.tfidf_vectorizer import TfidfVectorizer as TfidfVectorizer
from pellucid.graphical.learning.classifier import (
    BayesianNetworkClassifier as BayesianNetworkClassifier,
)
from pellucid.graphical.network.mixed_network import MixedBayesianNetwork as MixedBayesianNetwork
from pellucid.graphical.network.network import BayesianNetwork as BayesianNetwork
from pellucid.graphical.sequences.hidden_markov import HiddenMarkovModel as HiddenMarkovModel
from pellucid.graphical.structure.averaging import (
    ModelAveragingStructure as ModelAveragingStructure,
)
from pellucid.graphical.structure.constraint_based import (
    ConstraintBasedStructure as ConstraintBasedStructure,
)
from pellucid.graphical.structure.score_based import ScoreBasedStructure as ScoreBasedStructure
from pellucid.inference.covariance.graphical_lasso import GraphicalLasso as GraphicalLasso
from pellucid.inference.covariance.graphical_lasso_cv import GraphicalLassoCV as GraphicalLassoCV
from pellucid.inference.covariance.ledoit_wolf import LedoitWolf as LedoitWolf
from pellucid.inference.decisions.bayes_classifier import BayesClassifier as BayesClassifier
from pellucid.inference.decisions.loss_matrix import LossMatrixClassifier as LossMatrixClassifier
from pellucid.kernel.approximation.nystroem import Nystroem as Nystroem
from pellucid.kernel.approximation.random_features import (
    RandomFourierFeatures as RandomFourierFeatures,
)
from pellucid.kernel.kernel_ridge import KernelRidge as KernelRidge
from pellucid.kernel.linear_svm.linear_svc import LinearSVC as LinearSVC
from pellucid.kernel.linear_svm.linear_svr import LinearSVR as LinearSVR
from pellucid.kernel.maximum_margin.maximum_margin import (
    MaximumMarginClassifier as MaximumMarginClassifier,
)
from pellucid.kernel.processes.gaussian_process_classifier import (
    GaussianProcessClassifier as GaussianProcessClassifier,
)
from pellucid.kernel.processes.gaussian_process_regressor import (
    GaussianProcessRegressor as GaussianProcessRegressor,
)
from pellucid.kernel.processes.sparse_gaussian_process_regressor import (
    SparseGaussianProcessRegressor as SparseGaussianProcessRegressor,
)
from pellucid.kernel.svm.multiple_kernel import MultipleKernelClassifier as MultipleKernelClassifier
from pellucid.kernel.svm.nu import NuSVC as NuSVC
from pellucid.kernel.svm.nu import NuSVR as NuSVR
from pellucid.kernel.svm.one_class import OneClassSVM as OneClassSVM
from pellucid.kernel.svm.svc import SVC as SVC
from pellucid.kernel.svm.svr import SVR as SVR
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
from pellucid.linear.glm.gamma import GammaRegressor as GammaRegressor
from pellucid.linear.glm.negative_binomial import (
    NegativeBinomialRegressor as NegativeBinomialRegressor,
)
from pellucid.linear.glm.poisson import PoissonRegressor as PoissonRegressor
from pellucid.linear.glm.tweedie import TweedieRegressor as TweedieRegressor
from pellucid.linear.imputation.iterative_imputer import IterativeImputer as IterativeImputer
from pellucid.linear.isotonic.isotonic_regression import IsotonicRegression as IsotonicRegression
from pellucid.linear.lars.lars import Lars as Lars
from pellucid.linear.lars.lars import LassoLars as LassoLars
from pellucid.linear.lars.lars_ic import LassoLarsIC as LassoLarsIC
from pellucid.linear.lars.stagewise import StagewiseRegression as StagewiseRegression
from pellucid.linear.lasso.elastic_net import ElasticNet as ElasticNet
from pellucid.linear.lasso.lasso import Lasso as Lasso
from pellucid.linear.lasso.lasso_cv import ElasticNetCV as ElasticNetCV
from pellucid.linear.lasso.lasso_cv import LassoCV as LassoCV
from pellucid.linear.least_squares.indicator import LeastSquaresClassifier as LeastSquaresClassifier
from pellucid.linear.least_squares.least_squares import LinearRegression as LinearRegression
from pellucid.linear.logistic.firth import FirthLogisticRegression as FirthLogisticRegression
from pellucid.linear.logistic.logistic import LogisticRegression as LogisticRegression
from pellucid.linear.logistic.logistic_cv import LogisticRegressionCV as LogisticRegressionCV
from pellucid.linear.logistic.ordinal import OrdinalLogisticRegression as OrdinalLogisticRegression
from pellucid.linear.penalties.bridge import BridgeRegression as BridgeRegression
from pellucid.linear.penalties.dantzig import DantzigSelector as DantzigSelector
from pellucid.linear.penalties.group_lasso import GroupLasso as GroupLasso
from pellucid.linear.penalties.multi_task import MultiTaskLasso as MultiTaskLasso
from pellucid.linear.perceptron.perceptron import Perceptron as Perceptron
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
from pellucid.linear.subsets.stepwise import StepwiseRegression as StepwiseRegression
from pellucid.linear.subsets.stepwise_logistic import (
    StepwiseLogisticRegression as StepwiseLogisticRegression,
)
from pellucid.linear.subsets.subsets import BestSubsetRegression as BestSubsetRegression
from pellucid.mixture.gaussian.bayesian_mixture import (
    BayesianGaussianMixture as BayesianGaussianMixture,
)
from pellucid.mixture.gaussian.gaussian_mixture import GaussianMixture as GaussianMixture
from pellucid.mixture.gaussian.gradient_mixture import (
    GradientGaussianMixture as GradientGaussianMixture,
)
from pellucid.mixture.general_mixture import Mixture as Mixture
from pellucid.mixture.mixture_discriminant import (
    MixtureDiscriminantAnalysis as MixtureDiscriminantAnalysis,
)
from pellucid.mixture.outliers.density_outlier import DensityOutlier as DensityOutlier
from pellucid.mixture.outliers.elliptic_envelope import EllipticEnvelope as EllipticEnvelope
from pellucid.mixture.semi_supervised import SemiSupervisedMixture as SemiSupervisedMixture
from pellucid.naive_bayes.bernoulli import BernoulliNB as BernoulliNB
from pellucid.naive_bayes.categorical import CategoricalNB as CategoricalNB
from pellucid.naive_bayes.complement import ComplementNB as ComplementNB
from pellucid.naive_bayes.gaussian import GaussianNB as GaussianNB
from pellucid.naive_bayes.mixed import MixedNB as MixedNB
from pellucid.naive_bayes.multinomial import MultinomialNB as MultinomialNB
from pellucid.naive_bayes.text import TextNB as TextNB
from pellucid.neighbors.classifier import KNeighborsClassifier as KNeighborsClassifier
from pellucid.neighbors.editing.condensed import (
    CondensedNearestNeighbour as CondensedNearestNeighbour,
)
from pellucid.neighbors.editing.edited import EditedNearestNeighbours as EditedNearestNeighbours
from pellucid.neighbors.editing.prototypes import NearestPrototypes as NearestPrototypes
from pellucid.neighbors.kernel_density import KernelDensity as KernelDensity
from pellucid.neighbors.labels.label_propagation import LabelPropagation as LabelPropagation
from pellucid.neighbors.labels.label_spreading import LabelSpreading as LabelSpreading
from pellucid.neighbors.nearest import NearestNeighbors as NearestNeighbors
from pellucid.neighbors.nearest_centroid import NearestCentroid as NearestCentroid
from pellucid.neighbors.outlier import LocalOutlierFactor as LocalOutlierFactor
from pellucid.neighbors.radius_classifier import (
    RadiusNeighborsClassifier as RadiusNeighborsClassifier,
)
from pellucid.neighbors.radius_regressor import RadiusNeighborsRegressor as RadiusNeighborsRegressor
from pellucid.neighbors.regressor import KNeighborsRegressor as KNeighborsRegressor
from pellucid.neural.autoencoder import Autoencoder as Autoencoder
from pellucid.neural.mlp_classifier import MLPClassifier as MLPClassifier
from pellucid.neural.mlp_regressor import MLPRegressor as MLPRegressor
from pellucid.persist import ModelFileError as ModelFileError
from pellucid.persist import load as load
from pellucid.persist import predict_only as predict_only
from pellucid.persist import save as save
from pellucid.reinforcement.approximation.deep_q import DeepQNetwork as DeepQNetwork
from pellucid.reinforcement.approximation.policy_gradient import PolicyGradient as PolicyGradient
from pellucid.reinforcement.learning.adp import (
    AdaptiveDynamicProgramming as AdaptiveDynamicProgramming,
)
from pellucid.reinforcement.learning.double_q_learning import DoubleQLearning as DoubleQLearning
from pellucid.reinforcement.learning.monte_carlo import MonteCarloLearning as MonteCarloLearning
from pellucid.reinforcement.learning.q_learning import QLearning as QLearning
from pellucid.reinforcement.learning.sarsa import SARSA as SARSA
from pellucid.reinforcement.learning.td import TDLearning as TDLearning
from pellucid.reinforcement.planning.finite_horizon import FiniteHorizon as FiniteHorizon
from pellucid.reinforcement.planning.linear_programming import (
    LinearProgramming as LinearProgramming,
)
from pellucid.reinforcement.planning.policy_iteration import PolicyIteration as PolicyIteration
from pellucid.reinforcement.planning.value_iteration import ValueIteration as ValueIteration
from pellucid.study.columns.table_features import TableFeatures as TableFeatures
from pellucid.study.learning import Study as Study
from pellucid.study.learning import learn as learn
from pellucid.study.records import Plan as Plan
from pellucid.study.tables.anomalies import find_anomalies as find_anomalies
from pellucid.study.tables.comparison import compare_candidates as compare_candidates
from pellucid.study.tables.groups import group_table as group_table
from pellucid.study.tables.parameter_sweep import sweep_parameter as sweep_parameter
from pellucid.study.tables.reduction import reduce_table as reduce_table
from pellucid.tree.classifier import DecisionTreeClassifier as DecisionTreeClassifier
from pellucid.tree.multiway.classifier import MultiwayTreeClassifier as MultiwayTreeClassifier
from pellucid.tree.multiway.regressor import MultiwayTreeRegressor as MultiwayTreeRegressor
from pellucid.tree.reduced_error import ReducedErrorPruning as ReducedErrorPruning
from pellucid.tree.regressor import DecisionTreeRegressor as DecisionTreeRegressor

__version__: str
__all__: list[str]
_HOME: dict[str, str]
