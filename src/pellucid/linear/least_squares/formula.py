"""A formula instead of a table: ``y ~ ns(x, 4) + C(g) * z``.

The columns are made by formulaic (extra ``formula``) and remembered, so that new rows get the same
ones: knots, levels and centres come from the training rows. ``ns(x, df)`` is our natural spline
with ``df`` columns besides the constant. What comes back is a scikit-learn pipeline of the design
and one of our estimators: ``model[-1].summary()`` has the names of the formula's terms.
"""

from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer
from pellucid.core.arrays.frames import is_frame
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.records import Card
from pellucid.features.bases.natural_spline import NaturalSplineBasis
from pellucid.linear.least_squares.least_squares import LinearRegression


def formulaic_module() -> Any:
    try:
        import formulaic
    except ImportError:
        raise ImportError('formulas need formulaic: pip install "pellucid[formula]"') from None
    return formulaic


def to_pandas(frame: Any) -> Any:
    """The frame formulaic reads."""
    if not is_frame(frame):
        raise TypeError(f"a formula needs a frame with named columns, got {type(frame).__name__}")
    return nw.from_native(frame, eager_only=True).to_pandas()


def spline_terms() -> dict[str, Any]:
    """What a formula may call besides formulaic's own transforms."""
    from formulaic.transforms import stateful_transform

    @stateful_transform
    def ns(x: ArrayLike, df: int = 4, _state: Any = None) -> dict[int, Any]:
        x = np.asarray(x, dtype=np.float64)[:, None]
        if "basis" not in _state:
            _state["basis"] = NaturalSplineBasis(df + 1).fit(x)
        columns = _state["basis"].transform(x)
        return {j + 1: columns[:, j] for j in range(columns.shape[1])}

    return {"ns": ns}


class FormulaDesign(Transformer):
    """The right-hand side of a formula as columns, without the constant.

    Parameters
    ----------
    formula : str
        The terms, such as ``x + C(g)``.

    Examples
    --------
    >>> import pandas as pd
    >>> from pellucid.linear.least_squares.formula import FormulaDesign
    >>> FormulaDesign("x + C(g)").fit_transform(pd.DataFrame({"x": [1.0, 2.0], "g": ["a", "b"]}))
    array([[1., 0.],
           [2., 1.]])
    """

    def __init__(self, formula: str) -> None:
        self.formula = formula

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        make, frame = formulaic_module().model_matrix, to_pandas(X)
        matrix = make(self.formula, frame, context=spline_terms(), na_action="raise")
        self.spec_ = matrix.model_spec
        self.intercept_ = "Intercept" in matrix.columns
        self.terms_ = tuple(name for name in matrix.columns if name != "Intercept")
        self.feature_names_in_ = np.asarray(list(map(str, frame.columns)), dtype=object)
        self.n_features_in_ = frame.shape[1]
        return self

    def transform(self, X: ArrayLike) -> Any:
        check_is_fitted(self, "spec_")
        how = {"context": spline_terms(), "na_action": "raise"}
        matrix = self.spec_.get_model_matrix(to_pandas(X), **how)
        return np.asarray(matrix[list(self.terms_)], dtype=np.float64)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        return np.asarray(self.terms_, dtype=object)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        return Card(
            representation=f"{len(self.terms_)} columns of the formula {self.formula}",
            evaluation="nothing is minimised: levels and knots are those of the training rows",
            optimisation="formulaic builds the columns",
            numbers={"columns": len(self.terms_)},
        )


def from_formula(
    formula: str,
    frame: Any,
    estimator: BaseEstimator = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> Pipeline:
    """Fit an estimator to the terms of a formula; least squares by default.

    ``formula`` is ``target ~ terms``: ``+ : * ** -1``, ``C(g)`` for categories, ``poly``, ``bs``
    and the other transforms of formulaic, NumPy functions as ``np.log(x)``, and ``ns(x, df)``.
    Without a constant (``- 1``) the estimator is fitted without an intercept. ``frame`` holds the
    columns, ``estimator`` is cloned and fitted with ``sample_weight`` where that is given.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"y": [1.0, 3.0, 2.0, 4.0], "x": [0.0, 1.0, 0.0, 1.0],
    ...                       "g": ["a", "a", "b", "b"]})
    >>> model = from_formula("y ~ x + C(g)", frame)
    >>> model[-1].summary().names
    ('intercept', 'x', 'C(g)[T.b]')
    >>> model.predict(frame).round(6)
    array([1., 3., 2., 4.])
    """
    left, tilde, right = formula.partition("~")
    if not tilde or not left.strip() or not right.strip():
        raise ValueError(f"a formula is 'target ~ terms', got {formula!r}")
    make = formulaic_module().model_matrix
    target = make(f"{left.strip()} - 1", to_pandas(frame), na_action="raise")
    y = np.asarray(target, dtype=np.float64)
    design = FormulaDesign(right.strip()).set_output(transform="pandas").fit(frame)
    model = LinearRegression() if estimator is None else clone(estimator)
    if not design.intercept_:
        model.set_params(fit_intercept=False)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    model.fit(design.transform(frame), y[:, 0] if y.shape[1] == 1 else y, **weights)
    return Pipeline([("design", design), ("model", model)])
