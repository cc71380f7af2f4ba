"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.features.bases.expansion import BasisExpansion as BasisExpansion
from pellucid.features.bases.gaussian_basis import GaussianBasis as GaussianBasis
from pellucid.features.bases.natural_spline import NaturalSplineBasis as NaturalSplineBasis
from pellucid.features.bases.polynomial import PolynomialFeatures as PolynomialFeatures
from pellucid.features.bases.splines import SplineTransformer as SplineTransformer
from pellucid.features.bases.truncated_power import TruncatedPowerBasis as TruncatedPowerBasis
from pellucid.features.encoding.bins import KBinsDiscretizer as KBinsDiscretizer
from pellucid.features.encoding.dummy import add_dummy_feature as add_dummy_feature
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
from pellucid.features.selection.scores import f_classif as f_classif
from pellucid.features.selection.scores import f_regression as f_regression
from pellucid.features.selection.scores import mutual_info_regression as mutual_info_regression
from pellucid.features.selection.scores import r_regression as r_regression
from pellucid.features.selection.select_from_model import SelectFromModel as SelectFromModel
from pellucid.features.selection.select_k_best import SelectKBest as SelectKBest
from pellucid.features.selection.select_percentile import SelectPercentile as SelectPercentile
from pellucid.features.selection.sequential import (
    SequentialFeatureSelector as SequentialFeatureSelector,
)
from pellucid.features.selection.variance_threshold import VarianceThreshold as VarianceThreshold
from pellucid.features.text.count_vectorizer import CountVectorizer as CountVectorizer
from pellucid.features.text.hashing_vectorizer import HashingVectorizer as HashingVectorizer
from pellucid.features.text.tfidf import TfidfTransformer as TfidfTransformer
from pellucid.features.text.tfidf_vectorizer import TfidfVectorizer as TfidfVectorizer

__all__: list[str]
_HOME: dict[str, str]
