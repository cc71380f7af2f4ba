r"""Orthogonal matching pursuit: least squares on a few columns, taken one at a time.

Problem      min |y - b - X w|^2 with at most k non-zero w_j (or the fewest with |r|^2 <= tol),
             which no quick algorithm solves exactly
Step         r = residual of the columns taken so far; take the column with the largest |x_j'r|;
             fit all taken columns again, so that r is orthogonal to each of them
Update       Q an orthonormal basis of the taken columns:  q = x_j - Q Q'x_j (twice), q /= |q|,
             r -= q q'r: nothing is solved again; the coefficients come from R w = Q'y at the end
Algorithm    on the compact rows (A, c) with |y - b - X w|^2 = |c - A w|^2 + rest: m = min(n, p)
             rows, whatever n.   O(n p min(n, p)) for the sums once, then m p per step: A in half
             the bytes says which columns can have the largest |x_j'r|, and these few are compared
             in full, so that the choice is that of all digits
End          k columns, |r|^2 <= tol, or no other column is correlated with the residual

With a few non-zero coefficients and columns that are nearly orthogonal it finds the true ones.

References: Pati, Rezaiifar & Krishnaprasad (1993); Mallat & Zhang (1993); Tropp (2004).
"""

from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.figures import figures
from pellucid.core.loops.iterate import FitContext, History, iterate
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.linear_model import LinearModel, one_dimensional

WIDTH = 1024  # columns that one product with the residual handles


class Pursuit(NamedTuple):
    """One target: the columns taken, the basis of their span, and what is left of y."""

    active: tuple[int, ...]
    Q: Array  # (m, k) room for the basis; the first len(active) columns are filled
    R: Array  # (k, k) the taken columns are Q R
    r: Array  # (m,) residual
    rss: float
    done: bool = False  # no other column is correlated with the residual

    def coefficients(self, c: Array, p: int) -> Array:
        """w (p,), 0 outside the taken columns."""
        w, k = np.zeros(p), len(self.active)
        if k:
            w[list(self.active)] = solve_triangular(self.R[:k, :k], self.Q[:, :k].T @ c)
        return w


class Columns(NamedTuple):
    """A, and in half its bytes its columns at length 1, some at a time."""

    A: Array  # (m, p)
    norm: Array  # (p,) lengths of the columns
    rough: list[Array]  # (m, WIDTH) each, float32

    def best(self, r: Array, taken: tuple[int, ...]) -> tuple[int, float]:
        """The column not taken with the largest |x_j'r|, and that number."""
        size = float(np.linalg.norm(r))
        unit = (r / size if size > 0 else r).astype(np.float32)
        scores = map_threads(lambda part: np.abs(part.T @ unit), self.rough)
        slack = (len(r) + 8) * float(np.finfo(np.float32).eps)  # a sum of m rounded products
        score = np.concatenate(list(scores)).astype(np.float64) * self.norm
        score[list(taken)] = -np.inf
        least = (score - slack * self.norm).max()
        near = np.flatnonzero(score + slack * self.norm >= least)
        exact = np.abs(self.A[:, near].T @ r)
        exact[np.isneginf(score[near])] = 0.0
        return int(near[exact.argmax()]), float(exact.max())


def columns(A: Array) -> Columns:
    """The compact rows, ready to be searched.

    >>> columns(np.array([[1.0, 0.0], [0.0, 2.0]])).best(np.array([3.0, -4.0]), ())
    (1, 8.0)
    """
    norm = np.sqrt(np.einsum("ij,ij->j", A, A))
    scale = np.where(norm > 0, norm, 1.0)
    cuts = [slice(a, a + WIDTH) for a in range(0, A.shape[1], WIDTH)]
    rough = map_threads(lambda cut: (A[:, cut] / scale[cut]).astype(np.float32), cuts)
    return Columns(A, norm, list(rough))


class Target(NamedTuple):
    """The compact rows of one target."""

    columns: Columns
    c: Array  # (m,)
    rest: float

    def start(self, most: int) -> Pursuit:
        """Nothing taken yet, room for ``most`` columns."""
        room = np.zeros((len(self.c), most), order="F"), np.zeros((most, most))
        return Pursuit((), *room, self.c.copy(), float(self.c @ self.c) + self.rest)


