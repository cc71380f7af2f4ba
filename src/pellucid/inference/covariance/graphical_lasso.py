r"""Graphical lasso: a sparse inverse covariance.

Model        rows ~ N(m, T^-1); T_ij = 0 says that columns i and j are independent given the others
Objective    f(T) = tr(S T) - log det T + alpha sum_{i != j} |T_ij|,   S the empirical covariance
Dual         g(W) = log det W + p,  |W_ij - S_ij| <= alpha off the diagonal, W_ii = S_ii
             f(T) >= g(W) for every such pair: their difference bounds the distance from the minimum
Algorithm    a column at a time, the others of W = T^-1 held: its optimum is a lasso with Gram
             matrix W_11 and products s_12, W_12 = W_11 b, T_jj = 1 / (S_jj - W_12'b),
             T_12 = - b T_jj.    O(p^3) for a sweep

W stays feasible after every column, so that the gap is a certificate at any time.
References: Banerjee, El Ghaoui & d'Aspremont (2008); Friedman, Hastie & Tibshirani (2008).
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, pinvh

from pellucid.base import fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, Map, MaybeArray
from pellucid.core.loops.iterate import FitContext, History
from pellucid.core.loops.statistics import Moments, Source, reduce_rows
from pellucid.core.records import Card
from pellucid.core.runtime.threads import map_threads
from pellucid.inference.covariance.covariance_model import (
    CENTRED,
    CovarianceModel,
    mean_log_density,
    squares_about,
)
from pellucid.inference.covariance.kernels import sweep_columns

INNER = 10_000  # sweeps of one lasso at most
EPS = float(np.finfo(np.float64).eps)


class Sparse(NamedTuple):
    """A pair of the primal and the dual, and how far apart they are."""

    covariance: Array  # (p, p)  W
    precision: Array  # (p, p)  T
    B: Array  # (p, p)  the lassos of the columns
    objective: float  # f(T)
    gap: float  # f(T) - g(W)


def objective(S: Array, T: Array, alpha: float) -> float:
    """f(T); inf where T is not positive definite."""
    if not np.isfinite(T).all():
        return np.inf
    sign, size = np.linalg.slogdet(T)
    if sign <= 0 or not np.isfinite(size):
        return np.inf
    off = np.abs(T).sum() - np.abs(np.diag(T)).sum()
    return float((S * T).sum() - size + alpha * off)


def dual_value(S: Array, W: Array, alpha: float) -> float:
    """g of W brought inside its box; -inf where that is not positive definite."""
    W = np.clip(0.5 * (W + W.T), S - alpha, S + alpha)
    np.fill_diagonal(W, np.diag(S))
    if not np.isfinite(W).all():
        return -np.inf
    try:
        L = cho_factor(W, lower=True)[0]
    except np.linalg.LinAlgError:
        return -np.inf
    return float(2 * np.log(np.diag(L)).sum() + len(W))


def precision_of(W: Array, B: Array) -> Array:
    """T from the lassos of the columns, made symmetric."""
    own = 1.0 / (np.diag(W) - (W * B).sum(axis=1))
    T = -B * own[:, None]
    np.fill_diagonal(T, own)
    T = np.where((T == 0) | (T.T == 0), 0.0, 0.5 * (T + T.T))
    return np.asarray(T)


def judged(S: Array, W: Array, B: Array, alpha: float) -> Sparse:
    """The pair that W and B stand for, with its gap."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # lost: f is inf then
        T = precision_of(W, B)
        f = objective(S, T, alpha)
        return Sparse(W, T, B, f, f - dual_value(S, W, alpha))


def start_of(S: Array, alpha: float, W: Array | None = None) -> Sparse:
    """Where the sweeps begin: W with cells 5 % nearer to 0, which makes it positive definite."""
    W = 0.95 * (S if W is None else W)
    np.fill_diagonal(W, np.diag(S))
    T = pinvh(W)
    with np.errstate(all="ignore"):
        B = -T / np.diag(T)[:, None]
    B = np.where(np.isfinite(B), B, 0.0)
    np.fill_diagonal(B, 0.0)
    return Sparse(W, T, np.ascontiguousarray(B), np.inf, np.inf)


