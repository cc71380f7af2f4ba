r"""Polynomial features: all monomials of the columns up to a degree.

    1, x_1, .., x_p, x_1^2, x_1 x_2, .., x_p^k        C(p + k, k) terms

Each is an earlier one times a column (``polynomial_kernels.py``), so a cell costs one product and
the answer is written once: O(n C(p + k, k)), bounded by the memory bus. K classes lined up along
a direction need degree K - 1 before indicator regression stops masking the middle ones.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.features.bases import polynomial_kernels as kernels
from pellucid.features.scaling.kernels import writeable

MOST_CELLS = 10**9
ROWS = 256  # of a chunk: the chunk of X stays in cache while its terms are written
STRIP = 2048  # rows of a chunk written by columns: long runs, and earlier terms still in cache


class PolynomialFeatures(Transformer):
    """All products of the columns up to a degree.

    Parameters
    ----------
    degree : int or tuple (low, high), default=2
        The largest degree, or the smallest and the largest: (2, 2) is homogeneous.
    interaction_only : bool, default=False
        Products of distinct columns only.
    include_bias : bool, default=True
        A column of ones first.
    order : {"C", "F"}, default="C"
        Memory order of a dense answer.
    powers_only : bool, default=False
        1, x, x^2, .. without products: the first powers of all columns, then the squares, ..
    arrangement : {"degree", "powers_first"}, default="degree"
        Within a degree in the order of the columns (x1^2, x1 x2, x2^2), or pure powers before
        products (x1^2, x2^2, x1 x2).

    Attributes
    ----------
    powers_ : ndarray of shape (n_output_features_, n_features_in_)
        The exponent of each input in each output.
    n_output_features_ : int

    Examples
    --------
    >>> from pellucid.features import PolynomialFeatures
    >>> model = PolynomialFeatures(2).fit([[2.0, 3.0]])
    >>> model.transform([[2.0, 3.0]])
    array([[1., 2., 3., 4., 6., 9.]])
    >>> list(model.get_feature_names_out(["a", "b"]))
    ['1', 'a', 'b', 'a^2', 'a b', 'b^2']
    """

    _accepts_sparse = True

    def __init__(
        self,
        degree: int | tuple[int, int] = 2,
        *,
        interaction_only: bool = False,
        include_bias: bool = True,
        order: str = "C",
        powers_only: bool = False,
        arrangement: str = "degree",
    ) -> None:
        self.degree = degree
        self.interaction_only = interaction_only
        self.include_bias = include_bias
        self.order = order
        self.powers_only = powers_only
        self.arrangement = arrangement

    def _check_parameters(self) -> None:
        check.boolean(include_bias=self.include_bias, **self._flags())
        check.one_of(("C", "F"), order=self.order)
        check.one_of(("degree", "powers_first"), arrangement=self.arrangement)
        if self.interaction_only and self.powers_only:
            raise ValueError("interaction_only and powers_only exclude each other, got both True")
        if self._degrees()[1] == 0 and not self.include_bias:
            zero = "Setting degree to zero and include_bias to False"
            if not isinstance(self.degree, Integral):
                zero = "Setting both min_degree and max_degree to zero and include_bias to False"
            raise ValueError(f"{zero} would result in an empty output array.")

    def _degrees(self) -> tuple[int, int]:
        given = self.degree
        if isinstance(given, Integral) and not isinstance(given, bool) and given >= 0:
            return 0, int(given)
        if isinstance(given, Iterable) and not isinstance(given, str):
            ends = tuple(given)
            whole = all(isinstance(d, Integral) and not isinstance(d, bool) for d in ends)
            if len(ends) == 2 and whole and 0 <= ends[0] <= ends[1]:
                return int(ends[0]), int(ends[1])
        if np.shape(given) != (2,):
            need = "a non-negative int or tuple (min_degree, max_degree)"
            raise ValueError(f"degree must be {need}, got {given!r}")
        need = "be non-negative integers that fulfil min_degree <= max_degree"
        raise ValueError(f"degree=(min_degree, max_degree) must {need}, got {given!r}")

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Count the products of the columns of X."""
        self._check_parameters()
        X = self._check_training(X).X
        context = FitContext(self, X=X)
        self.n_output_features_ = self._n_terms()
        if self.n_output_features_ > MOST_CELLS:
            raise ValueError(kernels.too_large(self.n_output_features_, "features", MOST_CELLS))
        context.end()
        return self

    def _flags(self) -> dict[str, bool]:
        return {"interaction_only": self.interaction_only, "powers_only": self.powers_only}

    def _n_terms(self) -> int:
        terms = kernels.count_terms(self.n_features_in_, *self._degrees(), **self._flags())
        return terms + self.include_bias

    def transform(self, X: Any) -> Any:
        """All wanted products of the columns of X, sparse if X is."""
        check_is_fitted(self)
        X = self._check_input(X)
        plan = kernels.make_plan(self.n_features_in_, self._degrees()[1], **self._flags())
        keep = self._wanted(plan)
        if issparse(X):
            return self._sparse(X, plan, keep)
        cells = len(X) * len(keep)
        if cells > MOST_CELLS:
            what = f"cells ({len(X):,} x {len(keep):,})"
            raise ValueError(kernels.too_large(cells, what, MOST_CELLS))
        return self._by_columns(X, plan, keep) if self.order == "F" else by_rows(X, plan, keep)

    def _wanted(self, plan: kernels.Plan) -> IntArray:
        """The place, among all monomials degree by degree, of each output column."""
        low = max(self._degrees()[0], 1)
        keep = np.arange(plan.starts[min(low, len(plan.starts) - 1)], plan.starts[-1])
        if self.arrangement == "powers_first" and not self.powers_only:
            degree = np.repeat(np.arange(len(plan.starts) - 1), np.diff(plan.starts))
            pure = np.array([not term or term[0] == term[-1] for term in self._terms()])
            order = np.lexsort((np.arange(len(degree)), ~pure | (degree == 0), degree))
            keep = order[degree[order] >= low]
        return np.append(0, keep) if self.include_bias else keep

    def _by_columns(self, X: Array, plan: kernels.Plan, keep: IntArray) -> Array:
        width = int(plan.starts[-1])
        place = np.full(width, -1)
        place[keep] = np.arange(len(keep))
        columns = np.empty((len(keep), len(X)))

        def work(start: int) -> None:
            chunk = writeable(X[start : start + STRIP])
            kernels.column_monomials(chunk, plan.runs, width, place, start, columns)

        list(map_threads(work, range(0, len(X), STRIP)))
        return columns.T

    def _sparse(self, X: Any, plan: kernels.Plan, keep: IntArray) -> Any:
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        place = np.full(int(plan.starts[-1]), -1)
        place[keep] = np.arange(len(keep))
        csr = X.indptr.astype(np.int64), X.indices.astype(np.int64), writeable(X.data)
        options: dict[str, Any] = {
            "low": self._degrees()[0],
            "bias": self.include_bias,
            **self._flags(),
        }
        found = kernels.sparse_polynomial(
            csr, self.n_features_in_, plan.starts, place, most=MOST_CELLS, **options
        )
        out = type(X)(tuple(found), shape=(X.shape[0], len(keep)))
        if self.arrangement == "degree":
            out.has_sorted_indices = True  # by construction
        out.sort_indices()
        return out

    def _terms(self) -> Iterator[tuple[int, ...]]:
        """The columns of all monomials, degree by degree, the constant first."""
        p, high = self.n_features_in_, self._degrees()[1]
        yield ()
        for d in range(1, high + 1):
            if self.powers_only:
                yield from ((j,) * d for j in range(p))
            elif self.interaction_only:
                yield from combinations(range(p), d)
            else:
                yield from combinations_with_replacement(range(p), d)

    def _wanted_terms(self) -> list[tuple[int, ...]]:
        plan = kernels.make_plan(self.n_features_in_, self._degrees()[1], **self._flags())
        terms = list(self._terms())
        return [terms[j] for j in self._wanted(plan).tolist()]

    @property
    def powers_(self) -> IntArray:
        check_is_fitted(self)
        terms = self._wanted_terms()
        powers = np.zeros((len(terms), self.n_features_in_), dtype=np.intp)
        for row, term in zip(powers, terms, strict=True):
            np.add.at(row, list(term), 1)
        return powers

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The monomials: ``a^2``, ``a b``."""
        names = self._names_in(input_features)
        return np.array([monomial_name(term, names) for term in self._wanted_terms()], dtype=object)

    def _check_state(self) -> None:
        super()._check_state()
        if hasattr(self, "n_features_in_") and self._n_terms() != self.n_output_features_:
            raise ValueError("n_output_features_ is not what degree and n_features_in_ make")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        low, high = self._degrees()
        kind = "powers" if self.powers_only else "monomials"
        kind = "products of distinct columns" if self.interaction_only else kind
        bias = ", and 1" if self.include_bias else ""
        return Card(
            f"all {kind} of the columns of degree {max(low, 1)} to {high}{bias}",
            "none: the columns are fixed functions of the inputs",
            "each output is an earlier output times one input",
            {"inputs": self.n_features_in_, "outputs": self.n_output_features_},
        )


def by_rows(X: Array, plan: kernels.Plan, keep: IntArray) -> Array:
    """The wanted monomials of every row, C-contiguous."""
    width = int(plan.starts[-1])
    out = np.empty((len(X), len(keep)))
    everything = len(keep) == width and bool((keep == np.arange(width)).all())

    def work(start: int) -> None:
        rows = slice(start, start + ROWS)
        chunk = writeable(X[rows])
        if everything:
            kernels.monomials(chunk, plan.runs, out[rows])
        else:
            kernels.chosen_monomials(chunk, plan.runs, width, keep, out[rows])

    list(map_threads(work, range(0, len(X), ROWS)))
    return out


def monomial_name(term: Sequence[int], names: Sequence[str]) -> str:
    """The name of the product of these columns.

    >>> monomial_name([0, 0, 1], ["a", "b"])
    'a^2 b'
    """
    used = Counter(term).items()
    return " ".join(str(names[j]) if d == 1 else f"{names[j]}^{d}" for j, d in used) or "1"
