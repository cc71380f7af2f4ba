r"""Natural cubic splines: cubic between the knots, straight beyond both ends.

With knots k_1 < .. < k_K the K functions are

    1,  x,  d_k(x) - d_{K-1}(x)   (k = 1 .. K - 2),
    d_k(x) = ((x - k_k)_+^3 - (x - k_K)_+^3) / (k_K - k_k).

The two conditions at each end (second and third derivative 0) free four functions of a cubic
spline, which can buy inner knots; the variance of the fit near the ends is lower. Beyond k_K the
cubes cancel, so the straight line is evaluated as one. K < 3 leaves 1 and x.    O(n K)

References: ESL, section 5.2.1.
"""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.compiled.counts.bases import natural_splines, shifted_power
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.features.bases.basis import ColumnBasis
from pellucid.features.bases.knots import place_knots


class NaturalSplineBasis(ColumnBasis):
    """The natural cubic spline functions of every column.

    Parameters
    ----------
    knots : int or array of shape (K,) or (K, n_features), default=5
        A number stands for the smallest value, the largest, and quantiles between them.
    include_bias : bool, default=False
        A column of ones first; False leaves the constant to the regressor.

    Attributes
    ----------
    knots_ : list of ndarray
        The distinct knots of each column.
    df_ : int
        Functions, the constant counted: K for one column.

    Examples
    --------
    >>> from pellucid.features import NaturalSplineBasis
    >>> basis = NaturalSplineBasis([1.0, 2.0, 3.0]).fit([[1.0], [3.0]])
    >>> basis.transform([[1.5], [2.0], [4.0]])
    array([[1.5   , 0.0625],
           [2.    , 0.5   ],
           [4.    , 6.    ]])
    """

    def __init__(self, knots: int | ArrayLike = 5, *, include_bias: bool = False) -> None:
        self.knots = knots
        self.include_bias = include_bias

    def _place(self, rows: Rows) -> None:
        names = self._feature_names()
        self.knots_ = place_knots(self.knots, rows, names, word="knots", ends=True)

    def _check_state(self) -> None:
        if hasattr(self, "n_features_in_"):
            self._check_knots("knots_")

    def _sizes(self) -> list[int]:
        return [1 + max(len(k) - 2, 0) for k in self.knots_]

    def _write(self, X: Array, j: int, out: Array, first: int) -> None:
        natural_splines(X, j, self.knots_[j], out, first)

    def _labels(self, j: int, name: str) -> list[str]:
        return [name, *(f"{name}_ns_{k}" for k in range(1, self._sizes()[j]))]

    def region_coefficients(
        self, coef: ArrayLike, intercept: ArrayLike = 0.0, column: int = 0
    ) -> Array:
        """The polynomial of each region, ascending powers: (K + 1, 4).

        ``coef`` are the coefficients of all output columns of this basis; ``column`` says of
        which input. The first and the last region are straight lines exactly.
        """
        mine, knots = self._part(coef, column), self.knots_[column]
        pieces = np.zeros((len(knots) + 1, 4))
        pieces[:, 0] = self._constant(coef, intercept)
        pieces[:, 1] += mine[0]
        if len(knots) < 3:
            return pieces
        last, before = knots[-1], knots[-2]
        cube = shifted_power(before, 3, 3) / (last - before)
        for k, g in enumerate(mine[1:]):
            a = knots[k]
            pieces[k + 1 : -1] += g * shifted_power(a, 3, 3) / (last - a)
            pieces[-2] -= g * cube
            slope = 3.0 * (before - a)
            level = (before - a) * ((last - a) + (last - before) - 3.0 * last)
            pieces[-1, :2] += g * np.array([level, slope])
        return pieces

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        rule = "quantiles of the training rows" if np.ndim(self.knots) == 0 else "given"
        knots = sum(len(k) for k in self.knots_)
        return Card(
            "natural cubic splines of every column, straight beyond the end knots",
            "none: the columns are fixed functions of the inputs",
            f"knots: {rule}",
            {"inputs": self.n_features_in_, "knots": knots, "df": self.df_},
        )
