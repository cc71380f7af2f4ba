r"""Independent component analysis: columns as mixtures of sources that know nothing of each other.

Model        x = mean + A s, the entries of s independent and at most one of them normal
Objective    directions w of the whitened rows z for which E[G(w'z)] is stationary, G' = g: sums of
             independent sources look more normal than the sources themselves
Step         w <- E[z g(w'z)] - E[g'(w'z)] w (Newton's method on the sphere), then all W together
             made orthogonal, W <- (W W')^-1/2 W, or one direction after the other ("deflation")
Cost         4 n k^2 flops and n k values of g a step; rows are read once, in blocks

Reference: Hyvarinen (1999), Fast and robust fixed-point algorithms for ICA.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.algebra.linalg import triangle
from pellucid.core.arrays import check
from pellucid.core.arrays.scale import scaled, unit_exponent
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Seed
from pellucid.core.loops.iterate import FitContext, History, iterate, strictly_below
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.decomposition import row_sums

BLOCK = 8192  # rows at a time, whatever the number of threads
Contrast = Callable[[Array], tuple[Array, Array]]  # g and g' of every entry


def log_cosh(alpha: float) -> Contrast:
    def g(y: Array) -> tuple[Array, Array]:
        t = np.tanh(alpha * y)
        return t, alpha * (1.0 - t * t)

    return g


def gaussian(y: Array) -> tuple[Array, Array]:
    e = np.exp(-0.5 * y * y)
    return y * e, (1.0 - y * y) * e


def cube(y: Array) -> tuple[Array, Array]:
    return y**3, 3.0 * y * y


class Turn(NamedTuple):
    """The unmixing matrix of the whitened rows, and E[y g(y)] of all sources together."""

    W: Array  # (k, k)
    contrast: float


def orthogonal(W: Array) -> Array:
    """(W W')^-1/2 W, the orthogonal matrix nearest to W."""
    s, U = np.linalg.eigh(W @ W.T)
    s = np.maximum(s, np.finfo(np.float64).tiny)
    return (U / np.sqrt(s)) @ U.T @ W


def expectations(Z: Array, W: Array, g: Contrast) -> tuple[Array, Array]:
    """E[g(W z) z'] and E[g'(W z)]."""

    def one(start: int) -> tuple[Array, Array]:
        part = Z[start : start + BLOCK]
        value, slope = g(part @ W.T)
        return value.T @ part, slope.sum(axis=0)

    found = list(map_threads(one, range(0, len(Z), BLOCK)))
    return sum(f[0] for f in found) / len(Z), sum(f[1] for f in found) / len(Z)


def turn_all(Z: Array, g: Contrast, at: Turn) -> tuple[Turn, float]:
    """One step of all directions; the gap is the largest 1 - |cos| of a direction's move."""
    M, slope = expectations(Z, at.W, g)
    new = orthogonal(M - slope[:, None] * at.W)
    gap = float(np.abs(np.abs(np.einsum("ij,ij->i", new, at.W)) - 1.0).max())
    return Turn(new, float(np.vdot(M, at.W))), gap


class Whitened(NamedTuple):
    """Rows of unit covariance: Z = (X - mean) K'."""

    Z: Array  # (n, k)
    K: Array  # (k, p)
    mean: Array  # (p,)


def whitened(X: Array, k: int, solver: str) -> Whitened:
    """By the SVD of the triangle of X, or by the eigenvectors of X'X."""
    n, mean = len(X), X.mean(axis=0)
    C = X - mean
    if not C.any():
        raise ValueError("no column varies, so there is nothing to unmix")
    shift = unit_exponent(C)  # LAPACK loses its way among denormal numbers
    C = scaled(C, shift)
    if solver == "svd":
        tall = n > X.shape[1]
        _, d, V = np.linalg.svd(triangle(C) if tall else C, full_matrices=False)
    else:
        squares, U = np.linalg.eigh(C.T @ C)
        floor = 10 * np.finfo(np.float64).eps * max(float(squares[-1]), np.finfo(np.float64).tiny)
        if (squares < floor).any():
            warn(
                "There are some small singular values, using whiten_solver = 'svd' might lead to "
                "more accurate results."
            )
        d, V = np.sqrt(np.maximum(squares, floor))[::-1], U.T[::-1]
    tiny = np.finfo(np.float64).eps * max(float(d[0]), np.finfo(np.float64).tiny)
    signs = np.where(V[:, :1] < 0, -1.0, 1.0)
    K = (signs * V)[:k] / np.maximum(d[:k], tiny)[:, None]
    Z = np.ascontiguousarray(C @ K.T * np.sqrt(n))
    K = scaled(K, shift)
    if not np.isfinite(K).all():
        raise ValueError(
            f"the columns vary by {np.ldexp(1.0, shift):.3g} at most, too little to be scaled to "
            "unit variance: multiply X by a large number"
        )
    return Whitened(Z, K, mean)


class FastICA(ClassNamePrefixFeaturesOutMixin, Transformer):
    """Unmixes columns into independent sources.

    Parameters
    ----------
    n_components : int or None, default=None
        Sources; None: as many as columns.
    algorithm : {"parallel", "deflation"}, default="parallel"
        All directions together, or one after the other.
    whiten : {"unit-variance", "arbitrary-variance"} or False, default="unit-variance"
        Size of the sources; False: X is white already.
    fun : {"logcosh", "exp", "cube"} or callable, default="logcosh"
        g: tanh for any source, "exp" for heavy tails, "cube" for kurtosis. A callable takes
        (sources, rows) and returns g and the mean of g' over the last axis.
    fun_args : dict or None, default=None
        ``{"alpha": a}`` of "logcosh", 1 <= a <= 2; arguments of a callable.
    max_iter : int, default=200
        Most steps.
    tol : float, default=1e-4
        It ends when no direction turns by more: 1 - |cos| < tol.
    w_init : ndarray of shape (n_components, n_components) or None, default=None
        Start; None: random.
    whiten_solver : {"eigh", "svd"}, default="svd"
        "eigh" is faster for many rows, "svd" exact for nearly dependent columns.
    random_state : int, RandomState, Generator or None, default=None
        Of the start.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features), what unmixes
    mixing_ : ndarray of shape (n_features, n_components), its pseudo-inverse
    mean_, whitening_ : of whitening
    n_iter_, history_ : steps; E[y g(y)], which the sources make extreme, at each

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import FastICA
    >>> t = np.linspace(0, 8, 2000)
    >>> sources = np.column_stack([np.sin(2 * t), np.sign(np.sin(3 * t))])
    >>> found = FastICA(random_state=0).fit_transform(sources @ [[1.0, 0.5], [1.0, 2.0]])
    >>> np.abs(np.corrcoef(sources.T, found.T)[:2, 2:]).max(axis=1).round(2)
    array([1., 1.])
    """

    def __init__(
        self,
        n_components: int | None = None,
        *,
        algorithm: str = "parallel",
        whiten: str | Literal[False] = "unit-variance",
        fun: str | Callable[..., Any] = "logcosh",
        fun_args: dict[str, Any] | None = None,
        max_iter: int = 200,
        tol: float = 1e-4,
        w_init: Array | None = None,
        whiten_solver: str = "svd",
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.whiten = whiten
        self.fun = fun
        self.fun_args = fun_args
        self.max_iter = max_iter
        self.tol = tol
        self.w_init = w_init
        self.whiten_solver = whiten_solver
        self.random_state = random_state

    @with_callbacks
    def fit(self, X: ArrayLike, y: MaybeArray = None) -> Self:
        """Whiten the rows and turn them until the sources stand still."""
        g = self._check_parameters()
        rows = self._check_training(X).X
        if len(rows) < 2:
            raise ValueError(f"FastICA needs at least 2 rows, got n_samples={len(rows)}")
        with np.errstate(over="ignore"):
            row_sums.refuse_overflow(np.square(rows).sum())
        k = self._count(*rows.shape)
        with single_threaded_blas():
            white = self._white(rows, k)
        start = self._start(k)
        context = FitContext(
            self,
            X=X,
            max_steps=self.max_iter,
            attributes=lambda state: self._found(white, state.W),
        )
        state = self._turn(white.Z, start, g, context)
        for name, value in self._found(white, state.W).items():
            setattr(self, name, value)
        return self

    def _check_parameters(self) -> Contrast:
        check.whole(max_iter=self.max_iter, **check.given(n_components=self.n_components))
        check.non_negative(tol=self.tol)
        check.one_of(("parallel", "deflation"), algorithm=self.algorithm)
        check.one_of(("eigh", "svd"), whiten_solver=self.whiten_solver)
        if self.whiten is not False:
            check.one_of(("unit-variance", "arbitrary-variance"), whiten=self.whiten)
        given = self.fun_args or {}
        alpha = given.get("alpha", 1.0)
        if not 1 <= alpha <= 2:
            raise ValueError(f"alpha must be in [1,2], got {alpha!r}")
        if callable(self.fun):
            own = self.fun
            return lambda y: own_contrast(own, given, y)
        check.one_of(("logcosh", "exp", "cube"), fun=self.fun)
        return {"logcosh": log_cosh(float(alpha)), "exp": gaussian, "cube": cube}[self.fun]

    def _count(self, n: int, p: int) -> int:
        k = self.n_components
        if not self.whiten and k is not None:
            warn("Ignoring n_components with whiten=False.")
            k = None
        most = min(n, p)
        if k is not None and k > most:
            warn(f"n_components is too large: it will be set to {most}")
        return most if k is None else min(int(k), most)

    def _white(self, X: Array, k: int) -> Whitened:
        if self.whiten:
            return whitened(X, k, self.whiten_solver)
        return Whitened(X, np.eye(X.shape[1]), np.zeros(X.shape[1]))

    def _start(self, k: int) -> Array:
        if self.w_init is None:
            return generator(self.random_state).standard_normal((k, k))
        W = np.array(self.w_init, dtype=np.float64)
        if W.shape != (k, k):
            raise ValueError(f"w_init has invalid shape -- should be {(k, k)}, got {W.shape}")
        return W

    def _turn(self, Z: Array, start: Array, g: Contrast, context: FitContext) -> Turn:
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": strictly_below(self.tol)}
        record = lambda at: {"objective": at.contrast}  # noqa: E731
        if self.algorithm == "parallel":
            step: Callable[[Turn], tuple[Turn, float]] = partial(turn_all, Z, g)
            first = Turn(orthogonal(start), 0.0)
            run = self._iterate(
                step, first, record=record, context=context, start_row=False, **limits
            )
            return run.state
        rows: list[dict[str, Any]] = []
        W, longest = np.zeros_like(start), 1
        for j, w in enumerate(start):
            done = W[:j]
            first = Turn((w / np.linalg.norm(w))[None], 0.0)
            step = partial(turn_one, Z, g, done)
            run = iterate(step, first, record=record, start_row=False, warn=False, **limits)
            W[j], longest = run.state.W[0], max(longest, run.n_iter)
            rows += [
                {**row, "step": len(rows) + i, "source": j} for i, row in enumerate(run.history, 1)
            ]
        self.history_, self.n_iter_ = History(rows), longest
        state = Turn(W, 0.0)
        context.end(state)
        return state

    def _found(self, white: Whitened, W: Array) -> dict[str, Any]:
        """The attributes of a fit that ends with W."""
        if not self.whiten:
            found: dict[str, Any] = {"components_": W}
        else:
            if self.whiten == "unit-variance":  # W is orthogonal up to the rounding of Z
                spread = (white.Z @ W.T).std(axis=0) / np.sqrt(len(white.Z))
                W = W / np.where(spread > 0, spread, 1.0)[:, None]
            found = {"components_": W @ white.K, "mean_": white.mean, "whitening_": white.K}
        mixing = np.linalg.pinv(found["components_"])
        return {**found, "mixing_": mixing, "_unmixing": W, "_n": len(white.Z)}

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def transform(self, X: ArrayLike, copy: bool = True) -> Any:
        """The sources of the rows; ``copy`` is accepted and X never changed."""
        rows, A = self._check_input(X), self.components_.T
        mean = self.mean_ if self.whiten else 0.0
        return row_sums.by_leaves(rows, lambda part: (part - mean) @ A)

    def inverse_transform(self, X: ArrayLike, copy: bool = True) -> Array:
        """The rows of given sources; ``copy`` is accepted and X never changed."""
        check_is_fitted(self)
        S = row_sums.checked_scores(X, self._n_features_out)
        return S @ self.mixing_.T + (self.mean_ if self.whiten else 0.0)

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        k, p = len(self.components_), self.n_features_in_
        return {"components_": (k, p), "mixing_": (p, k)} | ({"mean_": (p,)} if self.whiten else {})

    def card(self) -> Card:
        """What is unmixed, by which contrast, in how many steps."""
        check_is_fitted(self)
        k, p = self.components_.shape
        fun = getattr(self.fun, "__name__", self.fun)
        return Card(
            f"x = mean + A s, {k} independent sources s of {p} columns",
            f"E[G(s)] stationary for G of {fun!r}, directions of the whitened rows",
            f"fixed point, {self.algorithm}: {self.n_iter_} steps",
            {"rows": self._n, "sources": k, "steps": self.n_iter_},
            warnings=("sources have no order, sign or size of their own",),
        )


def own_contrast(fun: Callable[..., Any], given: dict[str, Any], y: Array) -> tuple[Array, Array]:
    """A caller's g and the means of its g', spread over the rows."""
    value, slope = fun(np.ascontiguousarray(y.T), **given)
    slope = np.asarray(slope)
    whole = slope.T if slope.ndim == 2 else np.broadcast_to(slope, y.shape)
    return np.asarray(value).T, whole


def turn_one(Z: Array, g: Contrast, done: Array, at: Turn) -> tuple[Turn, float]:
    """One step of one direction, kept orthogonal to those found before."""
    M, slope = expectations(Z, at.W, g)
    w = M[0] - slope[0] * at.W[0]
    w = w - done.T @ (done @ w)
    w = w / max(float(np.linalg.norm(w)), np.finfo(np.float64).tiny)
    return Turn(w[None], float(np.vdot(M, at.W))), float(abs(abs(w @ at.W[0]) - 1.0))
