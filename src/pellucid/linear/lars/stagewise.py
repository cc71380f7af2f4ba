r"""Forward stagewise regression and its incremental form.

Start        w = 0, r = y (centred for the intercept)
Move         the column j most correlated with the residual, |<x_j, r>| / |x_j|, alone:
             w_j += <x_j, r> / |x_j|^2           epsilon=None: its whole simple regression
             w_j += epsilon sign <x_j, r>        epsilon > 0: incremental, FS_epsilon
End          the largest correlation is below tol; or, for epsilon > 0, the move would not lower
             RSS any more: |<x_j, r>| <= epsilon |x_j|^2 / 2
Algorithm    A'r is kept, not r: a move takes one row of A'A off it.      O(p) per move

The other coefficients are left as they are, so it takes many more than p moves; that slowness is a
form of regularisation: as epsilon -> 0 the path approaches that of least angle regression (the
lasso where that is monotone). Without epsilon it is coordinate descent on the residual sum of
squares with the steepest coordinate first, and ends in least squares.

References: ESL, sections 3.3.3 and 3.8.1; Hastie, Taylor, Tibshirani & Walther (2007).
"""

import time
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import ConvergenceWarning, FitContext, History, iterate
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.lars.stagewise_kernels import stagewise_moves
from pellucid.linear.linear_model import LinearModel

CHUNK = 1000  # moves between two exact computations of A'r
WHOLE = 2000  # columns up to which A'A is computed at once; beyond, row by row as needed


class Products:
    """Rows of A'A, all at once or as they are asked for."""

    def __init__(self, A: Array) -> None:
        p = A.shape[1]
        self.A = A
        whole = p <= WHOLE
        self.G = np.ascontiguousarray(A.T @ A) if whole else np.empty((16, p))
        self.slot = np.arange(p) if whole else np.full(p, -1)
        self.used = p if whole else 0

    def fetch(self, j: int) -> None:
        """Compute row j."""
        if self.used == len(self.G):
            self.G = np.concatenate([self.G, np.empty_like(self.G)])
        self.G[self.used] = self.A.T @ self.A[:, j]
        self.slot[j] = self.used
        self.used += 1


class Moves:
    """The moves so far, in arrays that grow."""

    def __init__(self) -> None:
        self.count = 0
        self.columns = np.empty(CHUNK, np.intp)
        self.numbers = np.empty((4, CHUNK))  # amount, fall of RSS, correlation acted on, seconds
        self.largest = np.inf  # correlation now
        self.ended = False

    def room(self, size: int) -> None:
        """Make room for ``size`` moves more."""
        if self.count + size > len(self.columns):
            self.columns = np.concatenate([self.columns, np.empty_like(self.columns)])
            self.numbers = np.hstack([self.numbers, np.empty_like(self.numbers)])

    def coefficients(self, p: int) -> Array:
        """w: the sum of the moves of each column."""
        columns, amounts = self.columns[: self.count], self.numbers[0, : self.count]
        return np.asarray(np.bincount(columns, weights=amounts, minlength=p), np.float64)


