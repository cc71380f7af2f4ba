r"""B-spline features: each column becomes the values of n B-splines at it.

A model that is linear in them is a spline of degree k, the span of the truncated power basis on
the same knots, but well conditioned: each function lives on k + 1 intervals only. It is the
advice wherever a global polynomial of high degree would swing. The knots beyond the ends repeat
the spacing there (Eilers & Marx 1996). O(n p k^2), one write of the answer; see ``b_splines.py``.
"""

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.quantiles import column_quantiles
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.features.bases import b_splines
from pellucid.features.bases.knots import column_spans
from pellucid.features.scaling.kernels import writeable

ROWS = 512  # of a chunk


class SplineTransformer(Transformer):
    """B-spline values of every column.

    Parameters
    ----------
    n_knots : int, default=5
        Knots from the smallest to the largest value, both counted; at least 2.
    degree : int, default=3
        Degree of the pieces between the knots; 3 is cubic.
    knots : {"uniform", "quantile"} or array of shape (n_knots, n_features), default="uniform"
        Evenly spaced, at quantiles of each column, or these.
    extrapolation : {"error", "constant", "linear", "continue", "periodic"}, default="constant"
        What happens beyond the first and the last knot.
    include_bias : bool, default=True
        The functions of a column sum to 1; False leaves out the last one of each.
    order : {"C", "F"}, default="C"
        Memory order of a dense answer.
    handle_missing : {"error", "zeros"}, default="error"
        NaN is refused, or all functions are 0 there.
    sparse_output : bool, default=False
        CSR matrix instead of an array.

    Attributes
    ----------
    bsplines_ : list of scipy.interpolate.BSpline, one per column
    knots_ : ndarray of shape (n_knots, n_features)
    n_features_out_ : int

    Notes
    -----
    With ``sample_weight`` the quantiles are those of repeated rows.

    Examples
    --------
    >>> from pellucid.features import SplineTransformer
    >>> SplineTransformer(n_knots=3, degree=1).fit_transform([[0.0], [0.5], [2.0]])
    array([[1. , 0. , 0. ],
           [0.5, 0.5, 0. ],
           [0. , 0. , 1. ]])
    """

    def __init__(
        self,
        n_knots: int = 5,
        degree: int = 3,
        *,
        knots: str | ArrayLike = "uniform",
        extrapolation: str = "constant",
        include_bias: bool = True,
        order: str = "C",
        handle_missing: str = "error",
        sparse_output: bool = False,
    ) -> None:
        self.n_knots = n_knots
        self.degree = degree
        self.knots = knots
        self.extrapolation = extrapolation
        self.include_bias = include_bias
        self.order = order
        self.handle_missing = handle_missing
        self.sparse_output = sparse_output

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return self.handle_missing == "zeros"

    def _check_parameters(self) -> None:
        check.whole(n_knots=self.n_knots, at_least=2)
        check.whole(degree=self.degree, at_least=0)
        check.one_of(b_splines.MODES, extrapolation=self.extrapolation)
        check.boolean(include_bias=self.include_bias, sparse_output=self.sparse_output)
        check.one_of(("C", "F"), order=self.order)
        check.one_of(("error", "zeros"), handle_missing=self.handle_missing)
        if isinstance(self.knots, str):
            check.one_of(("uniform", "quantile"), knots=self.knots)

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Place the knots of every column of X."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        context = FitContext(self, X=rows.X, sample_weight=sample_weight)
        base = self._place(rows)
        periodic = self.extrapolation == "periodic"
        if periodic and len(base) <= self.degree:
            got = f"got degree={self.degree} and n_knots={len(base)}"
            raise ValueError(f"periodic splines need degree < n_knots, {got}")
        self.knots_ = base
        self._extended = b_splines.extend_knots(base, self.degree, periodic=periodic)
        self.n_features_out_ = rows.X.shape[1] * self._kept()
        context.end()
        return self

    def _place(self, rows: Rows) -> Array:
        """The knots of every column, (n_knots, p)."""
        if not isinstance(self.knots, str):
            return self._given()
        low, high = column_spans(rows)
        if self.knots == "uniform":
            base = np.linspace(low, high, self.n_knots)
        else:
            shares = np.linspace(0.0, 1.0, self.n_knots)
            base = np.nan_to_num(column_quantiles(rows.X, shares, rows.w))
        flat = np.flatnonzero(low == high)
        if len(flat):
            name = self._column_name(int(flat[0]))
            warn(f"{name} has one distinct value: its knots coincide ({len(flat)} such columns)")
        return base

    def _given(self) -> Array:
        base = check_array(self.knots, dtype=np.float64)
        if len(base) < 2 or base.shape[1] != self.n_features_in_:
            need = f"at least 2 rows and {self.n_features_in_} columns (one per column of X)"
            raise ValueError(f"knots must have {need}, got shape {base.shape}")
        if not (np.diff(base, axis=0) > 0).all():
            raise ValueError("knots must be sorted without duplicates in every column")
        return base

    def _n_splines(self) -> int:
        n = self._extended.shape[1] - self.degree - 1
        return n - self.degree if self.extrapolation == "periodic" else n

    def _kept(self) -> int:
        return self._n_splines() - (not self.include_bias)

    def _check_state(self) -> None:
        if hasattr(self, "n_features_in_"):
            check.whole(degree=self.degree, at_least=0)
            K = len(self.knots_)
            p, extended = self.n_features_in_, K + 2 * self.degree
            for name, shape in (("knots_", (K, p)), ("_extended", (p, extended))):
                value = getattr(self, name)
                if value.shape != shape or value.dtype != np.float64 or K < 2:
                    raise ValueError(f"{name} must have shape {shape}, got {value.shape}")

    def transform(self, X: Any) -> Any:
        """The B-splines of every column of X, side by side."""
        X = self._check_input(X)
        T, k = self._extended, self.degree
        mode, ends = b_splines.MODES[self.extrapolation], b_splines.end_values(T, k)
        shared = T, k, mode, ends, self._n_splines(), self._kept()
        if self.sparse_output:
            return self._sparse(X, shared)
        out = np.empty((len(X), self.n_features_in_ * self._kept()), order=self.order)  # type: ignore[call-overload]

        def work(start: int) -> int:
            rows = slice(start, start + ROWS)
            chunk = out[rows] if self.order == "C" else np.empty(out[rows].shape)
            bad = b_splines.dense_splines(writeable(X[rows]), *shared, chunk)
            if self.order == "F":
                out[rows] = chunk
            return bad

        self._refuse_outside(X, list(map_threads(work, range(0, len(X), ROWS))))
        return out

    def _sparse(self, X: Array, shared: tuple[Any, ...]) -> Any:
        n, p = X.shape
        width = p * (self.degree + 1)
        indices, data = np.empty((n, width), dtype=np.int64), np.empty((n, width))

        def work(start: int) -> int:
            rows = slice(start, start + ROWS)
            return b_splines.sparse_splines(writeable(X[rows]), *shared, indices[rows], data[rows])

        self._refuse_outside(X, list(map_threads(work, range(0, n, ROWS))))
        starts = np.arange(n + 1) * width
        out = csr_matrix((data.ravel(), indices.ravel(), starts), shape=(n, p * self._kept()))
        out.eliminate_zeros()
        out.sum_duplicates()
        return out

    def _refuse_outside(self, X: Array, bad: list[int]) -> None:
        for chunk, cell in enumerate(bad):
            if cell >= 0:
                row, j = divmod(cell, X.shape[1])
                row += chunk * ROWS
                span = f"[{self.knots_[0, j]:g}, {self.knots_[-1, j]:g}]"
                at = f"{X[row, j]:g} in {self._column_name(j)}, row {row}, is outside {span}"
                raise ValueError(
                    f"Out of bounds: `X` contains values beyond the limits of the knots: {at}"
                )

    @property
    def bsplines_(self) -> list[Any]:
        from scipy.interpolate import BSpline

        check_is_fitted(self)
        coef = np.eye(self._n_splines())
        if self.extrapolation == "periodic":
            coef = np.concatenate([coef, coef[: self.degree]])
        beyond = self.extrapolation in ("periodic", "continue")
        k = self.degree
        fast = BSpline.construct_fast  # knots of a column without spread coincide
        return [fast(t, coef, k, extrapolate=beyond) for t in self._extended]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """``name_sp_0``, ``name_sp_1``, .. for every column."""
        names = self._names_in(input_features)
        return np.array([f"{a}_sp_{i}" for a in names for i in range(self._kept())], dtype=object)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        check_is_fitted(self)
        kind = self.knots if isinstance(self.knots, str) else "given"
        beyond = f"beyond the ends: {self.extrapolation}"
        numbers = {"inputs": self.n_features_in_, "knots": len(self.knots_)}
        numbers |= {"functions per column": self._kept(), "outputs": self.n_features_out_}
        return Card(
            f"B-splines of degree {self.degree} of every column; {beyond}",
            "none: the functions sum to 1 in every row",
            f"knots: {kind}, from the training rows",
            numbers,
        )
