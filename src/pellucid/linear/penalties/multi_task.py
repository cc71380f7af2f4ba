r"""Multi-task lasso: several targets select their columns together.

Estimator    min |Y - 1 b' - X W|_F^2/(2n) + alpha sum_j |W_j|_2,    W_j the row of column j
Algorithm    block coordinate descent on a working set of columns, ``group_blocks.py``

A column is zero for all targets or used by all. Reference: Obozinski, Taskar & Jordan (2010).
"""

from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from pellucid.base import check_number_target, with_callbacks
from pellucid.core.algebra.least_squares import Compact
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Source
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import single_threaded_blas
from pellucid.linear.linear_model import LinearModel, one_dimensional
from pellucid.linear.penalties.group_blocks import BlockProblem, State, group_columns


class MultiTaskLasso(LinearModel):
    """Lasso for several targets with one selection of columns.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty strength, > 0, in |Y - XW|^2/(2n) + alpha sum_j |W_j|.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    copy_X : bool, default=True
        Accepted for scikit-learn's sake; X is never changed.
    max_iter : int, default=1000
        Rounds of the working set; None means 1000.
    tol : float, default=1e-4
        Stop when the duality gap is at most tol times the squares of Y about its mean.
    warm_start : bool, default=False
        Start from the coefficients of the fit before.
    random_state, selection
        Accepted for scikit-learn's sake ("cyclic" or "random"); blocks are taken in turn.

    Attributes
    ----------
    coef_, intercept_ : slopes (n_targets, n_features) and intercepts (n_targets,)
    dual_gap_, eps_ : the duality gap, and the gap that was asked for
    n_iter_, history_ : rounds, and their objective and gap

    Examples
    --------
    >>> from pellucid import MultiTaskLasso
    >>> model = MultiTaskLasso(0.1).fit([[0.0, 0], [1, 1], [2, 2]], [[0.0, 0], [1, 1], [2, 2]])
    >>> model.coef_.round(4), model.intercept_.round(4)
    (array([[0.8939, 0.    ],
           [0.8939, 0.    ]]), array([0.1061, 0.1061]))
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: Seed = None,
        selection: str = "cyclic",
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        return tags

    def _check_parameters(self) -> None:
        check.positive(alpha=self.alpha)
        names = ("fit_intercept", "copy_X", "warm_start")
        check.boolean(**{name: getattr(self, name) for name in names})
        if self.max_iter is not None:
            check.whole(max_iter=self.max_iter)
        check.non_negative(tol=self.tol)
        check.one_of(("cyclic", "random"), selection=self.selection)
        generator(self.random_state)

    def _check_target(self, y: ArrayLike, n: int) -> Array:
        y = check_number_target(y, n, True, self)
        if y.ndim == 1:
            several = "MultiTaskLasso needs several targets, y of shape (n, k)"
            raise ValueError(f"{several}; for mono-task outputs use Lasso")
        return y

    @with_callbacks
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Minimise the squares of all targets with a penalty on rows of coefficients."""
        return self._fit_steps(X, y, sample_weight)

    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        if one_dimensional(rows):
            raise ValueError("MultiTaskLasso needs several targets; for one use Lasso")
        small = self._compact(rows, map_, intercept=self.fit_intercept)
        groups = group_columns(range(self.n_features_in_))
        with single_threaded_blas():
            t = np.full(self.n_features_in_, self.alpha * small.weight)
            self._run(rows, small, BlockProblem(small.A, small.c, groups, t))

    def _run(self, rows: Source, small: Compact, problem: BlockProblem) -> None:
        n, rest = small.weight, float(np.trace(small.rest))
        limit = 1000 if self.max_iter is None else self.max_iter

        def attributes(state: State) -> dict[str, Any]:
            coef = state.W
            b = small.intercept(coef) if self.fit_intercept else np.zeros(coef.shape[1])
            return {"coef_": coef.T.copy(), "intercept_": b, "dual_gap_": state.gap / n}

        context = FitContext.of_rows(self, rows, max_steps=limit, attributes=attributes)
        shape = (problem.c.shape[1], self.n_features_in_)
        warm = self.warm_start and np.shape(getattr(self, "coef_", ())) == shape
        start = problem.start(np.ascontiguousarray(self.coef_.T) if warm else None)
        limits: dict[str, Any] = {"max_iter": limit, "tol": self.tol, "start_row": False}
        limits["record"] = lambda state: {"objective": (state.objective + rest / 2) / n}
        run = self._iterate(problem.step(self.tol), start, context=context, **limits)
        self.coef_, self.intercept_, self.dual_gap_ = attributes(run.state).values()
        self.eps_, self.n_observations_ = self.tol * problem.scale / n, n

    @property
    def sparse_coef_(self) -> Any:
        """The coefficients as a sparse matrix."""
        return csr_array(self.coef_)

    def card(self) -> Card:
        """What is minimised and how, with the numbers of this fit."""
        used = np.flatnonzero(self.coef_.any(axis=0))
        numbers = {"alpha": self.alpha, "n": self.n_observations_, "targets": len(self.coef_)}
        return Card(
            representation="y = b + W'x for several targets with one set of columns",
            evaluation=f"RSS/(2n) + {self.alpha:.6g} sum over columns of the norm of their "
            "coefficients: a column serves all targets or none",
            optimisation=f"block coordinate descent on a working set, {self.n_iter_} rounds; "
            f"duality gap {self.dual_gap_:.1e}",
            numbers={**numbers, "columns_used": len(used)},
        )
