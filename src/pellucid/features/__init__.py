"""Columns a model can use: scaled, expanded, encoded, filled, selected."""

from pellucid._lazy import lazy_names

_HOME = {
    "RFE": "rfe",
    "SelectFromModel": "select_from_model",
    "SelectKBest": "select_k_best",
    "SequentialFeatureSelector": "sequential",
    "f_classif": "scores",
    "f_regression": "scores",
    "mutual_info_regression": "scores",
    "r_regression": "scores",
    "BasisExpansion": "expansion",
    "CountVectorizer": "count_vectorizer",
    "DropCollinear": "drop_collinear",
    "GaussianBasis": "gaussian_basis",
    "KBinsDiscretizer": "bins",
    "KNNImputer": "knn_imputer",
    "LabelBinarizer": "labels",
    "LabelEncoder": "labels",
    "MinMaxScaler": "minmax_scaler",
    "MissingIndicator": "missing",
    "NaturalSplineBasis": "natural_spline",
    "Normalizer": "normalizer",
    "OneHotEncoder": "one_hot",
    "OrdinalEncoder": "ordinal",
    "PolynomialFeatures": "polynomial",
    "PowerTransformer": "power",
    "RobustScaler": "robust_scaler",
    "SimpleImputer": "imputer",
    "SplineTransformer": "splines",
    "StandardScaler": "standard_scaler",
    "TargetEncoder": "target_encoder",
    "TfidfTransformer": "tfidf",
    "TruncatedPowerBasis": "truncated_power",
    "UnitNormScaler": "unit_norm_scaler",
    "VarianceThreshold": "variance_threshold",
    "add_dummy_feature": "dummy",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
