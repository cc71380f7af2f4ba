"""Columns a model can use.

``scaling/``, ``encoding/`` (categories and bins), ``missing/`` (filling cells), ``bases/``
(polynomials and splines), ``selection/`` (which columns), ``text/`` (counts of words).
"""

from pellucid._lazy import lazy_names

_HOME = {
    "RFE": "selection.rfe",
    "SelectFromModel": "selection.select_from_model",
    "SelectKBest": "selection.select_k_best",
    "SequentialFeatureSelector": "selection.sequential",
    "f_classif": "selection.scores",
    "f_regression": "selection.scores",
    "mutual_info_regression": "selection.scores",
    "r_regression": "selection.scores",
    "BasisExpansion": "bases.expansion",
    "CountVectorizer": "text.count_vectorizer",
    "DropCollinear": "selection.drop_collinear",
    "GaussianBasis": "bases.gaussian_basis",
    "HashingVectorizer": "text.hashing_vectorizer",
    "KBinsDiscretizer": "encoding.bins",
    "KNNImputer": "missing.knn_imputer",
    "LabelBinarizer": "encoding.labels",
    "LabelEncoder": "encoding.labels",
    "MaxAbsScaler": "scaling.max_abs_scaler",
    "MinMaxScaler": "scaling.minmax_scaler",
    "MissingIndicator": "missing.missing_indicator",
    "NaturalSplineBasis": "bases.natural_spline",
    "Normalizer": "scaling.normalizer",
    "OneHotEncoder": "encoding.one_hot",
    "OrdinalEncoder": "encoding.ordinal",
    "PolynomialFeatures": "bases.polynomial",
    "PowerTransformer": "scaling.power",
    "QuantileTransformer": "scaling.quantile_transformer",
    "RFECV": "selection.rfecv",
    "RobustScaler": "scaling.robust_scaler",
    "SelectPercentile": "selection.select_percentile",
    "SimpleImputer": "missing.imputer",
    "SplineTransformer": "bases.splines",
    "StandardScaler": "scaling.standard_scaler",
    "TargetEncoder": "encoding.target_encoder",
    "TfidfTransformer": "text.tfidf",
    "TfidfVectorizer": "text.tfidf_vectorizer",
    "TruncatedPowerBasis": "bases.truncated_power",
    "UnitNormScaler": "scaling.unit_norm_scaler",
    "VarianceThreshold": "selection.variance_threshold",
    "add_dummy_feature": "encoding.dummy",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
