r"""Stepwise regression: one column in or out at a time.

Model        y = b + X_S w + e with a set S of columns
Evaluation   AIC, BIC, Cp or RSS of the model, or the F or z statistic of the column that moves
Algorithm    rotate the rows so that the chosen columns are triangular, Q'[X y] = [R *; 0 T | z]:
             adding j lowers RSS by  (T_j'z_T)^2 / |T_j|^2,  then one Householder reflection;
             dropping d raises it by (R^-1 z_R)_d^2 / |(R^-1)_d|^2,  then Givens rotations.
             A full forward run costs one least-squares fit: O(n p^2 + p^3).
No cycles    AIC, BIC and Cp fall at every move. For F and z, adding needs RSS_s/RSS_(s+1) above
             the same bound 1 + F_(s+1)/(n - k) that dropping needs it below, so
             log RSS + sum of the logs of the bounds up to the size never grows.

F of a column added: (RSS before - RSS after) / (RSS after/(n - k)); z of a column dropped: its
coefficient over its standard error, z^2 = F. p-values are those of F(1, n - k).

References: Efroymson (1960); Miller (2002), Subset Selection in Regression, ch. 3; ESL, 3.3.2.
"""

from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import LinAlgWarning

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Columns, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.selection import gaussian_criteria
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.least_squares.inference import f_tail
from pellucid.linear.least_squares.summary import column_positions
from pellucid.linear.subsets import selected
from pellucid.linear.subsets.kernels import delete_column
from pellucid.linear.subsets.selected import SelectedRegression, fit_chosen

DIRECTIONS = ("forward", "backward", "both")
CRITERIA = ("aic", "bic", "cp", "rss", "f", "z")
THRESHOLD = {"f": 0.05, "z": 2.0}
DEPENDENT = 1e-10  # a column of which a smaller share is left depends on the chosen ones
SAME = 1e-9  # gains closer than this share of the largest are equal
MOST_MOVES = 100_000  # never reached: the moves cannot cycle


class Step(NamedTuple):
    """One move: ``value`` is the criterion after it (for "f" the p-value, for "z" |z|)."""

    move: str  # start, add or drop
    feature: int | None
    support: tuple[int, ...]
    rss: float
    value: float
    statistic: float  # F of a column added, z of one dropped
    p_value: float


class Rotated(NamedTuple):
    """Q'[A c] with the triangle of the chosen columns in its first rows, and its inverse V."""

    M: Array  # (m, p + 1)
    V: Array  # (s, s)
    chosen: tuple[int, ...]  # in the order of the triangle
    norms: Array  # (p,) squares of the columns
    rest: float

    @property
    def rss(self) -> float:
        return float((self.M[len(self.chosen) :, -1] ** 2).sum() + self.rest)


def rotated(A: Array, c: Array, rest: float) -> Rotated:
    """Nothing chosen yet."""
    M = np.column_stack([A, c])
    return Rotated(M, np.zeros((0, 0)), (), (A**2).sum(axis=0), rest)


def add_gains(at: Rotated) -> Array:
    """By how much each column would lower RSS; -inf for those chosen or dependent on them."""
    T, z = at.M[len(at.chosen) :, :-1], at.M[len(at.chosen) :, -1]
    squares = np.einsum("ij,ij->j", T, T)
    open_ = squares > DEPENDENT**2 * at.norms
    open_[list(at.chosen)] = False
    return np.where(open_, (z @ T) ** 2 / np.where(open_, squares, 1.0), -np.inf)


def largest(gains: Array) -> int:
    """The column that gains most; of those equal up to rounding the first."""
    top = float(gains.max(initial=-np.inf))
    return int(np.argmax(gains >= top - SAME * abs(top))) if np.isfinite(top) else 0


def add_column(at: Rotated, j: int) -> Rotated:
    """One reflection of the rows that are left makes column j part of the triangle."""
    M, s = at.M.copy(), len(at.chosen)
    v = M[s:, j].copy()
    size = np.linalg.norm(v)
    v[0] += np.copysign(size, v[0])
    M[s:] -= np.outer(v, (v @ M[s:]) * (2 / (v @ v)))
    M[s + 1 :, j] = 0.0
    V = np.zeros((s + 1, s + 1))
    V[:s, :s], V[s, s] = at.V, 1 / M[s, j]
    V[:s, s] = -(at.V @ M[:s, j]) / M[s, j]
    return at._replace(M=M, V=V, chosen=(*at.chosen, j))