def sweep(S: Array, alpha: float, inner_tol: float, state: Sparse) -> tuple[Sparse, float]:
    """Every column once; how far that was from the end, by the gap or by what moved.

    The gap alone would stop too early: where the objective is within ``tol``, W and T are only
    within its root.
    """
    W, B = np.ascontiguousarray(state.covariance).copy(), state.B.copy()
    sweep_columns(W, S, alpha, B, INNER, inner_tol)
    new = judged(S, W, B, alpha)
    far = max(new.gap, moved(S, state.covariance, W))
    return new, far if np.isfinite(far) else LARGE


def moved(S: Array, before: Array, after: Array) -> float:
    """The largest change of a cell of W, in units of the deviations of its two columns."""
    d = np.sqrt(np.diag(S))
    d = np.where(d > 0, d, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):  # lost: no number, and not the end
        return float((np.abs(after - before) / d / d[:, None]).max())


LARGE = 1e300  # a gap where one side is not positive definite yet


def alpha_max(S: Array) -> float:
    """The least alpha that makes all columns independent: the largest cell off the diagonal.

    >>> alpha_max(np.array([[1.0, -0.4], [-0.4, 2.0]]))
    0.4
    """
    A = np.abs(S).copy()
    np.fill_diagonal(A, 0.0)
    return float(A.max())


class GraphicalModel(CovarianceModel):
    """Base of the graphical lassos: sweeps to a certified gap."""

    tol: float
    enet_tol: float
    max_iter: int
    mode: str
    eps: float

    def _check_solver(self) -> None:
        check.positive(enet_tol=self.enet_tol)
        check.non_negative(tol=self.tol, eps=self.eps)
        check.whole(at_least=0, max_iter=self.max_iter)
        check.one_of(("cd", "lars"), mode=self.mode)
        check.boolean(assume_centered=self.assume_centered)

    def _center(self, found: Moments) -> Array:
        """S of the rows about their mean, or about 0; sets ``location_``."""
        self.location_ = np.zeros(len(found.mean)) if self.assume_centered else found.mean.copy()
        return squares_about(found, self.location_)

    def _refuse_constant(self, S: Array) -> None:
        """Without a variance log det T has no bound: there is no minimum."""
        constant = np.diag(S) <= (16 * EPS * self.location_) ** 2  # all that rounding leaves
        if constant.any():
            where = self._column_name(int(np.argmax(constant)))
            raise ValueError(
                f"{where} does not vary: its variance is 0 and has no inverse; leave it out"
            )

    def _solve(self, S: Array, alpha: float, context: FitContext) -> None:
        """Sweep until the gap is at most ``tol``; set the attributes."""
        self._alpha, self._empirical = float(alpha), S
        constant = 2 * len(S) * np.log(2 * np.pi)  # part of scikit-learn's costs
        if alpha == 0 or self.max_iter == 0:
            T = pinvh(S)
            self.covariance_, self.precision_ = S.copy(), T
            gap = float((S * T).sum() - len(S))
            self.costs_, self.n_iter_ = [(objective(S, T, alpha) + constant, gap)], 0
            self.history_, self.dual_gap_ = History(), abs(gap)
            context.end()
            return
        inner = min(self.enet_tol, self.tol if self.tol > 0 else EPS) * 1e-2
        run = self._iterate(
            lambda state: sweep(S, alpha, inner, state),
            start_of(S, alpha),
            max_iter=self.max_iter,
            tol=self.tol,
            record=lambda state: {"objective": state.objective, "dual_gap": state.gap},
            start_row=False,
            context=context,
        )
        state = run.state
        self.covariance_, self.precision_ = state.covariance, state.precision
        self.costs_ = [(row["objective"] + constant, row["dual_gap"]) for row in self.history_]
        self.dual_gap_ = state.gap

    def _as_stopped(self, state: Sparse) -> dict[str, Any]:
        found = {"covariance_": state.covariance, "precision_": state.precision}
        return {**found, "n_iter_": 1}

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        p = len(self.covariance_)
        edges = int((self.precision_[np.triu_indices(p, 1)] != 0).sum())
        value = mean_log_density(self._empirical, self.precision_)
        return Card(
            f"rows ~ N(m, T^-1); {edges} of {p * (p - 1) // 2} cells of T are not 0, each an edge "
            "between columns that depend on each other given the rest",
            f"tr(S T) - log det T + {self._alpha:g} sum of |T_ij| off the diagonal",
            f"a lasso for each column in turn, {self.n_iter_} sweeps; at most {self.dual_gap_:.3g} "
            "above the minimum (duality gap)",
            {
                "columns": p,
                "edges": edges,
                "alpha": self._alpha,
                "duality gap": self.dual_gap_,
                "mean log density": value,
            },
            warnings=("alpha is in squared units of the columns: scale them first",),
        )


