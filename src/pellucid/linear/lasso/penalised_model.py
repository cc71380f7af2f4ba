r"""What Lasso and ElasticNet share: the shell around one engine for

    RSS/(2n) + alpha r sum_j v_j |w_j| + alpha (1 - r)/2 sum_j v_j w_j^2      (v_j = 1 by default).

Two routes lead to the same minimum. From the moments of [X y] when there are more rows than columns
and not too many columns (``penalised_sums``); from the rows, with working sets that are certified
over all columns, when there are many (``penalised_rows``). Both end with an exact solve on the
final support, so that the optimality conditions hold to rounding and not only to ``tol``.
"""

from abc import abstractmethod
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse import csr_array, issparse

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Engine
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext, History
from pellucid.core.loops.statistics import Rows, Source
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.linear.budget import Budget
from pellucid.linear.lasso import fit as fitting
from pellucid.linear.lasso.budget_search import Problem
from pellucid.linear.lasso.fit import TargetFit
from pellucid.linear.lasso.sums import State
from pellucid.linear.least_squares import least_squares
from pellucid.linear.least_squares.summary import bare
from pellucid.linear.linear_model import LinearModel, one_dimensional, warn_free_of_penalty
from pellucid.linear.penalty_scales import check_share
from pellucid.linear.ridge.penalty_weights import check_penalty_weights
from pellucid.linear.solver_fit import SolverContext, fit_iterative_lasso

SOLVERS = ("auto", "cd")
SELECTIONS = ("cyclic", "random")


