r"""Generalised linear models: a function of the mean of y is linear in x.

Model        g(E[y | x]) = b + w.x + offset,   Var[y | x] = phi V(mu),   g the logarithm or identity
Estimator    argmin (1/N) sum_i v_i d(y_i, mu_i) + (alpha/2) |w|^2,   d half the deviance (families)
             b is free; alpha = 0 is maximum likelihood (quasi-likelihood where V alone is assumed)
Algorithm    Newton with step halving (``newton.py``) from the model without x.
             a pass: n q^2/2, q = p + 1
Exposure     a count in e units of time or area has the mean e exp(b + w.x): offset log e

Weights v count as repetitions. Inference for alpha = 0: ``inference.py``.

References: McCullagh & Nelder, Generalized Linear Models; Dobson & Barnett, An Introduction to
Generalized Linear Models.
"""

from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.linalg import LinAlgWarning
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Regressor, check_number_target, check_weights, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext, History, Iteration
from pellucid.core.loops.statistics import (
    LEAF_ROWS,
    Rows,
    Source,
    Statistic,
    add_records,
    reduce_rows,
)
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.linear.glm import inference
from pellucid.linear.glm.card import glm_card
from pellucid.linear.glm.ending import Outcome, glm_outcome
from pellucid.linear.glm.families import Family, tweedie
from pellucid.linear.glm.newton import (
    NewtonState,
    last_step,
    newton_step,
    sample_start,
    start_newton,
)
from pellucid.linear.glm.profile import profile_intervals
from pellucid.linear.glm.start import in_units, null_loss, null_theta, offset_of
from pellucid.linear.glm.sums import Problem, Totals, evaluate, leaf_totals, refuse_targets
from pellucid.linear.linear_model import dependent_sentence, first_rows
from pellucid.linear.logistic.sums import typical_row
from pellucid.solvers.minimum import SeparationWarning

SOLVERS = ("lbfgs", "newton-cholesky")
LARGEST = 1500  # columns from which no curvature is made: products take its place
RECORDED = 2000  # parameters up to which the history keeps them
HIGHEST = float(np.log(np.finfo(np.float64).max))  # exp of more is no number