def pursuit_step(target: Target, state: Pursuit) -> tuple[Pursuit, float]:
    """Take the column most correlated with the residual; the gap is what is left of it."""
    A, norm, k = target.columns.A, target.columns.norm, len(state.active)
    j, score = target.columns.best(state.r, state.active)
    floor = 8 * EPS * len(target.c)
    if score <= floor * norm[j] * np.linalg.norm(target.c):
        return state._replace(done=True), 0.0
    Q = state.Q[:, :k]
    q = A[:, j].copy()
    for _ in range(2):  # once leaves rounding errors along Q
        along = Q.T @ q
        state.R[:k, k] += along
        q -= Q @ along
    size = float(np.linalg.norm(q))
    if size <= floor * norm[j]:
        state.R[:k, k] = 0.0
        return state._replace(done=True), 0.0  # it lies in the span of those taken
    q /= size
    state.Q[:, k], state.R[k, k] = q, size
    r = state.r - q * (q @ state.r)
    found = state._replace(active=(*state.active, j), r=r, rss=float(r @ r) + target.rest)
    return found, found.rss


class OrthogonalMatchingPursuit(LinearModel):
    """Least squares on a few columns, taken one at a time by their correlation with the residual.

    ``sample_weight`` equals repetition; ``fit`` and ``fit_blocks`` give the same model.

    Parameters
    ----------
    n_nonzero_coefs : int or None, default=None
        Columns to take; None: a tenth of them, at least 1. Left alone where ``tol`` is given.
    tol : float or None, default=None
        Take columns until the residual squares are at most this.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    precompute : {"auto", True, False}, default="auto"
        Accepted for scikit-learn's sake: the cross-products are used where they cost no digits.

    Attributes
    ----------
    coef_, intercept_ : slopes (p,) or (k, p), and intercept
    active_ : the columns in the order taken (a list of them for each of several targets)
    n_iter_ : columns taken, of each target if there are several
    n_nonzero_coefs_ : the number asked for; None with ``tol``
    rss_ : residual squares
    history_ : objective (residual squares), column and number of columns of each step

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import OrthogonalMatchingPursuit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 20))
    >>> y = 3 * X[:, 4] - 2 * X[:, 11]
    >>> model = OrthogonalMatchingPursuit(n_nonzero_coefs=2).fit(X, y)
    >>> model.active_, model.coef_[[4, 11]].round(6)
    ([4, 11], array([ 3., -2.]))
    """

    def __init__(
        self,
        *,
        n_nonzero_coefs: int | None = None,
        tol: float | None = None,
        fit_intercept: bool = True,
        precompute: bool | Literal["auto"] = "auto",
    ) -> None:
        self.n_nonzero_coefs = n_nonzero_coefs
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.precompute = precompute

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Take columns one after the other."""
        self._check_parameters()
        rows = self._open(X, y, sample_weight)
        context = FitContext.of_rows(self, rows, sample_weight, None)
        self._pursue(rows, map_threads, context)
        context.end()
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._pursue(rows, map_, None)

    def _check_parameters(self) -> None:
        check.boolean(fit_intercept=self.fit_intercept)
        if isinstance(self.precompute, str):
            check.one_of(("auto",), precompute=self.precompute)
        else:
            check.boolean(precompute=self.precompute)
        if self.n_nonzero_coefs is not None:
            check.whole(n_nonzero_coefs=self.n_nonzero_coefs)
        if self.tol is not None:
            check.non_negative(tol=self.tol)

    def _asked(self) -> int | None:
        """The number of columns to take; None where ``tol`` decides."""
        p = self.n_features_in_
        if self.tol is not None:
            return None
        if self.n_nonzero_coefs is None:
            return max(p // 10, 1)
        if self.n_nonzero_coefs > p:
            more = f"got n_nonzero_coefs={self.n_nonzero_coefs} for {p} columns"
            raise ValueError(
                f"The number of atoms cannot be more than the number of features: {more}"
            )
        return int(self.n_nonzero_coefs)

    def _pursue(self, rows: Source, map_: Map, context: FitContext | None) -> None:
        asked, p = self._asked(), self.n_features_in_
        small = self._compact(rows, map_, intercept=self.fit_intercept)
        table = columns(small.A)
        found: list[Pursuit] = []
        histories: list[History] = []
        coef = np.zeros((p, small.c.shape[1]))
        for t in range(small.c.shape[1]):
            c = np.ascontiguousarray(small.c[:, t])
            target = Target(table, c, float(small.rest[t, t]))
            task = context
            if context is not None and small.c.shape[1] > 1:
                task = context.subtask(f"target {t}", None)
            if task is not None:
                task.attributes = partial(self._attributes, small, coef, t, one_dimensional(rows))
            state, history = self._take(target, p if asked is None else asked, task)
            found.append(state)
            histories.append(history)
            coef[:, t] = state.coefficients(c, p)
            if task is not None and task is not context:
                task.end(state)
        self._set(rows, small, coef, found, histories, asked)

    def _take(
        self, target: Target, most: int, context: FitContext | None
    ) -> tuple[Pursuit, History]:
        most = min(most, len(target.c))
        start = target.start(max(most, 1))
        ended = start.rss <= (self.tol if self.tol is not None else -1.0) or most == 0

        def stop(history: History) -> bool:
            none_taken = history[-1]["columns"] == history[-2]["columns"]
            return none_taken or (self.tol is not None and history[-1]["objective"] <= self.tol)

        with single_threaded_blas():
            run = iterate(
                partial(pursuit_step, target),
                start,
                max_iter=0 if ended else most,
                tol=None,
                record=_record,
                stop=stop,
                context=context,
            )
        rows = run.history[:-1] if run.state.done else run.history  # the last took no column
        return run.state, History(rows)

    def _attributes(
        self, small: Compact, coef: Array, t: int, single: bool, state: Pursuit | None
    ) -> dict[str, Any]:
        """Coefficients as if the fit had stopped here; targets that wait are at 0."""
        coef = coef.copy()
        if state is not None:
            coef[:, t] = state.coefficients(small.c[:, t], len(coef))
        w, b = self._line(small, coef, single)
        return {"coef_": w, "intercept_": b}

    def _line(self, small: Compact, coef: Array, single: bool) -> tuple[Array, Any]:
        b = small.intercept(coef)
        if single:
            return coef[:, 0].copy(), np.float64(b[0]) if self.fit_intercept else 0.0
        return np.ascontiguousarray(coef.T), b if self.fit_intercept else 0.0

    def _set(
        self,
        rows: Source,
        small: Compact,
        coef: Array,
        found: list[Pursuit],
        histories: list[History],
        asked: int | None,
    ) -> None:
        single = one_dimensional(rows)
        self.coef_, self.intercept_ = self._line(small, coef, single)
        taken = [list(state.active) for state in found]
        self.active_ = taken[0] if single else taken
        counts = [max(len(active), 1) for active in taken]
        self.n_iter_: Any = counts[0] if single else counts
        self.n_nonzero_coefs_ = asked
        rss = np.array([state.rss for state in found])
        self.rss_, self.n_observations_ = float(rss[0]) if single else rss, small.weight
        rows_ = [{**row, "target": t} for t, h in enumerate(histories) for row in h]
        self.history_ = histories[0] if single else History(rows_)
        self._complete = all(state.done for state in found)
        if self.tol is not None and (rss > self.tol).any() and not self._complete:
            least = f"all columns leave residual squares of {figures(float(rss.max()))}"
            warn(f"tol={self.tol:g} was not reached: {least}", RuntimeWarning)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self)
        asked = self.n_nonzero_coefs_
        goal = f"at most {asked} non-zero w_j" if asked else f"the fewest with RSS <= {self.tol:g}"
        numbers = {"n": self.n_observations_, "columns": int(np.max(self.n_iter_))}
        numbers["rss"] = float(np.sum(self.rss_))
        same = "no other column is correlated with the residual: the fit is that of all columns"
        return Card(
            representation="y = b + x'w" if self.fit_intercept else "y = x'w",
            evaluation=f"residual squares, {goal}",
            optimisation="greedy, so not always the best columns: the one most correlated with the "
            "residual joins, then all are fitted again",
            numbers=numbers,
            warnings=(same,) if self._complete else (),
        )


def _record(state: Pursuit) -> dict[str, Any]:
    return {
        "objective": state.rss,
        "column": state.active[-1] if state.active else None,
        "columns": len(state.active),
    }
