r"""Gaussian bumps: h_k(x) = exp(-(x - b_k)^2 / (2 c^2)) around centres b_k.

A linear model in them is a radial basis function network with fixed centres. The width c decides
how far a centre reaches; the mean spacing of the centres lets neighbours overlap.    O(n K)
"""

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.compiled.counts.bases import bump_exponents
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.features.bases.basis import ColumnBasis
from pellucid.features.bases.knots import place_knots


class GaussianBasis(ColumnBasis):
    """Gaussian bumps around centres of every column.

    Parameters
    ----------
    centers : int or array of shape (K,) or (K, n_features), default=10
        A number stands for quantiles of each column, its smallest and largest value among them.
    width : float or None, default=None
        The c of the formula; None takes the mean spacing of the centres of each column (1 where
        there is only one centre).
    include_bias : bool, default=False
        A column of ones first; False leaves the constant to the regressor.

    Attributes
    ----------
    centers_ : list of ndarray
        The distinct centres of each column.
    widths_ : ndarray of shape (n_features,)
    df_ : int
        Functions, the constant counted.

    Examples
    --------
    >>> from pellucid.features import GaussianBasis
    >>> GaussianBasis([0.0], width=1).fit([[0.0], [1.0]]).transform([[1.0]]).round(8)
    array([[0.60653066]])
    """

    def __init__(
        self,
        centers: int | ArrayLike = 10,
        *,
        width: float | None = None,
        include_bias: bool = False,
    ) -> None:
        self.centers = centers
        self.width = width
        self.include_bias = include_bias

    def _place(self, rows: Rows) -> None:
        if self.width is not None:
            check.positive(width=self.width)
        names = self._feature_names()
        self.centers_ = place_knots(self.centers, rows, names, word="centers", ends=True)
        if self.width is not None:
            self.widths_ = np.full(len(names), float(self.width))
        else:
            self.widths_ = np.array([mean_spacing(b) for b in self.centers_])

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"widths_": (self.n_features_in_,)}

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "n_features_in_"):
            self._check_knots("centers_")

    def _sizes(self) -> list[int]:
        return [len(b) for b in self.centers_]

    def _write(self, X: Array, j: int, out: Array, first: int) -> None:
        factor = 1.0 / (self.widths_[j] * np.sqrt(2.0))
        bump_exponents(X, j, self.centers_[j], factor, out, first)
        part = out[:, first : first + len(self.centers_[j])]
        np.exp(part, out=part)

    def _labels(self, j: int, name: str) -> list[str]:
        return [f"{name}_bump_{k}" for k in range(len(self.centers_[j]))]

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        width = "mean spacing of the centres" if self.width is None else "given"
        centres = "centres: quantiles of the training rows; " * (np.ndim(self.centers) == 0)
        numbers = {"inputs": self.n_features_in_, "centres": sum(self._sizes())}
        return Card(
            "exp(-(x - b)^2 / (2 c^2)) around the centres b of every column",
            "none: the columns are fixed functions of the inputs",
            f"{centres}width: {width}",
            {**numbers, "mean width": float(self.widths_.mean())},
        )


def mean_spacing(centers: Array) -> float:
    """(largest - smallest) / (K - 1), or 1 for a single centre.

    >>> mean_spacing(np.array([0.0, 1.0, 4.0]))
    2.0
    """
    K = len(centers)
    return float((centers[-1] - centers[0]) / (K - 1)) if K > 1 else 1.0