class GeneralizedLinearModel(Regressor):
    """Base of the generalised linear models: a leaf says which family it is."""

    _accepts_sparse = True
    _multi_output = False
    coef_: Array
    intercept_: float

    fit_blocks = fit_blocks

    @abstractmethod
    def _family(self) -> Family:
        """Variance, deviance and link."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        power = getattr(self, "power", 1)
        real = isinstance(power, int | float) and power <= 0
        tags.target_tags.positive_only = not real
        return tags

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"coef_": (self.n_features_in_,)}

    def _check_parameters(self) -> None:
        check.non_negative(alpha=self.alpha)
        check.finite(alpha=self.alpha)
        check.positive(tol=self.tol)
        check.boolean(fit_intercept=self.fit_intercept, warm_start=self.warm_start)
        check.one_of(SOLVERS, solver=getattr(self, "solver", SOLVERS[0]))
        check.whole(max_iter=self.max_iter)

    @with_callbacks
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Minimise half the mean deviance and the penalty.

        ``offset`` (n,) is added to b + w.x; ``exposure`` (n,) > 0 multiplies the mean, which is
        an offset of its logarithm (log link only).
        """
        self._check_parameters()
        rows = self._check_training(X, y, sample_weight)
        refuse_targets(self._family(), rows.y)
        added = offset_of(self._family(), offset, exposure, rows.n_rows)
        if added is not None:
            rows = rows._replace(y=np.column_stack([rows.y, added]))
        self._fit_checked(rows, map_threads, sample_weight)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        self._fit_checked(rows, map_, None)

    def _fit_checked(self, rows: Source, map_: Map, sample_weight: Any) -> None:
        family = self._family()
        last = (self.coef_, self.intercept_) if self._starts_warm() else None
        statistic = Statistic(partial(leaf_totals, family), add_records)
        totals: Totals = reduce_rows(statistic, rows, map_)
        problem = self._problem(rows, map_, family, totals)
        attributes = partial(self._attributes, problem)
        context = FitContext.of_rows(self, rows, sample_weight, self.max_iter, attributes)
        self.n_observations_ = totals.weight
        null = self._null(problem, totals)
        first = self._first(problem, null, last)
        sampled = last is None and first is not null
        state = start_newton(problem, first)
        step, record = partial(newton_step, problem), partial(self._row, problem)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self._goal()}
        limits |= {"context": context, "stop": self._stop(totals)}
        run = self._iterate(step, state, record=record, **limits)
        rank, dependent = state.solved.rank, state.solved.dependent
        if rank < len(null) and first is not null:  # seen at the mean, where every row counts
            rank, dependent = start_newton(problem, null).solved[1:]
        shape = len(problem.ridge)  # after the coefficients: the dispersion, where it is estimated
        columns = tuple(sorted({j - 1 for j in dependent if 0 < j < shape}))
        rank -= problem.shaped and shape not in dependent
        problem, run = self._settle(problem, run, totals)
        outcome = glm_outcome(problem, run, rank, columns, sampled)
        self.null_deviance_ = 2 * null_loss(problem, null[: len(problem.ridge)])
        self._finish(problem, outcome)

    def _null(self, problem: Problem, totals: Totals) -> Array:
        """The model without x, where the iteration starts."""
        return null_theta(problem, totals)

    def _stop(self, totals: Totals) -> Callable[[History], bool] | None:
        """When to end the loop before it converges."""
        return None

    def _settle(
        self, problem: Problem, run: Iteration, totals: Totals
    ) -> tuple[Problem, Iteration]:
        """The problem and the state that the outcome is read from."""
        return problem, run

    def _starts_warm(self) -> bool:
        known = getattr(self, "coef_", np.zeros(0))
        return bool(self.warm_start) and len(known) == self.n_features_in_

    def _problem(self, rows: Source, map_: Map, family: Family, totals: Totals) -> Problem:
        p = self.n_features_in_
        if family.lowest == 0 and not totals.y > 0:
            none = f"every y is 0: the {family.name} family has no finite fit with a log link"
            raise ValueError(
                none if family.link == "log" else none.removesuffix(" with a log link")
            )
        ridge = np.full(p + 1, float(self.alpha))
        ridge[0] = 0.0 if self.fit_intercept else 1.0  # without one the parameter is held at 0
        shift, first = np.zeros(p), first_rows(rows)
        if self.fit_intercept and not issparse(first.X):
            shift = typical_row(first.X[:LEAF_ROWS], first.w[:LEAF_ROWS])  # as of blocks
        found = Problem(rows, map_, family, ridge, shift, self.fit_intercept, totals.weight)
        return found._replace(wide=p >= LARGEST)

    def _first(self, problem: Problem, null: Array, last: Any) -> Array:
        """Where the iteration starts: the last fit where it is better than the model without x,
        a sample's fit, or the model without x."""
        if last is not None:
            coef, b = last
            warm = null.copy()
            warm[0], warm[1 : len(coef) + 1] = (b + problem.shift @ coef) * problem.intercept, coef
            if evaluate(problem, warm, "").objective <= evaluate(problem, null, "").objective:
                return warm
        found = sample_start(problem, null)
        if found is not null or np.isfinite(evaluate(problem, null, "").objective):
            return found
        line = problem._replace(family=tweedie(0.0, "identity"))
        found = last_step(start_newton(line, 0 * null))
        if problem.family.link == "identity" and np.isfinite(
            evaluate(problem, found, "").objective
        ):
            return found
        start = "the means overflow or are not positive where the iteration would start"
        remedy = "look at the offset" if self.fit_intercept else "fit an intercept, or link='log'"
        raise ValueError(f"{start}: {remedy}, or scale the columns down")

    def _goal(self) -> float:
        return float(self.tol) * (1e-4 if self.alpha == 0 else 1e-2)

    def _row(self, problem: Problem, state: NewtonState) -> dict[str, Any]:
        point = state.point
        deviance = 2 * point.loss / problem.total
        row: dict[str, Any] = {"objective": point.objective, "mean_deviance": deviance}
        row["share"] = state.share
        if point.theta.size <= RECORDED:
            coef, b = in_units(problem, problem.split(point.theta)[1])
            row["parameters"] = np.append(b, coef) if self.fit_intercept else coef
        return row

    def _attributes(self, problem: Problem, state: NewtonState) -> dict[str, Any]:
        """The fitted attributes at a state of the loop."""
        theta = last_step(state) if state.gap <= self._goal() else state.point.theta
        coef, b = in_units(problem, problem.split(theta)[1])
        return {"coef_": coef, "intercept_": b, "_link": problem.family.link}

    def _finish(self, problem: Problem, outcome: Outcome) -> None:
        n, closing, family = self.n_observations_, outcome.closing, problem.family
        self.coef_, self.intercept_ = in_units(problem, outcome.theta)
        self._link = family.link
        self.df_, self.deviance_ = outcome.df, closing.deviance
        free = n - outcome.df
        self.pearson_dispersion_ = closing.pearson / free if free > 0 else np.nan
        self.dispersion_ = 1.0 if family.dispersion_known else self.pearson_dispersion_
        self.log_likelihood_ = float(family.likelihood.total(n, closing.deviance, closing.base))
        counted = outcome.df + (not family.dispersion_known)
        self.aic_ = 2 * counted - 2 * self.log_likelihood_
        self.bic_ = float(counted * np.log(n)) - 2 * self.log_likelihood_
        self._converged, self._how = outcome.converged, outcome.how
        self._dependent, self._certificate = outcome.dependent, outcome.certificate
        self._vanishing, self._covariance = outcome.vanishing, outcome.covariance
        if outcome.vanishing:
            run = "coefficients run to minus infinity and the likelihood has no finite maximum"
            what = "the mean of some rows with y = 0 runs to 0 (such as a level without any count)"
            kept = "the last iterate is kept (remedies: alpha > 0, or leave those rows out)"
            warn(f"{what}: {run}; {kept}", SeparationWarning)
        elif outcome.dependent and self.alpha == 0:
            which = dependent_sentence(
                self._feature_names(), outcome.dependent, (int(n), self.n_features_in_)
            )
            many = "the coefficients are the least-norm choice of many"
            warn(f"{which}: {many}; alpha > 0 makes them unique", LinAlgWarning)

    def _scores(self, X: Any, offset: Any, exposure: Any) -> Array:
        """eta of every row."""
        rows = self._check_input(X)
        added = offset_of(self._family(), offset, exposure, rows.shape[0])
        eta = np.asarray(rows @ self.coef_) + self.intercept_
        return eta if added is None else eta + added

    def predict(
        self,
        X: ArrayLike,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Array:
        """The mean of y for every row; per unit of exposure unless ``exposure`` is given."""
        eta = self._scores(X, offset, exposure)
        if self._link == "identity":
            return eta
        if (eta > HIGHEST).any():
            warn("some means are beyond the largest number of float64, which is returned for them")
        return np.exp(np.minimum(eta, HIGHEST))

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """D^2 = 1 - deviance/deviance of the mean of y: the share of the deviance explained."""
        eta = self._scores(X, offset, exposure)
        family, y = self._family(), check_number_target(y, len(eta), False, self)
        refuse_targets(family, y)
        w = check_weights(sample_weight, eta[:, None])
        added = offset_of(family, offset, exposure, len(eta))
        target = y if added is None else np.column_stack([y, added])
        rows = Rows(np.zeros((len(y), 0)), target, w)
        totals = leaf_totals(family, rows)
        none = Problem(rows, map_threads, family, np.zeros(1), np.zeros(0), True, totals.weight)
        with np.errstate(divide="ignore"):
            null = null_loss(none, null_theta(none, totals))
        loss = float(w @ family.loss(y, family.mean(eta)))
        return float(1 - loss / null) if null > 0 else float(loss == 0)

    @property
    def covariance_(self) -> Array:
        """phi times the inverse information, the intercept first; NaN where there is none."""
        check_is_fitted(self, "coef_")
        q = self.n_features_in_ + self.fit_intercept
        return (
            np.full((q, q), np.nan) if self._covariance is None else self._phi() * self._covariance
        )

    @property
    def standard_errors_(self) -> Array:
        """Of the parameters, the intercept first."""
        return np.sqrt(np.diag(self.covariance_))

    def _phi(self) -> float:
        """The dispersion that multiplies the inverse information."""
        known = self._family().dispersion_known
        return 1.0 if known else self.pearson_dispersion_

    def _remark(self) -> str:
        """How a parameter beyond the coefficients was estimated, where there is one."""
        return ""

    def summary(
        self,
        confidence: float = 0.95,
        *,
        distribution: str = "auto",
        intervals: str = "wald",
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
    ) -> Summary:
        """Estimates with Wald tests, and Wald or profile-likelihood intervals.

        ``distribution`` is "normal" (z), "t", or "auto": t where the dispersion is estimated.
        ``intervals="profile"`` needs the training data again, with the weights, offset and
        exposure of the fit: nothing of the size of the data is stored.
        """
        check_is_fitted(self, "coef_")
        check.one_of(("wald", "profile"), intervals=intervals)
        if intervals == "wald":
            if X is not None or y is not None:
                raise ValueError("X and y are for intervals='profile'")
            return inference.glm_summary(self, confidence, distribution, None)
        if X is None or y is None:
            raise ValueError("intervals='profile' needs the training data: summary(.., X=X, y=y)")
        ends = partial(self._profile, X, y, sample_weight, offset, exposure)
        return inference.glm_summary(self, confidence, distribution, ends)

    def _profile(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, exposure: Any, cut: float
    ) -> Array:
        """Profile-likelihood intervals from the training data given again, (q, 2)."""
        X, family = self._check_input(X), self._family()
        y = check_number_target(y, X.shape[0], False, self)
        added = offset_of(family, offset, exposure, len(y))
        target = y if added is None else np.column_stack([y, added])
        rows = Rows(X, target, check_weights(sample_weight, X))
        totals = reduce_rows(
            Statistic(partial(leaf_totals, family), add_records), rows, map_threads
        )
        problem = self._problem(rows, map_threads, family, totals)._replace(shaped=False)
        centre = (self.intercept_ + problem.shift @ self.coef_) * problem.intercept
        theta = np.append(centre, self.coef_)
        if not np.isclose(2 * evaluate(problem, theta, "").loss, self.deviance_, rtol=1e-6):
            must = "X, y, sample_weight, offset and exposure must be those of the fit"
            raise ValueError(f"{must}: the deviance is not")
        return profile_intervals(problem, self._phi(), theta, cut)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        check_is_fitted(self, "coef_")
        return glm_card(self, self._family())
