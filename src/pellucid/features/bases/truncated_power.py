r"""Piecewise polynomials in the truncated power basis.

    f(x) = sum_{j=0}^{d} b_j x^j + sum_k sum_{j=c+1}^{d} g_kj (x - k)_+^j

with (u)_+^j = u^j for u >= 0 and 0 below. The pieces agree at the knots up to derivative c:
c = d - 1 is a spline of order M = d + 1 (linear, cubic), c = 0 is only continuous, c = -1 leaves
the pieces separate on [k_l, k_{l+1}). With the constant d + 1 + K (d - c) functions: a cubic
spline with K knots has K + 4. Easy to read but ill conditioned for many knots: SplineTransformer
spans the same functions.    O(n (d + K (d - c))), one write.

References: ESL, section 5.2.
"""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.compiled.counts.bases import shifted_power, truncated_powers
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.features.bases.basis import ColumnBasis
from pellucid.features.bases.knots import place_knots


class TruncatedPowerBasis(ColumnBasis):
    """Powers of every column, and powers that start at its knots.

    Parameters
    ----------
    knots : int or array of shape (K,) or (K, n_features), default=3
        A number stands for the inner quantiles 1/(K+1) .. K/(K+1) of each column.
    degree : int, default=3
        Degree d of the pieces.
    continuity : int or None, default=None
        Derivatives on which the pieces agree: -1 none, not even the value; 0 the value; None the
        first d - 1, a spline.
    include_bias : bool, default=False
        A column of ones first; False leaves the constant to the regressor.

    Attributes
    ----------
    knots_ : list of ndarray
        The distinct knots of each column.
    df_ : int
        Functions, the constant counted: ``d + 1 + K (d - continuity)`` for one column.

    Examples
    --------
    >>> from pellucid.features import TruncatedPowerBasis
    >>> basis = TruncatedPowerBasis([1.0], degree=1).fit([[0.0], [1.0], [3.0]])
    >>> basis.transform([[0.0], [1.0], [3.0]])
    array([[0., 0.],
           [1., 0.],
           [3., 2.]])
    >>> basis.region_coefficients([1.0, 2.0], intercept=5.0)
    array([[5., 1.],
           [3., 3.]])
    """

    def __init__(
        self,
        knots: int | ArrayLike = 3,
        *,
        degree: int = 3,
        continuity: int | None = None,
        include_bias: bool = False,
    ) -> None:
        self.knots = knots
        self.degree = degree
        self.continuity = continuity
        self.include_bias = include_bias

    def _agree(self) -> int:
        return self.degree - 1 if self.continuity is None else int(self.continuity)

    def _check_parameters(self) -> None:
        check.whole(degree=self.degree, at_least=0)
        if self.continuity is not None:
            check.whole(continuity=self.continuity, at_least=-1)
            if self.continuity >= self.degree:
                need = f"below degree={self.degree} (else the knots do nothing)"
                raise ValueError(f"continuity must be {need}, got {self.continuity}")

    def _place(self, rows: Rows) -> None:
        self._check_parameters()
        names = self._feature_names()
        self.knots_ = place_knots(self.knots, rows, names, word="knots", ends=False)

    def _check_state(self) -> None:
        if hasattr(self, "n_features_in_"):
            self._check_parameters()
            self._check_knots("knots_")

    def _sizes(self) -> list[int]:
        return [self.degree + len(k) * (self.degree - self._agree()) for k in self.knots_]

    def _write(self, X: Array, j: int, out: Array, first: int) -> None:
        truncated_powers(X, j, self.knots_[j], self.degree, self._agree(), out, first)

    def _labels(self, j: int, name: str) -> list[str]:
        powers = [power_name(name, d) for d in range(1, self.degree + 1)]
        starts = range(self._agree() + 1, self.degree + 1)
        return powers + [
            f"[{name} >= {k:g}]" if d == 0 else power_name(f"({name} - {k:g})_+", d)
            for k in self.knots_[j]
            for d in starts
        ]

    def region_coefficients(
        self, coef: ArrayLike, intercept: ArrayLike = 0.0, column: int = 0
    ) -> Array:
        """The polynomial of each region, ascending powers: (regions, degree + 1).

        ``coef`` are the coefficients of all output columns of this basis, as a linear model
        behind it has them; ``column`` says of which input. Regions go from left to right.
        """
        mine, knots, d = self._part(coef, column), self.knots_[column], self.degree
        pieces = np.zeros((len(knots) + 1, d + 1))
        pieces[:, 0] = self._constant(coef, intercept)
        pieces[:, 1:] += mine[:d]
        at = d
        for k, knot in enumerate(knots):
            for j in range(self._agree() + 1, d + 1):
                pieces[k + 1 :] += mine[at] * shifted_power(knot, j, d)
                at += 1
        return pieces

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        c = self._agree()
        joint = "separate pieces" if c < 0 else f"pieces that agree up to derivative {c}"
        rule = "quantiles of the training rows" if np.ndim(self.knots) == 0 else "given"
        knots = sum(len(k) for k in self.knots_)
        return Card(
            f"polynomials of degree {self.degree} between the knots, {joint}",
            "none: the columns are fixed functions of the inputs",
            f"knots: {rule}",
            {"inputs": self.n_features_in_, "knots": knots, "df": self.df_},
        )


def power_name(name: str, d: int) -> str:
    """The name of a power.

    >>> power_name("x", 1), power_name("x", 3)
    ('x', 'x^3')
    """
    return name if d == 1 else f"{name}^{d}"