class GraphicalLasso(GraphicalModel):
    """Sparse inverse covariance by an L1 penalty.

    Parameters
    ----------
    alpha : float, default=0.01
        Penalty of a cell of the inverse off the diagonal, >= 0, in squared units of the columns.
    mode : {"cd", "lars"}, default="cd"
        Without effect: columns are solved by coordinate descent.
    covariance : "precomputed" or None, default=None
        "precomputed": X is a covariance matrix.
    tol : float, default=1e-4
        Stop where neither the duality gap nor the last step of a cell of the covariance, in units
        of its columns' deviations, is larger.
    enet_tol : float, default=1e-4
        Exactness of the column problems; they are solved to a hundredth of it and of ``tol``.
    max_iter : int, default=100
        Sweeps at most.
    verbose : bool, default=False
        True prints the steps and the time of the fit.
    eps : float, default=2.2e-16
        Without effect.
    assume_centered : bool, default=False
        The centre is 0 and not the mean.

    Attributes
    ----------
    covariance_, precision_ : ndarray of shape (n_features, n_features)
    location_ : ndarray of shape (n_features,)
    n_iter_ : int
    costs_ : list of (objective, dual gap), one for each sweep
    dual_gap_ : float
        The certificate: the objective is at most this far above its minimum.
    history_ : History
        ``objective`` and ``dual_gap`` of every sweep.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import GraphicalLasso
    >>> S = np.array([[1.0, 0.6, 0.36], [0.6, 1.0, 0.6], [0.36, 0.6, 1.0]])  # a chain
    >>> model = GraphicalLasso(0.3, covariance="precomputed").fit(S)
    >>> bool(model.precision_[0, 2] == 0), bool(model.dual_gap_ < 1e-4)
    (True, True)
    """

    fit_blocks = fit_blocks

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        mode: str = "cd",
        covariance: str | None = None,
        tol: float = 1e-4,
        enet_tol: float = 1e-4,
        max_iter: int = 100,
        verbose: bool = False,
        eps: float = EPS,
        assume_centered: bool = False,
    ) -> None:
        self.alpha = alpha
        self.mode = mode
        self.covariance = covariance
        self.tol = tol
        self.enet_tol = enet_tol
        self.max_iter = max_iter
        self.verbose = verbose
        self.eps = eps
        self.assume_centered = assume_centered

    @with_callbacks
    def fit(
        self, X: ArrayLike, y: MaybeArray = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Find the sparse inverse covariance of the rows."""
        self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        refuse_few(rows.X.shape)
        if self.covariance == "precomputed":
            S = np.array(rows.X)
            if S.shape[0] != S.shape[1] or not np.allclose(S, S.T):
                raise ValueError(f"a covariance must be square and symmetric, got {S.shape}")
            self.location_ = np.zeros(len(S))
        else:
            S = self._center(reduce_rows(CENTRED, rows, map_threads))
        self._solve_checked(S, X=rows.X, sample_weight=sample_weight)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        self._check_parameters()
        if self.covariance == "precomputed":
            raise ValueError("covariance='precomputed' is one matrix, not blocks of rows: use fit")
        refuse_few((rows.n_rows, self.n_features_in_))
        self._solve_checked(self._center(reduce_rows(CENTRED, rows, map_)))

    def _check_parameters(self) -> None:
        check.non_negative(alpha=self.alpha)
        if self.covariance is not None:
            check.one_of(("precomputed",), covariance=self.covariance)
        self._check_solver()

    def _solve_checked(self, S: Array, **data: Any) -> None:
        steps = max(self.max_iter, 1)
        context = FitContext(self, max_steps=steps, attributes=self._as_stopped, **data)
        if self.alpha > 0:
            self._refuse_constant(S)
        self._solve(S, self.alpha, context)


def refuse_few(shape: tuple[int, int]) -> None:
    """An inverse covariance needs two rows and two columns."""
    if shape[1] < 2:
        raise ValueError(f"Found array with 1 feature(s) (shape={shape}) while 2 are needed")
    if shape[0] < 2:
        raise ValueError(f"Found array with 1 sample(s) (shape={shape}) while 2 are needed")
