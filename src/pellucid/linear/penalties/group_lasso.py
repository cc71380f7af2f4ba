r"""Group lasso: whole groups of columns enter or leave together.

Estimator    min RSS/(2n) + alpha sum_l weight_l |w_l|_2,    weight_l = sqrt(p_l) by default
Optimal iff  X_l'r/n = alpha weight_l w_l/|w_l| for an active group,
             |X_l'r/n| <= alpha weight_l for one that is zero
Algorithm    block coordinate descent on a working set of groups, ``group_blocks.py``

Reference: Yuan & Lin (2006), Model selection and estimation in regression with grouped variables.
"""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np

from pellucid.base import with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.linear_model import LinearModel
from pellucid.linear.penalties.group_blocks import BlockProblem, Groups, State, group_columns


def group_weights(kind: Any, groups: Groups) -> Array:
    """sqrt of the size, 1, or the numbers given (one per group, in order of first appearance)."""
    if isinstance(kind, str):
        check.one_of(("sqrt", "none"), group_weights=kind)
        return np.sqrt(groups.sizes) if kind == "sqrt" else np.ones(len(groups.labels))
    weights = np.asarray(kind, dtype=np.float64)
    if weights.shape != (len(groups.labels),) or not (np.isfinite(weights) & (weights > 0)).all():
        known = f"'sqrt', 'none' or {len(groups.labels)} numbers > 0 (one per group)"
        raise ValueError(f"group_weights must be {known}, got {kind!r}")
    return weights


class GroupLasso(LinearModel):
    """Least squares with a penalty on the norm of each group of coefficients.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty strength, > 0, in RSS/(2n) + alpha sum_l weight_l |w_l|.
    groups : sequence of length n_features, optional
        A label per column; equal labels form a group. None: each column alone, the lasso.
    group_weights : {"sqrt", "none"} or array, default="sqrt"
        sqrt(size), 1, or one number > 0 per group in order of first appearance.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    max_iter : int, default=1000
        Rounds of the working set.
    tol : float, default=1e-6
        Stop when the duality gap is at most tol times the squares of y about its mean.

    Attributes
    ----------
    coef_, intercept_ : slopes (p,) and intercept
    active_groups_ : labels of the groups that are not zero
    alpha_max_ : the smallest alpha at which every group is zero
    dual_gap_ : the duality gap of RSS/(2n) + penalty
    n_iter_, history_ : rounds, and their objective and gap

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import GroupLasso
    >>> X = np.eye(4); y = [3.0, 4.0, 0.1, 0.0]
    >>> model = GroupLasso(0.2, groups=[0, 0, 1, 1], fit_intercept=False).fit(X, y)
    >>> model.active_groups_, model.coef_.round(4)
    ((0,), array([2.3212, 3.0949, 0.    , 0.    ]))
    """

    _multi_output = False

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        groups: Sequence[Any] | None = None,
        group_weights: Literal["sqrt", "none"] | Sequence[float] | Array = "sqrt",
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-6,
    ) -> None:
        self.alpha = alpha
        self.groups = groups
        self.group_weights = group_weights
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def _check_parameters(self) -> None:
        check.positive(alpha=self.alpha)
        check.boolean(fit_intercept=self.fit_intercept)
        check.whole(max_iter=self.max_iter)
        check.non_negative(tol=self.tol)

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Minimise the squares with a penalty on groups of columns."""
        return self._fit_steps(X, y, sample_weight)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        p = self.n_features_in_
        labels = list(range(p)) if self.groups is None else list(self.groups)
        if len(labels) != p:
            raise ValueError(f"groups must have one label per column ({p}), got {len(labels)}")
        groups = group_columns(labels)
        weights = group_weights(self.group_weights, groups)
        small = self._compact(rows, map_, intercept=self.fit_intercept)
        with single_threaded_blas():
            problem = BlockProblem(small.A, small.c, groups, self.alpha * small.weight * weights)
            self._run(rows, small, problem)

    def _run(self, rows: Source, small: Compact, problem: BlockProblem) -> None:
        n, rest = small.weight, float(small.rest[0, 0])

        def attributes(state: State) -> dict[str, Any]:
            coef = state.W[:, 0]
            active = np.flatnonzero(problem.group_norms(state.W))
            found = {"coef_": coef, "intercept_": self._offset(small, coef)}
            labels = tuple(problem.groups.labels[i] for i in active)
            return {**found, "dual_gap_": state.gap / n, "active_groups_": labels}

        context = FitContext.of_rows(self, rows, max_steps=self.max_iter, attributes=attributes)
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": self.tol, "start_row": False}
        limits["record"] = lambda state: {"objective": (state.objective + rest / 2) / n}
        run = self._iterate(problem.step(self.tol), problem.start(), context=context, **limits)
        found = attributes(run.state)
        self.coef_, self.intercept_ = found["coef_"], found["intercept_"]
        self.dual_gap_, self.active_groups_ = found["dual_gap_"], found["active_groups_"]
        pull = problem.group_norms(problem.Q) / problem.t
        self.alpha_max_ = float(self.alpha * pull.max(initial=0.0))
        self.n_observations_ = n
        self._n_groups = len(problem.groups.labels)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        numbers = {"alpha": self.alpha, "alpha_max": self.alpha_max_, "n": self.n_observations_}
        numbers |= {"groups": self._n_groups, "active_groups": len(self.active_groups_)}
        return Card(
            representation="y = b + x'w, the columns in groups",
            evaluation=f"RSS/(2n) + {self.alpha:.6g} sum over groups of weight |w_l|; a group is "
            "zero as a whole or not at all",
            optimisation=f"block coordinate descent on a working set, {self.n_iter_} rounds; "
            f"duality gap {self.dual_gap_:.1e} over all groups: convex, so it is at most that "
            "far above the minimum",
            numbers={**numbers, "nonzero": int(np.count_nonzero(self.coef_))},
        )