def drop_costs(at: Rotated) -> tuple[Array, Array]:
    """By how much RSS grows without each chosen column, and their coefficients."""
    b = at.V @ at.M[: len(at.chosen), -1]
    return b**2 / (at.V**2).sum(axis=1), b


def drop_column(at: Rotated, j: int) -> Rotated:
    """Rotations take column j out of the triangle."""
    M, V, s, i = at.M.copy(), at.V.copy(), len(at.chosen), at.chosen.index(j)
    delete_column(M, V, np.array(at.chosen), i)
    others = at.chosen[:i] + at.chosen[i + 1 :]
    return at._replace(M=M, V=np.ascontiguousarray(V[: s - 1, : s - 1]), chosen=others)


class Rules(NamedTuple):
    """When a column may move."""

    direction: str
    criterion: str
    threshold: float
    most: int  # columns at most
    n: float
    intercept: bool
    sigma2: float  # of the full model, for Cp
    floor: float  # RSS up to this is 0

    def value(self, rss: float, size: int) -> float:
        """The criterion of a model."""
        if self.criterion in ("f", "z"):
            return np.nan
        if self.criterion == "rss":
            return rss
        found = gaussian_criteria(rss, size + self.intercept, self.n, self.sigma2)
        return float(getattr(found, self.criterion))

    def free(self, size: int) -> float:
        """Degrees of freedom that are left."""
        return self.n - size - self.intercept


class State(NamedTuple):
    """The model so far, and the move that comes next (None: stop)."""

    at: Rotated
    steps: tuple[Step, ...]
    pending: Step | None


def ratio(change: float, rss: float, free: float) -> float:
    """F of one column."""
    if not free > 1e-9:
        return np.nan
    return change * free / rss if rss > 0 else np.inf


def best_add(at: Rotated, rules: Rules) -> Step | None:
    """The column that lowers RSS most, if any may still enter."""
    size = len(at.chosen) + 1
    room = rules.criterion == "rss" or rules.free(size) > 1 - 1e-9
    before = at.rss
    if size > rules.most or not room or before <= rules.floor:
        return None
    gains = add_gains(at)
    j = largest(gains)
    if not len(gains) or not gains[j] > 0:
        return None
    T, z = at.M[len(at.chosen) :, j], at.M[len(at.chosen) :, -1]
    rss = float(((z - T * ((T @ z) / (T @ T))) ** 2).sum() + at.rest)  # without cancellation
    rss = rss if rss > rules.floor else 0.0
    F = ratio(before - rss, rss, rules.free(size))
    p = float(f_tail(F, 1, rules.free(size))) if not np.isnan(F) else np.nan
    value = {"f": p, "z": float(np.sqrt(F))}.get(rules.criterion, rules.value(rss, size))
    return Step("add", j, tuple(sorted((*at.chosen, j))), rss, value, F, p)


def best_drop(at: Rotated, rules: Rules) -> Step | None:
    """The column that costs least."""
    if not at.chosen:
        return None
    costs, b = drop_costs(at)
    i, size = int(np.argmin(costs)), len(at.chosen)
    F = ratio(costs[i], at.rss if at.rss > rules.floor else 0.0, rules.free(size))
    p = float(f_tail(F, 1, rules.free(size))) if not np.isnan(F) else np.nan
    z = float(np.copysign(np.sqrt(F), b[i]))
    rss = at.rss + float(costs[i])
    rss = rss if rss > rules.floor else 0.0
    value = {"f": p, "z": abs(z)}.get(rules.criterion, rules.value(rss, size - 1))
    j = at.chosen[i]
    return Step("drop", j, tuple(sorted(set(at.chosen) - {j})), rss, value, z, p)


def next_move(at: Rotated, rules: Rules) -> Step | None:
    """The move that the rules ask for, or None."""
    drop = best_drop(at, rules) if rules.direction != "forward" else None
    if len(at.chosen) > rules.most:
        return drop
    add = best_add(at, rules) if rules.direction != "backward" else None
    if rules.criterion in ("f", "z"):
        above = rules.criterion == "z"  # a large z, but a small p, keeps a column
        if drop is not None and (drop.value > rules.threshold) != above:
            return drop
        return add if add is not None and (add.value > rules.threshold) == above else None
    now = rules.value(at.rss if at.rss > rules.floor else 0.0, len(at.chosen))
    unit = 0.0 if rules.criterion == "rss" else 1.0  # the others are logarithms or ratios
    slack = 1e-12 * max(unit, abs(now)) if np.isfinite(now) else 0.0
    better = [step for step in (drop, add) if step is not None and step.value < now - slack]
    return min(better, key=lambda step: step.value) if better else None