class PenalisedModel(LinearModel):
    """Base of Lasso and ElasticNet; a subclass gives its ``l1_ratio`` and its card."""

    _iterative: str  # how a solver object got on

    @abstractmethod
    def _mix(self) -> float:
        """The share of the L1 penalty."""

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        check_input: bool = True,
        penalty_weights: ArrayLike | None = None,
    ) -> Self:
        """Fit; ``penalty_weights`` (p,) multiply the penalty of each column, 0 leaves it free.

        ``check_input`` is accepted for scikit-learn's sake: the data are always checked.
        """
        self._check_parameters()
        rows = self._open(X, y, sample_weight)
        self._fit_source(rows, map_threads, penalty_weights, sample_weight)
        return self

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._fit_source(rows, map_, None, None)

    def _check_parameters(self) -> None:
        names = ("fit_intercept", "copy_X", "positive", "shrink_intercept", "warm_start")
        check.boolean(**{name: getattr(self, name) for name in names})
        fitting.check_precompute(self.precompute)
        check.non_negative(tol=self.tol)
        if self.max_iter is not None:
            check.whole(max_iter=self.max_iter)
        check.one_of(SELECTIONS, selection=self.selection)
        if isinstance(self.solver, str):
            check.one_of(SOLVERS, solver=self.solver)
        elif not hasattr(self.solver, "minimise"):
            known = "'auto', 'cd' or a solver object such as CoordinateDescent()"
            raise ValueError(f"solver must be {known}, got {self.solver!r}")
        generator(self.random_state)
        if self.shrink_intercept and not self.fit_intercept:
            raise ValueError("shrink_intercept=True needs fit_intercept=True")
        check_share(l1_ratio=self._mix())
        if isinstance(self.alpha, Budget):
            if self.positive:
                raise ValueError("a Budget cannot be combined with positive=True; give alpha")
        elif not isinstance(self.alpha, Real) or isinstance(self.alpha, bool):
            raise ValueError(f"alpha must be a number >= 0 or a Budget, got {self.alpha!r}")
        else:
            check.non_negative(alpha=self.alpha)

    def _unknowns(self) -> str:
        if self.shrink_intercept:
            return "all"
        return "centred" if self.fit_intercept else "slopes"

    def _fit_source(
        self, rows: Source, map_: Map, penalty_weights: ArrayLike | None, sample_weight: Any
    ) -> None:
        p = self.n_features_in_
        weights = check_penalty_weights(penalty_weights, p)
        weights = np.ones(p) if weights is None else weights
        if self.positive and not weights.all():
            raise ValueError("positive=True needs penalty_weights > 0, got a weight of 0")
        if not isinstance(self.solver, str):
            found = self._solved_by_object(rows, weights, sample_weight)
            self._set(rows, weights, found, one_dimensional(rows))
            return
        self._iterative = ""
        fits: list[TargetFit] = []
        single, steps = one_dimensional(rows), self.max_iter or 1000

        def attributes(state: State | None) -> dict[str, Any]:
            return fitting.so_far(problem, fits, state, single) if state else {}

        context = FitContext.of_rows(self, rows, sample_weight, steps, attributes)
        if isinstance(self.alpha, Real) and (self.alpha == 0 or not weights.any()):
            fits.extend(self._least_squares(rows, map_))
        else:
            many, sums = isinstance(self.alpha, Budget), partial(self._sums, rows, map_)
            how = {"positive": self.positive, "many": many}
            problem = fitting.penalised_problem(rows, sums, self._unknowns(), weights, **how)
            if problem.free_rank < len(problem.free):
                which = "the columns with penalty weight 0 are linearly dependent"
                what = "their least-norm coefficients are one choice of many"
                warn(f"{which}: {what}", LinAlgWarning)
            count, start = problem.Q.shape[1], self._warm_coefficients()
            for t in range(count):
                if isinstance(self.alpha, Budget):
                    both = hasattr(self, "l1_ratio")
                    fits.append(fitting.constrain(problem, t, self.alpha, both=both))
                else:
                    task = context if count == 1 else context.subtask(f"target {t}", steps)
                    limits: Any = {"tol": self.tol, "max_iter": steps, "name": type(self).__name__}
                    strength = float(self.alpha), float(self._mix())
                    first = self._first(problem, t, start)
                    fit = fitting.descend(problem, t, strength, first, context=task, **limits)
                    fits.append(fit)
                    if count > 1:
                        task.end()
        self._set(rows, weights, fits, single and len(fits) == 1)
        context.end()

    def _warm_coefficients(self) -> Array | None:
        """(k, q) coefficients to start from, the intercept first where it is an unknown."""
        if not self.warm_start or not hasattr(self, "coef_"):
            return None
        coef = np.atleast_2d(self.coef_)
        if coef.shape[1] != self.n_features_in_:
            return None
        if not self.shrink_intercept:
            return coef
        return np.column_stack([np.broadcast_to(self.intercept_, (len(coef),)), coef])

    def _first(self, problem: Problem, t: int, start: Array | None) -> Array:
        """Where the descent of one target starts."""
        first = np.zeros(len(problem.columns))
        if start is not None and t < len(start):
            first = start[t][problem.columns].copy()
            first[problem.positive & (first < 0)] = 0.0
        return first

    def _least_squares(self, rows: Source, map_: Map) -> list[TargetFit]:
        """alpha = 0: no penalty is left."""
        p, unknowns = self.n_features_in_, self._unknowns()
        remedy = "use LinearRegression, which gives standard errors too"
        warn(f"{type(self).__name__} with alpha=0 is least squares: {remedy}")
        with single_threaded_blas():
            if self.positive:
                kind = "centred" if self.fit_intercept else "slopes"
                engine = Engine(rows, map_, self._sums(rows, map_), p, unknowns=kind)
                fit = least_squares.positive_fit(engine)
            elif rows.n_rows > p:
                how = {"unknowns": unknowns, "solver": "auto"}
                fit = least_squares.fit_tall(rows, map_, self._sums(rows, map_), p, **how)
            else:
                fit = least_squares.fit_wide(rows, unknowns=unknowns)
        if fit.dependent:
            warn_free_of_penalty(self, fit.dependent, (rows.n_rows, p))
        found = []
        for t, rss in enumerate(np.diag(fit.rss)):
            value = max(rss, 0.0) / (2 * fit.weight)
            row = {"step": 1, "objective": value, "gap": 0.0, "seconds": 0.0}
            coef = np.ascontiguousarray(fit.coef[:, t])
            sizes = float(coef @ coef), float(np.abs(coef).sum())
            place = coef, float(fit.intercept[t]), 0.0, float(self._mix())
            found.append(TargetFit(*place, 0.0, 1, [row], not fit.dependent, fit.weight, sizes))
        return found

    def _solved_by_object(
        self, rows: Source, weights: Array, sample_weight: ArrayLike | None
    ) -> Any:
        """A solver object takes the raw design and the objective (RSS + penalty)/(2n)."""
        if not isinstance(rows, Rows):
            raise ValueError("a solver object needs the rows in memory: use fit, or solver='auto'")
        if self.positive or isinstance(self.alpha, Budget):
            raise ValueError("a solver object takes a number alpha and positive=False")
        context = SolverContext(self, rows, sample_weight)
        alpha, ratio = float(self.alpha), float(self._mix())
        how: dict[str, Any] = {"intercept": self.fit_intercept}
        how["shrink_intercept"] = self.shrink_intercept
        how |= {"price": weights, "context": context}
        found = fit_iterative_lasso(rows, self.solver, alpha, ratio, **how)
        self._iterative = found.sentence
        sums, kind = partial(self._sums, rows, map_threads), {"positive": False, "many": False}
        problem = fitting.penalised_problem(rows, sums, self._unknowns(), weights, **kind)
        targets = range(len(found.intercept))
        fits = [fitting.judged(problem, t, found, alpha, ratio) for t in targets]
        one = rows.y.ndim == 1
        coef, b = (found.coef[:, 0], found.intercept[0]) if one else (found.coef.T, found.intercept)
        context.end({"coef_": coef, "intercept_": b})
        return fits

    def _set(self, rows: Source, weights: Array, fits: list[TargetFit], single: bool) -> None:

        def pick(values: list[Any]) -> Any:
            return values[0] if single else np.array(values)

        self.coef_ = pick([fit.coef for fit in fits])
        self.intercept_ = pick([fit.intercept for fit in fits]) if self.fit_intercept else 0.0
        self.alpha_ = pick([fit.alpha for fit in fits])
        if hasattr(self, "l1_ratio"):
            self.l1_ratio_ = pick([fit.l1_ratio for fit in fits])
        self.dual_gap_ = pick([fit.gap for fit in fits])
        rounds = [max(fit.n_iter, 1) for fit in fits]
        self.n_iter_: Any = rounds[0] if len(rounds) == 1 else rounds
        self.history_ = History([row for fit in fits for row in fit.history])
        self.n_nonzero_ = pick([int(np.count_nonzero(fit.coef)) for fit in fits])
        self.unique_ = pick([fit.unique for fit in fits])
        self.penalty_weights_ = weights
        self.n_observations_ = fits[0].weight
        self._shape = (rows.n_rows, self.n_features_in_)
        self._set_budget([fit.budget for fit in fits], [fit.budget_ols for fit in fits], single)

    def _set_budget(self, after: list[Any], before: list[Any], single: bool) -> None:
        both = hasattr(self, "l1_ratio")
        take = (lambda pair: np.array(pair)) if both else (lambda pair: pair[1])
        values = [take(pair) for pair in after]
        self.budget_ = values[0] if single else np.array(values)
        if isinstance(self.alpha, Budget):
            least = [take(pair) for pair in before]
            self.budget_ols_ = least[0] if single else np.array(least)
            ols = np.asarray(self.budget_ols_, dtype=np.float64)
            ratio = np.divide(self.budget_, ols, out=np.ones(ols.shape), where=ols > 0)
            self.shrinkage_ = float(ratio) if ratio.ndim == 0 else ratio

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix."""
        return csr_array(np.atleast_2d(self.coef_))

    def optimality(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The largest violation of the optimality conditions on the training data.

        With c_j = x_j'r/n and the penalties a_j = alpha r v_j, b_j = alpha (1 - r) v_j:
        |c_j - a_j sign(w_j) - b_j w_j| where w_j != 0, the excess of |c_j| over a_j where it is 0,
        and the same for the intercept (a = b = 0 unless it is shrunk).
        """
        X = self._check_input(X)
        Y = self._check_target(y, X.shape[0])
        w = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, float)
        Y, W = Y.reshape(len(Y), -1), np.atleast_2d(self.coef_).T
        R = w[:, None] * (Y - X @ W - self.intercept_) / w.sum()
        if not issparse(X):
            X = X - X.mean(axis=0) if self._unknowns() == "centred" else X
        C, theta = X.T @ R, W
        v = self.penalty_weights_
        if self.shrink_intercept:
            offset = np.broadcast_to(self.intercept_, (Y.shape[1],))
            C, theta = np.vstack([R.sum(axis=0), C]), np.vstack([offset, theta])
            v = np.append(1.0, v)
        alpha = np.broadcast_to(self.alpha_, (Y.shape[1],))
        ratio = getattr(self, "l1_ratio_", 1.0)
        a, b = np.outer(v, alpha * ratio), np.outer(v, alpha * (1 - ratio))
        g = C - b * theta
        signs = np.zeros(g.shape, bool) | bool(self.positive)
        if self.shrink_intercept:
            signs[0] = False
        outside = np.maximum(np.where(signs, g, np.abs(g)) - a, 0.0)
        violation = np.where(theta != 0, np.abs(g - a * np.sign(theta)), outside)
        free = np.abs(R.sum(axis=0)) if self._unknowns() == "centred" else np.zeros(1)
        return float(max(violation.max(initial=0.0), free.max()))


