"""Scalers, imputers, projections and choices of columns as ONNX."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.core.arrays.typing import Array
from pellucid.persist.leaves import function_name
from pellucid.persist.onnx.graph import Graph, refuse


def shifted(g: Graph, x: str, offset: Array | None, divisor: Array | None) -> str:
    """(x - c) / s, column by column; None leaves a part out."""
    x = x if offset is None else g.op("Sub", x, np.asarray(offset, np.float64)[None])
    return x if divisor is None else g.op("Div", x, np.asarray(divisor, np.float64)[None])


def standard(g: Graph, model: BaseEstimator, x: str) -> str:
    centred = getattr(model, "with_mean", True)
    return shifted(g, x, model.mean_ if centred else None, model.scale_)


def robust(g: Graph, model: BaseEstimator, x: str) -> str:
    return shifted(g, x, model.center_, model.scale_)


def largest(g: Graph, model: BaseEstimator, x: str) -> str:
    """MaxAbsScaler."""
    return within(g, model, shifted(g, x, None, model.scale_), (-1.0, 1.0))


def minmax(g: Graph, model: BaseEstimator, x: str) -> str:
    """x scale + min, kept inside the range where asked."""
    z = g.op("Add", g.op("Mul", x, model.scale_[None]), model.min_[None])
    return within(g, model, z, model.feature_range)


def within(g: Graph, model: BaseEstimator, z: str, ends: Any) -> str:
    """Clipped where ``clip``; missing cells stay missing."""
    if not getattr(model, "clip", False):
        return z
    low, high = (float(end) for end in ends)
    z = g.choose(g.op("Less", z, low), low, z)
    return g.choose(g.op("Greater", z, high), high, z)


def imputer(g: Graph, model: BaseEstimator, x: str) -> str:
    """Missing cells become the statistic of their column; columns without one are left out."""
    try:
        values = np.asarray(model.statistics_, np.float64)
        marker = float(model.missing_values)
    except (TypeError, ValueError):
        refuse(model, "its table holds words; numbers are converted")
    gaps = g.op("IsNaN", x) if np.isnan(marker) else g.op("Equal", x, marker)
    filled = g.choose(gaps, np.where(np.isnan(values), 0.0, values)[None], x)
    dropped = np.isnan(values) & (not model.keep_empty_features)
    if dropped.any():
        filled = g.take(filled, np.flatnonzero(~dropped))
    if not model.add_indicator:
        return filled
    marks = g.op("Cast", gaps, to=g.onnx.TensorProto.DOUBLE)
    return g.join(filled, g.take(marks, model.indicator_.features_))


def polynomial(g: Graph, model: BaseEstimator, x: str) -> str:
    """Products of columns: every term as long as the longest, filled up with a column of ones."""
    powers = np.asarray(model.powers_)
    p, degree = powers.shape[1], int(powers.sum(axis=1).max(initial=0))
    factors = np.full((len(powers), max(degree, 1)), p, np.int64)
    for i, row in enumerate(powers):
        factors[i, : row.sum()] = np.repeat(np.arange(p), row)
    n = g.op("Shape", x, start=0, end=1)
    one = g.onnx.numpy_helper.from_array(np.ones(1))
    ones = g.op("ConstantOfShape", g.op("Concat", n, np.array([1]), axis=0), value=one)
    wide = g.join(x, ones)
    found = g.take(wide, factors[:, 0])
    for places in factors.T[1:]:
        found = g.op("Mul", found, g.take(wide, places))
    return found


def components(g: Graph, model: BaseEstimator, x: str) -> str:
    """PCA: standardised rows times the projection."""
    A = model._projection
    A = A / model._deviations() if model.whiten else A
    return g.op("MatMul", shifted(g, x, model.mean_, model.scale_), np.ascontiguousarray(A))


def singular(g: Graph, model: BaseEstimator, x: str) -> str:
    """TruncatedSVD: the scores X V'."""
    return g.op("MatMul", x, np.ascontiguousarray(model.components_.T))


def selected(g: Graph, model: BaseEstimator, x: str) -> str:
    """The columns that a selector keeps."""
    return g.take(x, model.get_support(indices=True))


def function(g: Graph, model: BaseEstimator, x: str) -> str:
    """Only the function that changes nothing is data."""
    if model.func is not None:
        refuse(model, f"its function {function_name(model.func)} is code")
    return x


Transform = Callable[[Graph, Any, str], str]
SELECTORS = (
    "DropCollinear",
    "SelectFromModel",
    "SelectKBest",
    "SelectPercentile",
    "SequentialFeatureSelector",
    "VarianceThreshold",
)
TRANSFORMERS: dict[str, Transform] = {
    **{f"pellucid.{name}": selected for name in SELECTORS},
    "pellucid.MaxAbsScaler": largest,
    "pellucid.MinMaxScaler": minmax,
    "pellucid.PCA": components,
    "pellucid.PolynomialFeatures": polynomial,
    "pellucid.RobustScaler": robust,
    "pellucid.SimpleImputer": imputer,
    "pellucid.StandardScaler": standard,
    "pellucid.TruncatedSVD": singular,
    "pellucid.UnitNormScaler": standard,
    "sklearn.feature_selection.VarianceThreshold": selected,
    "sklearn.impute.SimpleImputer": imputer,
    "sklearn.preprocessing.FunctionTransformer": function,
    "sklearn.preprocessing.MaxAbsScaler": largest,
    "sklearn.preprocessing.MinMaxScaler": minmax,
    "sklearn.preprocessing.PolynomialFeatures": polynomial,
    "sklearn.preprocessing.RobustScaler": robust,
    "sklearn.preprocessing.StandardScaler": standard,
}