def step_once(state: State, rules: Rules) -> tuple[State, float]:
    """Make the pending move and find the next one; gap 0 when there is none."""
    assert state.pending is not None
    assert state.pending.feature is not None
    move = add_column if state.pending.move == "add" else drop_column
    at = move(state.at, state.pending.feature)
    pending = next_move(at, rules)
    return State(at, (*state.steps, state.pending), pending), float(pending is not None)


def start_state(small: Compact, columns: list[int], rules: Rules) -> tuple[State, list[int]]:
    """Choose ``columns`` one after the other; those that depend on the ones before are left out."""
    at, left_out = rotated(small.A, small.c[:, 0], float(small.rest[0, 0])), []
    for j in columns:
        left = (at.M[len(at.chosen) :, j] ** 2).sum()
        if left > DEPENDENT**2 * at.norms[j]:
            at = add_column(at, j)
        elif at.norms[j] > 0:
            left_out.append(j)
    rss = at.rss if at.rss > rules.floor else 0.0
    value = rules.value(rss, len(at.chosen))
    first = Step("start", None, tuple(sorted(at.chosen)), rss, value, np.nan, np.nan)
    return State(at, (first,), next_move(at, rules)), left_out


class StepwiseRegression(SelectedRegression):
    """Least squares on columns that enter or leave one at a time.

    Parameters
    ----------
    direction : {"forward", "backward", "both"}, default="forward"
        Only add, only drop, or try every add and drop at each step.
    criterion : {"aic", "bic", "cp", "rss", "f", "z"}, default="aic"
        "aic", "bic", "cp": the best move while the criterion falls. "rss": add until
        ``max_features``. "f": add while the smallest p-value is below ``threshold``, drop while
        the largest is above it. "z": drop the smallest abs z while it is at most ``threshold``,
        add while the largest is above it.
    threshold : float or None, default=None
        Of "f" (0.05) and "z" (2).
    max_features : int or None, default=None
        Columns at most; a backward run goes on dropping until it has no more.
    start : columns or None, default=None
        Positions, names or a mask of the columns to start from. None: all for "backward", else
        none.
    fit_intercept : bool, default=True
        Whether to fit an intercept.

    Attributes
    ----------
    steps_ : list of Step(move, feature, support, rss, value, statistic, p_value), the start first
    support_, coef_, intercept_ : the chosen mask, the coefficients with 0 outside it
    rss_, sigma2_, r2_, df_ : of the chosen model
    history_ : the same run step by step

    Examples
    --------
    >>> from pellucid import StepwiseRegression
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 4.0], [4.0, 3.0], [5.0, 6.0], [6.0, 4.0]]
    >>> model = StepwiseRegression().fit(X, [1.2, 2.1, 2.8, 4.2, 5.1, 5.8])
    >>> [(step.move, step.feature) for step in model.steps_]
    [('start', None), ('add', 0)]
    """

    def __init__(
        self,
        *,
        direction: str = "forward",
        criterion: str = "aic",
        threshold: float | None = None,
        max_features: int | None = None,
        start: Columns | None = None,
        fit_intercept: bool = True,
    ) -> None:
        self.direction = direction
        self.criterion = criterion
        self.threshold = threshold
        self.max_features = max_features
        self.start = start
        self.fit_intercept = fit_intercept

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Add and drop columns while the criterion improves."""
        return self._fit_steps(X, y, sample_weight)

    def _check_parameters(self) -> None:
        check.one_of(DIRECTIONS, direction=self.direction)
        check.one_of(CRITERIA, criterion=self.criterion)
        check.boolean(fit_intercept=self.fit_intercept)
        if self.threshold is not None:
            check.positive(threshold=self.threshold)
            if self.criterion not in THRESHOLD:
                got = f"threshold={self.threshold!r} with criterion={self.criterion!r}"
                raise ValueError(f"threshold belongs to criterion 'f' or 'z', got {got}")
            if self.criterion == "f":
                check.fraction(threshold=self.threshold)
        if self.max_features is not None:
            check.whole(max_features=self.max_features, at_least=0)

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        columns = self._start_columns()
        small = self._one_target(self._compact(rows, map_, intercept=self.fit_intercept))
        with single_threaded_blas():
            self._run(rows, small, columns)

    def _start_columns(self) -> list[int]:
        if self.start is None:
            return list(range(self.n_features_in_)) if self.direction == "backward" else []
        start = list(self.start) if not isinstance(self.start, str | int) else self.start
        if isinstance(start, list) and start and all(isinstance(v, bool | np.bool_) for v in start):
            p = self.n_features_in_
            if len(start) != p:
                raise ValueError(f"start as a mask needs {p} values, got {len(start)}")
            return [j for j, chosen in enumerate(start) if chosen]
        return column_positions(start, self._feature_names()) if start != [] else []

    def _rules(self, rows: Source, small: Compact, columns: list[int]) -> Rules:
        n, p = small.weight, len(columns)
        if p and not n > p + self.fit_intercept:
            got = f"{n:g} observations to start from {p} columns"
            raise ValueError(f"backward needs n > p, use forward: got {got}")
        sigma2 = np.nan
        if self.criterion == "cp":
            rank = selected.rank_of(small.A, rows.n_rows)[0]
            sigma2 = selected.full_sigma2(small, rank, self.fit_intercept)
            if not sigma2 > 0:
                needs = "criterion='cp' needs the noise variance of the fit on all columns"
                more = "more observations than parameters and a fit that is not exact"
                raise ValueError(f"{needs}: {more}; use 'aic' or 'bic'")
        most = self.n_features_in_ if self.max_features is None else self.max_features
        threshold = THRESHOLD.get(self.criterion, np.nan)
        threshold = threshold if self.threshold is None else self.threshold
        what = self.direction, self.criterion, threshold, most, n
        return Rules(*what, self.fit_intercept, sigma2, selected.exact_limit(small))

    def _run(self, rows: Source, small: Compact, columns: list[int]) -> None:
        rules = self._rules(rows, small, columns)
        state, left_out = start_state(small, columns, rules)
        if left_out:
            names = ", ".join(self._feature_names()[j] for j in left_out[:10])
            what = f"columns {names} depend linearly on the columns before them"
            warn(f"{what}: the start leaves them out", LinAlgWarning)

        def attributes(state: State) -> dict[str, Any]:
            coef = fit_chosen(small, np.array(state.steps[-1].support, dtype=np.intp)).coef
            found = {"coef_": coef, "intercept_": self._offset(small, coef)}
            return {**found, "steps_": list(state.steps)}

        context = FitContext.of_rows(self, rows, max_steps=None, attributes=attributes)
        moves = state.pending is not None
        most, tol = (MOST_MOVES, 0.5) if moves else (0, None)
        step = partial(step_once, rules=rules)
        run = self._iterate(step, state, max_iter=most, tol=tol, record=record, context=context)
        self.steps_ = list(run.state.steps)
        self._set_chosen(small, np.array(self.steps_[-1].support, dtype=np.intp))
        if self.rss_ == 0 and self.criterion != "rss":
            exact = f"{int(self.df_)} parameters fit y exactly"
            warn(f"{exact}: the criterion cannot judge further columns")

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        moves = [s for s in self.steps_ if s.move != "start"]
        added = sum(s.move == "add" for s in moves)
        names = [self._feature_names()[j] for j in np.flatnonzero(self.support_)]
        rule = {
            "f": "the p-value of the F test of the column that moves",
            "z": "abs z of the column that moves",
            "rss": "RSS, up to max_features columns",
        }.get(self.criterion, f"{self.criterion.upper()} of the model")
        numbers = {"n": self.n_observations_, "columns": int(self.support_.sum())}
        numbers |= {"value": self.steps_[-1].value, "rss": self.rss_, "sigma2": self.sigma2_}
        return Card(
            representation=f"y = b + x'w, w = 0 outside {', '.join(names) or 'no column'}",
            evaluation=f"RSS = sum (y - b - x'w)^2 for each set of columns; moves judged by {rule}",
            optimisation=f"{self.direction} steps: {added} added, {len(moves) - added} dropped; "
            "greedy, not the best subset of its size in general",
            numbers=numbers,
            warnings=tuple(self._notes()),
        )


def record(state: State) -> dict[str, Any]:
    """The row of the history."""
    last = state.steps[-1]
    row = {"objective": last.rss, "value": last.value}
    return {**row, "size": len(last.support), "move": last.move}