def penalised_card(
    model: PenalisedModel, penalty: str, scales: list[str], notes: list[str]
) -> Card:
    """The card of a fit: what differs is the text of the penalty."""
    how = "(y - b - x'w)^2" if model.fit_intercept else "(y - x'w)^2"
    text = f"sum {how}/(2n) + {penalty}" + (", w >= 0" if model.positive else "")
    if not (model.penalty_weights_ == 1).all():
        text += ", each column with its own penalty weight"
    gap = float(np.max(model.dual_gap_))
    numbers = {"alpha": bare(model.alpha_), "n": model.n_observations_}
    numbers |= {"non-zero": np.asarray(model.n_nonzero_).tolist(), "rounds": model.n_iter_}
    one = bool(np.all(model.unique_))
    unique = "there is one minimiser" if one else "there are many minimisers"
    direct = "coordinate descent on cross-products, then an exact solve on the support"
    direct = "least squares" if np.all(np.asarray(model.alpha_) == 0) else direct
    return Card(
        representation="y = b + x'w" if model.fit_intercept else "y = x'w",
        evaluation=text,
        optimisation=f"{model._iterative or direct}; {unique}; the duality gap bounds the distance "
        f"from the minimum by {gap:.1e}",
        numbers={**numbers, "dual_gap": bare(model.dual_gap_)},
        scales=tuple(scales),
        warnings=tuple(notes),
    )
