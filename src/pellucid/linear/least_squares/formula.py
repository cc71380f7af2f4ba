"""A formula instead of a table: ``y ~ ns(x, 4) + C(g) * z``.

The formula is read by a language of our own (``features.formulas``), which has a fixed set of
functions and runs no Python: a formula from a stranger can do no more than make columns. Knots,
levels and centres come from the training rows and are saved with the model. ``ns(x, df)`` is our
natural spline with ``df`` columns besides the constant. What comes back is a scikit-learn pipeline
of the design and one of our estimators: ``model[-1].summary()`` has the names of the terms.
"""

from typing import Any, Self

import narwhals.stable.v1 as nw
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.records import Card
from pellucid.features.formulas.design import Rows, make_design
from pellucid.features.formulas.language import read_formula
from pellucid.features.formulas.states import check_states
from pellucid.features.formulas.terms import used_columns
from pellucid.linear.least_squares.least_squares import LinearRegression


class FormulaDesign(Transformer):
    """The right-hand side of a formula as columns, without the constant.

    Parameters
    ----------
    formula : str
        The terms, such as ``x + C(g)``; the dot stands for every column.

    Attributes
    ----------
    terms_ : tuple of str
        Names of the columns, without the constant.
    intercept_ : bool
        Whether the formula has a constant.
    states_ : dict
        What each function learned from the training rows: levels, knots, centres.

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
        """Find the columns, and what the functions learn from these rows."""
        if not isinstance(self.formula, str):
            raise TypeError(f"formula must be text, got {type(self.formula).__name__}")
        rows = Rows(X, {}, training=True)
        design = make_design(self.formula, rows, rows.names)
        self.states_ = rows.states
        self.intercept_ = design.constant
        self.terms_ = design.names
        self.feature_names_in_ = np.asarray(rows.names, dtype=object)
        self.n_features_in_ = len(rows.names)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """The columns of the formula for these rows."""
        check_is_fitted(self, "terms_")
        rows = Rows(X, self.states_, training=False)
        design = make_design(self.formula, rows, list(self.feature_names_in_))
        if design.names != tuple(self.terms_):
            raise ValueError("the formula is not the one this design was fitted with")
        return design.matrix

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The names of the columns."""
        check_is_fitted(self, "terms_")
        return np.asarray(self.terms_, dtype=object)

    def _check_state(self) -> None:
        """Called on a model from a file: the states must be those of the formula's functions."""
        if hasattr(self, "terms_"):
            check_states(self.formula, self.states_, self.feature_names_in_)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self, "terms_")
        return Card(
            representation=f"{len(self.terms_)} columns of the formula {self.formula}",
            evaluation="nothing is minimised: levels and knots are those of the training rows",
            optimisation="the terms are multiplied out and coded so that none repeats another",
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

    ``formula`` is ``target ~ terms``: ``+ : * / ** -1`` and ``.``, ``C(g)`` for categories,
    ``I(x / z)`` for arithmetic, ``poly``, ``bs``, ``ns``, ``center``, ``scale``, and ``log``,
    ``exp``, ``sqrt`` and more of each cell. It runs no Python. Without a constant (``- 1``) the
    estimator is fitted without an intercept. ``frame`` holds the columns, ``estimator`` is cloned
    and fitted with ``sample_weight`` where that is given.

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
    rows = Rows(frame, {}, training=True)
    target = make_design(f"{left.strip()} - 1", rows, [])
    if "." in right:  # the dot means the columns that the target does not use
        frame = _without(frame, used_columns(read_formula(left)))
    design = FormulaDesign(right.strip()).set_output(transform=_library(frame)).fit(frame)
    model = LinearRegression() if estimator is None else clone(estimator)
    if not design.intercept_:
        model.set_params(fit_intercept=False)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    y = target.matrix[:, 0] if target.matrix.shape[1] == 1 else target.matrix
    model.fit(design.transform(frame), y, **weights)
    return Pipeline([("design", design), ("model", model)])


def _without(frame: Any, names: set[str]) -> Any:
    table = nw.from_native(frame, eager_only=True)
    return table.select([name for name in table.columns if str(name) not in names]).to_native()


def _library(frame: Any) -> str:
    """The frames that the model is fitted on carry names, in the user's own library if they can."""
    return "pandas" if nw.from_native(frame).implementation.is_pandas() else "polars"