def walk_stagewise(
    small: Compact, *, epsilon: float | None, max_iter: int, tol: float, context: FitContext | None
) -> Moves:
    """Move until the end or ``max_iter`` moves; callbacks see them one by one."""
    with single_threaded_blas():
        A, c = np.ascontiguousarray(small.A), small.c[:, 0]
        norm, products = np.linalg.norm(A, axis=0), Products(A)
        rounding = 4 * EPS * np.sqrt(max(A.shape)) * float(np.linalg.norm(c))
        limit = max(tol * min(1.0, float(np.linalg.norm(c))), rounding)
        length = float(epsilon or 0.0)
        corr, began = A.T @ c, time.perf_counter()
        size = 1 if context is not None and context.active else CHUNK

        def step(moves: Moves) -> tuple[Moves, float]:
            start = moves.count
            if start % CHUNK == 0:  # exact again, whatever the moves have rounded
                corr[:] = A.T @ (c - A @ moves.coefficients(A.shape[1]))
            stop = min(start + size, max_iter)
            moves.room(stop - start)
            missing = 0
            while missing >= 0:
                data = products.G, products.slot, norm, limit, length, corr
                room = moves.columns[:stop], *moves.numbers[:3, :stop], moves.count
                moves.count, missing, moves.largest, moves.ended = stagewise_moves(*data, *room)
                if missing >= 0:
                    products.fetch(missing)
            moves.numbers[3, start : moves.count] = time.perf_counter() - began
            return moves, 0.0 if moves.ended else 1.0

        steps = -(-max_iter // size)
        return iterate(step, Moves(), max_iter=steps, tol=0.5, context=context, warn=False).state


def move_history(moves: Moves, tss: float, n: float) -> History:
    """One row per move: RSS/(2n) after it, the column, the amount and the correlation acted on."""
    k = moves.count
    amount, fall, gap, seconds = moves.numbers[:, :k]
    objective = np.maximum(tss - np.cumsum(fall), 0.0) / (2 * n)
    lists = (values.tolist() for values in (objective, moves.columns[:k], amount, gap, seconds))
    rows = [(tss / (2 * n), None, None, None, 0.0), *zip(*lists, strict=True)]
    names = ("step", "objective", "column", "amount", "gap", "seconds")
    return History([dict(zip(names, (i, *row), strict=True)) for i, row in enumerate(rows)])


class StagewiseRegression(LinearModel):
    """Forward stagewise regression: one coefficient at a time, the most correlated first.

    Parameters
    ----------
    epsilon : float, optional
        None: each move adds the whole simple-regression coefficient of its column. A number: each
        move adds this much with the sign of the correlation (incremental, FS_epsilon).
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=10000
        Moves at most; a ConvergenceWarning says when they did not suffice.
    tol : float, default=1e-10
        The end: largest |<x_j, r>| / |x_j| below this, or this share of |y| where that is
        below 1 (or below rounding error).

    Attributes
    ----------
    coef_, intercept_ : after the last move
    moves_ : [(column, amount), ...]
    coef_path_ : (p, n_iter_ + 1), column m after m moves; made from the moves when asked for
    n_iter_, history_ : moves; RSS/(2n), column, amount and correlation of each

    Examples
    --------
    >>> from pellucid import StagewiseRegression
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0]]
    >>> model = StagewiseRegression().fit(X, [1.0, 3.0, 4.0, 6.0])
    >>> [(j, round(amount, 4)) for j, amount in model.moves_[:3]]
    [(0, 1.6), (1, -0.16), (0, 0.096)]
    >>> model.coef_.round(6)
    array([ 1.75, -0.25])
    """

    _multi_output = False

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        fit_intercept: bool = True,
        max_iter: int = 10000,
        tol: float = 1e-10,
    ) -> None:
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> Self:
        """Walk the path in small steps."""
        self._check_parameters()
        rows = self._open(X, y, sample_weight)
        context = FitContext.of_rows(self, rows, sample_weight, self.max_iter)
        self._walk(rows, map_threads, context)
        context.end()
        return self

    def _check_parameters(self) -> None:
        if self.epsilon is not None:
            check.positive(epsilon=self.epsilon)
        check.boolean(fit_intercept=self.fit_intercept)
        check.whole(max_iter=self.max_iter)
        check.non_negative(tol=self.tol)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._walk(rows, map_, None)

    def _walk(self, rows: Source, map_: Map, context: FitContext | None) -> None:
        small = self._compact(rows, map_, intercept=self.fit_intercept)
        if context is not None:
            context.attributes = partial(self._attributes, small)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "context": context}
        moves = walk_stagewise(small, epsilon=self.epsilon, **limits)
        self._set(moves, small)
        if not moves.ended and moves.count == self.max_iter:
            late = f"StagewiseRegression: no end in max_iter={self.max_iter} moves"
            left = f"the largest correlation is {moves.largest:.3g}, tol={self.tol:g}"
            warn(f"{late}: {left}", ConvergenceWarning)

    def _attributes(self, small: Compact, moves: Moves | None) -> dict[str, Any]:
        coef = self.coef_ if moves is None else moves.coefficients(self.n_features_in_)
        return {"coef_": coef, "intercept_": self._offset(small, coef)}

    def _set(self, moves: Moves, small: Compact) -> None:
        k = moves.count
        self.coef_ = moves.coefficients(self.n_features_in_)
        self.intercept_ = self._offset(small, self.coef_)
        self.n_iter_ = max(k, 1)
        self.history_ = move_history(moves, float(small.tss[0]), small.weight)
        self.n_observations_ = small.weight
        self.rss_ = float(small.rss(self.coef_[:, None])[0])
        self._columns, self._amounts = moves.columns[:k].copy(), moves.numbers[0, :k].copy()
        self._largest, self._ended = float(moves.largest), bool(moves.ended)

    @property
    def moves_(self) -> list[tuple[int, float]]:
        """[(column, amount), ...] in order."""
        check_is_fitted(self)
        return list(zip(self._columns.tolist(), self._amounts.tolist(), strict=True))

    @property
    def coef_path_(self) -> Array:
        """(p, moves + 1): column m holds the coefficients after m moves."""
        check_is_fitted(self)
        path = np.zeros((self.n_features_in_, len(self._columns) + 1))
        path[self._columns, np.arange(1, len(self._columns) + 1)] = self._amounts
        return np.cumsum(path, axis=1)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        whole = "<x_j, r>/|x_j|^2" if self.epsilon is None else f"{self.epsilon:g} sign <x_j, r>"
        end = "ended" if self._ended else "cut short by max_iter or a callback"
        numbers = {"n": self.n_observations_, "moves": len(self._columns), "rss": self.rss_}
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation="RSS/(2n), lowered one coefficient at a time",
            optimisation=f"the column most correlated with the residual moves alone by {whole}; "
            f"{end} with a largest correlation of {self._largest:.3g}",
            numbers={**numbers, "non-zero": int(np.count_nonzero(self.coef_))},
        )
