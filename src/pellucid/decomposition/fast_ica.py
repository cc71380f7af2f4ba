r"""Independent component analysis: columns as mixtures of sources that know nothing of each other.

Model        x = mean + A s, the entries of s independent and at most one of them normal
Objective    directions w of the whitened rows z for which E[G(w'z)] is stationary, G' = g: sums of
             independent sources look more normal than the sources themselves
Step         w <- E[z g(w'z)] - E[g'(w'z)] w (Newton's method on the sphere), then all W together
             made orthogonal, W <- (W W')^-1/2 W, or one direction after the other ("deflation")
Cost         4 n k^2 flops and n k values of g a step

Whitening and every step are sums over the rows: blocks of a file are read once for each of them.

Reference: Hyvarinen (1999), Fast and robust fixed-point algorithms for ICA.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, fit_blocks, with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.tensors import like, namespace
from pellucid.core.arrays.typing import Array, ArrayLike, Map, MaybeArray, Seed
from pellucid.core.loops.device import DeviceRows, on_device
from pellucid.core.loops.iterate import FitContext, History, iterate, strictly_below
from pellucid.core.loops.statistics import (
    Rows,
    Source,
    Statistic,
    add_records,
    is_unit,
    reduce_rows,
)
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.decomposition import row_sums
from pellucid.decomposition.whitening import Whitening, whitening

Contrast = Callable[..., tuple[Any, Any]]  # (y, xp) -> g and g' of every entry


def log_cosh(alpha: float, y: Any, xp: Any = np) -> tuple[Any, Any]:
    t = xp.tanh(alpha * y)
    return t, alpha * (1.0 - t * t)


def gaussian(y: Any, xp: Any = np) -> tuple[Any, Any]:
    e = xp.exp(-0.5 * y * y)
    return y * e, (1.0 - y * y) * e


def cube(y: Any, xp: Any = np) -> tuple[Any, Any]:
    return y**3, 3.0 * y * y


def own_contrast(fun: Callable[..., Any], given: dict[str, Any], y: Array, xp: Any = np) -> Any:
    """A caller's g and the means of its g', spread over the rows."""
    value, slope = fun(np.ascontiguousarray(y.T), **given)
    slope = np.asarray(slope)
    whole = slope.T if slope.ndim == 2 else np.broadcast_to(slope, y.shape)
    return np.asarray(value).T, whole


class Pull(NamedTuple):
    """Sums of g(W z) z' and of g'(W z) over some rows, and their weight."""

    products: Array  # (k, k)
    slopes: Array  # (k,)
    weight: float


def leaf_pull(white: Whitening | None, g: Contrast, W: Array, rows: Rows) -> Pull:
    """The sums of one leaf, whose rows are white already where no whitening is given."""
    Z = rows.X if white is None else white.of(rows.X)
    value, slope = g(Z @ W.T)
    if is_unit(rows.w):
        return Pull(value.T @ Z, slope.sum(axis=0), float(len(Z)))
    if len(Z) > 1 and slope.strides[0] == 0:  # means of a caller's g', spread over the rows
        raise ValueError("fun gives means of g' over the rows: with weights it must give g' itself")
    return Pull((value * rows.w[:, None]).T @ Z, rows.w @ slope, float(rows.w.sum()))


@on_device(leaf_pull)
def device_pull(white: Whitening | None, g: Contrast, W: Array, rows: DeviceRows) -> Pull:
    """The same of tensors."""
    Z, xp, w = rows.X, namespace(rows.X), rows.weights()
    if white is not None:
        K = like(np.sqrt(white.n) * white.matrix.T, Z)
        Z = (Z - like(white.mean, Z)) @ K
    value, slope = g(Z @ like(W.T, Z), xp)
    return Pull(xp.matrix_transpose(value * w[:, None]) @ Z, w @ slope, float(xp.sum(w)))


Look = Callable[[Array], Pull]  # W -> E[g(W z) z'], E[g'(W z)] and the weight of the rows


def looking(rows: Source, map_: Map, white: Whitening | None, g: Contrast) -> Look:
    """One pass over the rows for every W."""

    def look(W: Array) -> Pull:
        total = reduce_rows(Statistic(partial(leaf_pull, white, g, W), add_records), rows, map_)
        n = total.weight
        return Pull(total.products / n, total.slopes / n, n)

    return look


class Turn(NamedTuple):
    """The unmixing matrix of the whitened rows, and E[y g(y)] of all sources together."""

    W: Array  # (k, k)
    contrast: float
    weight: float = 0.0  # of the rows


def orthogonal(W: Array) -> Array:
    """(W W')^-1/2 W, the orthogonal matrix nearest to W."""
    s, U = np.linalg.eigh(W @ W.T)
    s = np.maximum(s, np.finfo(np.float64).tiny)
    return (U / np.sqrt(s)) @ U.T @ W


def turn_all(look: Look, at: Turn) -> tuple[Turn, float]:
    """One step of all directions; the gap is the largest 1 - |cos| of a direction's move."""
    M, slope, n = look(at.W)
    new = orthogonal(M - slope[:, None] * at.W)
    gap = float(np.abs(np.abs(np.einsum("ij,ij->i", new, at.W)) - 1.0).max())
    return Turn(new, float(np.vdot(M, at.W)), n), gap


def turn_one(look: Look, done: Array, at: Turn) -> tuple[Turn, float]:
    """One step of one direction, kept orthogonal to those found before."""
    M, slope, n = look(at.W)
    w = M[0] - slope[0] * at.W[0]
    w = w - done.T @ (done @ w)
    w = w / max(float(np.linalg.norm(w)), np.finfo(np.float64).tiny)
    gap = float(abs(abs(w @ at.W[0]) - 1.0))
    return Turn(w[None], float(np.vdot(M, at.W)), n), gap


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

    fit_blocks = fit_blocks

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
    def fit(self, X: ArrayLike, y: MaybeArray = None, sample_weight: MaybeArray = None) -> Self:
        """Whiten the rows and turn them until the sources stand still."""
        g = self._check_parameters()
        rows = self._check_training(X, None, sample_weight)
        k = self._count(rows)
        with single_threaded_blas():
            white = whitening(rows, map_threads, k, self.whiten_solver) if self.whiten else None
        Z = rows.X if white is None else white.of(rows.X)
        look = looking(Rows(Z, None, rows.w), map_threads, None, g)
        self._unmix(look, white, k, X=X, sample_weight=sample_weight)
        return self

    @with_callbacks
    def _fit_rows(self, rows: Source, map_: Map) -> None:
        g = self._check_parameters()
        k = self._count(rows)
        white = whitening(rows, map_, k, self.whiten_solver) if self.whiten else None
        self._unmix(looking(rows, map_, white, g), white, k)

    def _unmix(self, look: Look, white: Whitening | None, k: int, **given: Any) -> None:
        """Turn the white rows until the sources stand still; set the attributes."""
        start = self._start(k)
        context = FitContext(
            self,
            max_steps=self.max_iter,
            attributes=lambda state: self._found(white, state),
            **given,
        )
        state = self._turn(look, start, context)
        for name, value in self._found(white, state).items():
            setattr(self, name, value)

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
            return partial(own_contrast, self.fun, given)
        check.one_of(("logcosh", "exp", "cube"), fun=self.fun)
        if self.fun == "logcosh":
            return partial(log_cosh, float(alpha))
        return gaussian if self.fun == "exp" else cube

    def _count(self, rows: Source) -> int:
        """How many sources; a row of weight 3 is three rows."""
        n, p, k = row_sums.count_rows(rows), self.n_features_in_, self.n_components
        if n < 2:
            raise ValueError(f"FastICA needs at least 2 rows, got n_samples={n}")
        if not self.whiten and k is not None:
            warn("Ignoring n_components with whiten=False.")
            k = None
        most = min(n, p)
        if k is not None and k > most:
            warn(f"n_components is too large: it will be set to {most}")
        return most if k is None else min(int(k), most)

    def _start(self, k: int) -> Array:
        if self.w_init is None:
            return generator(self.random_state).standard_normal((k, k))
        W = np.array(self.w_init, dtype=np.float64)
        if W.shape != (k, k):
            raise ValueError(f"w_init has invalid shape -- should be {(k, k)}, got {W.shape}")
        return W

    def _turn(self, look: Look, start: Array, context: FitContext) -> Turn:
        limits: dict[str, Any] = {"max_iter": self.max_iter, "tol": strictly_below(self.tol)}
        record = lambda at: {"objective": at.contrast}  # noqa: E731
        if self.algorithm == "parallel":
            step: Callable[[Turn], tuple[Turn, float]] = partial(turn_all, look)
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
            step = partial(turn_one, look, done)
            run = iterate(step, first, record=record, start_row=False, warn=False, **limits)
            W[j], longest = run.state.W[0], max(longest, run.n_iter)
            rows += [
                {**row, "step": len(rows) + i, "source": j} for i, row in enumerate(run.history, 1)
            ]
        self.history_, self.n_iter_ = History(rows), longest
        state = Turn(W, 0.0, run.state.weight)
        context.end(state)
        return state

    def _found(self, white: Whitening | None, at: Turn) -> dict[str, Any]:
        """The attributes of a fit that ends there."""
        W = at.W
        if white is None:
            found: dict[str, Any] = {"components_": W}
        else:
            if self.whiten == "unit-variance":  # W is orthogonal up to the rounding of Z
                spread = white.spread(W)
                W = W / np.where(spread > 0, spread, 1.0)[:, None]
            K = white.matrix
            found = {"components_": W @ K, "mean_": white.mean, "whitening_": K}
        mixing = np.linalg.pinv(found["components_"])
        return {**found, "mixing_": mixing, "_unmixing": W, "_n": at.weight}

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
