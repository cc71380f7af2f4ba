r"""Drop columns that are a linear function of the columns before them.

Gram-Schmidt in column order on the centred columns: with Q an orthonormal basis of those kept so
far,

    z_j = (I - QQ') (x_j - m_j),     drop x_j if |z_j| < tol |x_j - m_j|,

and then x_j = a + sum_k c_k x_k over the kept columns, the relation. A constant column is one of
these (x_j = a). The squares of the residual lengths are the pivots of a Cholesky factor of the
correlations, one pass; only where some pivot is small (its digits are gone by squaring) are the
rows factored themselves (TSQR), and the orthogonalisation, done twice over, runs on their triangle.
O(n p^2 + p^3), memory O(p^2).
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import lapack
from sklearn.utils.validation import check_is_fitted

from pellucid.base import fit_blocks, with_callbacks
from pellucid.core.algebra.least_squares import finite, merge_triangles
from pellucid.core.algebra.linalg import triangle
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, BoolArray, Map
from pellucid.core.loops import statistics
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Moments, Rows, Source, Statistic, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.features.selection.selector import Selector

SAFE_PIVOT = 1e-6  # a squared residual length that Cholesky still knows to ten digits
ROUNDING = 8 * np.finfo(np.float64).eps  # a spread below this share of the size is rounding error


class Collinear(NamedTuple):
    """Which columns are kept, and what the others are."""

    support: Any  # (p,) of bool
    relations: dict[int, dict[Any, float]]


def leaf_moments(rows: Rows) -> Moments:
    """Moments of the columns of one leaf."""
    return statistics.moments(rows.X, rows.w)


def leaf_triangle(mean: Array, norm: Array, rows: Rows) -> Array:
    """R of the centred columns of one leaf, in units of their lengths."""
    Z = (rows.X - mean) / norm
    return triangle(Z if statistics.is_unit(rows.w) else Z * np.sqrt(rows.w)[:, None])


def independent(total: Moments, live: BoolArray, tol: float) -> bool:
    """Whether the correlations alone show that every column is far from the others."""
    norm = np.sqrt(np.diag(total.scatter)[live])
    C = total.scatter[np.ix_(live, live)] / np.outer(norm, norm)
    R, failed = lapack.dpotrf(C)
    return failed == 0 and bool((np.diag(R) ** 2 > max(SAFE_PIVOT, 100 * tol**2)).all())


def drop_collinear(source: Source, map_: Map, total: Moments, tol: float) -> Collinear:
    """Orthogonalise the columns one after the other."""
    p = len(total.mean)
    spread = np.sqrt(np.maximum(np.diag(total.scatter), 0.0))
    live = spread > ROUNDING * np.abs(total.mean) * np.sqrt(total.weight)
    constant = np.flatnonzero(~live).tolist()
    relations = {j: {"intercept": float(total.mean[j])} for j in constant}
    if independent(total, live, tol):
        return Collinear(live, relations)
    norm = np.where(live, spread, 1.0)
    statistic = Statistic(partial(leaf_triangle, total.mean, norm), merge_triangles)
    R = reduce_rows(statistic, source, map_)
    kept: list[int] = []
    Q = np.empty((len(R), 0))
    for j in np.flatnonzero(live):
        z = R[:, j].copy()
        for _ in range(2):  # twice is enough (Kahan)
            z -= Q @ (Q.T @ z)
        length = np.linalg.norm(z)
        if length < tol * np.linalg.norm(R[:, j]):
            relations[int(j)] = relation(R, kept, int(j), total.mean, norm, tol)
        else:
            kept.append(int(j))
            Q = np.column_stack([Q, z / length])
    return Collinear(np.isin(np.arange(p), kept), dict(sorted(relations.items())))


def relation(
    R: Array, kept: list[int], j: int, mean: Array, norm: Array, tol: float
) -> dict[Any, float]:
    """x_j = intercept + sum of coefficient times kept column; those that do not matter are out."""
    c = np.linalg.lstsq(R[:, kept], R[:, j], rcond=None)[0]
    found = {k: v * norm[j] / norm[k] for k, v in zip(kept, c, strict=True) if abs(v) > tol}
    intercept = mean[j] - sum(v * mean[k] for k, v in found.items())
    return {"intercept": float(intercept), **{k: float(v) for k, v in found.items()}}


class DropCollinear(Selector):
    """Drop every column that depends linearly on those before it, and say how.

    Parameters
    ----------
    tol : float, default=1e-7
        A column is dropped if what the others leave of it is shorter than ``tol`` times its
        centred length; below 1.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features,)
        The columns that are kept.
    relations_ : dict
        ``{dropped: {"intercept": a, kept: coefficient, ..}}``.

    Examples
    --------
    >>> from pellucid.features import DropCollinear
    >>> X = [[1.0, 2.0, 1.0], [2.0, 1.0, 4.0], [3.0, 5.0, -3.0], [4.0, 4.0, 0.0]]
    >>> model = DropCollinear().fit(X)
    >>> model.support_
    array([ True,  True, False])
    >>> model.sentences()
    ['x2 = 4 + x0 - 2 x1']
    """

    fit_blocks = fit_blocks

    def __init__(self, tol: float = 1e-7) -> None:
        self.tol = tol

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the columns that depend on those before them."""
        rows = self._check_training(X, None, sample_weight, defer_finite=True)
        context = FitContext(self, X=rows.X, sample_weight=sample_weight)
        self._fit_rows(rows, map_threads)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        check.fraction(tol=self.tol)
        summarise = Statistic(leaf_moments, statistics.merge_moments)
        with np.errstate(all="ignore"):
            total = reduce_rows(summarise, rows, map_)
        if not finite(total):
            if isinstance(rows, Rows):
                self._refuse_nonfinite(rows.X)
            raise ValueError("the squares of X overflow: scale the columns first")
        with single_threaded_blas():
            found = drop_collinear(rows, map_, total, self.tol)
        if not found.support.any():
            one = " (X contains only one sample)" if rows.n_rows == 1 else ""
            raise ValueError(f"every column is constant{one}: nothing would be left")
        self.support_, self.relations_ = found

    def _check_state(self) -> None:
        if hasattr(self, "n_features_in_"):
            mask = self.support_
            if mask.shape != (self.n_features_in_,) or mask.dtype != np.bool_:
                raise ValueError(f"support_ must be {self.n_features_in_} truth values")

    def _get_support_mask(self) -> Any:
        return self.support_

    def sentences(self) -> list[str]:
        """The relations as equations, one per dropped column."""
        check_is_fitted(self)
        names = self._feature_names()
        return [equation(names, j, terms) for j, terms in self.relations_.items()]

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        found = self.sentences()
        listed = "; ".join(found[:10]) + (f"; and {len(found) - 10} more" * (len(found) > 10))
        dropped = f"dropped: {listed}" if found else "none depends on the others"
        return Card(
            f"the columns that are kept, unchanged; {dropped}",
            f"residual length of a dropped column < {self.tol:g} of its centred length",
            "Gram-Schmidt in column order, on the triangle of the rows where needed",
            {"columns": self.n_features_in_, "kept": int(self.support_.sum())},
        )


def equation(names: tuple[str, ...], j: int, terms: dict[Any, float]) -> str:
    """A relation as text.

    >>> equation(("a", "b", "c"), 2, {"intercept": 4.0, 0: 1.0, 1: -2.0})
    'c = 4 + a - 2 b'
    """
    size = max(abs(value) for value in terms.values())
    text = ""
    for key, value in terms.items():
        constant = key == "intercept"
        if constant and len(terms) > 1 and abs(value) <= 1e-9 * size:
            continue
        number = f"{abs(value):.6g}"
        word = number if constant else names[key] if number == "1" else f"{number} {names[key]}"
        sign = "- " if value < 0 else "+ "
        text += (f" {sign}" if text else sign.strip("+ ")) + word
    return f"{names[j]} = {text}"
