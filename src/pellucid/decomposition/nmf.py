r"""Non-negative matrix factorisation: a table as a sum of parts that are only ever added.

Model        X ~ W H,  W (n, k) >= 0,  H (k, p) >= 0
Objective    d(X, W H) + p alpha_W (r |W|_1 + (1 - r)|W|^2/2) + n alpha_H (r |H|_1 + (1 - r)|H|^2/2)
             d the beta divergence: half the squared distance (2), Kullback & Leibler's (1), Itakura
             & Saito's (0), or any between and beyond
"cd"         beta = 2: given H every row of W is a small problem in HH' and its row of XH';
             coordinate descent on one entry after the other, then the same for H.  4 n p k a round
             for the two products, 2 (n + p) k^2 for the descent, in threads by rows; X is read
             once a round. At the end each row of W is solved: descent finds which entries are
             above 0, a small system their values
"mu"         any beta: entries times quotients of the two parts of the gradient, never below 0

References: Lee & Seung (1999); Cichocki & Phan (2009); Fevotte & Idier (2011).
"""

from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from pellucid.base import Transformer, with_callbacks
from pellucid.core.algebra.linalg import in_range
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, MaybeArray, Rng, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.core.runtime.warn import warn
from pellucid.decomposition import row_sums
from pellucid.decomposition.nmf_kernels import SINGULAR, descend_rows, solve_rows
from pellucid.decomposition.nmf_parts import LOSSES, STARTS, Penalty, divergence, multiply, start
from pellucid.decomposition.truncated_svd import rows_between

ROWS = 4096  # of W at a time, whatever the number of threads
CHUNKS = 32  # of the rows in a round: their sums are added in this order
CELLS = 64_000  # of X at a time in a round: half a megabyte stays in cache
EVERY = 10  # steps of "mu" between two looks at the divergence
FINE = 1e-3  # of tol: how far the rows of W are solved for a given H


class Parts(NamedTuple):
    """The factors after a step; what the stopping rule remembers."""

    W: Array  # (n, k)
    H: Array  # (k, p)
    objective: float
    first: float  # the violation of the first round, or the divergence at the start
    last: float  # the last divergence looked at
    gap: float
    step: int = 0


def solved(X: Any, H: Array, l1: float, l2: float, tol: float, max_iter: int) -> Array:
    """The best W >= 0 for this H, row by row: what a row gets does not depend on the others."""
    G = H @ H.T + l2 * np.eye(len(H))
    B = np.ascontiguousarray(np.asarray(X @ H.T) - l1)
    W = free_minima(G, B)
    left = np.flatnonzero((W == 0).any(axis=1))
    rest, targets = np.zeros((len(left), len(H))), B[left]
    parts = [(i, min(i + ROWS, len(left))) for i in range(0, len(left), ROWS)]
    list(map_threads(lambda part: solve_rows(rest, G, targets, tol, max_iter, *part), parts))
    W[left] = rest
    return W


def free_minima(G: Array, B: Array) -> Array:
    """The minima w = G^-1 b of the rows where all entries are above 0; 0 in all other rows.

    >>> free_minima(np.array([[2.0]]), np.array([[3.0], [-1.0]])).ravel()
    array([1.5, 0. ])
    """
    try:
        L, lower = cho_factor(in_range(G, "the products of the factors"), lower=True)
    except np.linalg.LinAlgError:
        return np.zeros_like(B)
    if not (np.diag(L) ** 2 > SINGULAR * np.diag(G)).all():
        return np.zeros_like(B)
    W = cho_solve((L, lower), B.T).T
    return np.where((W > 0).all(axis=1)[:, None], W, 0.0)


def coordinate_round(
    X: Any, squares: float, penalty: Penalty, rng: Rng | None, at: Parts
) -> tuple[Parts, float]:
    """W, then H, one round each; the gap is their violation beside that of the first round.

    A row of W needs H and its own row of X only: a tile of rows gives its share of X'W and W'W
    while it is in cache, so that a round reads X once.
    """
    (n, p), k = X.shape, at.W.shape[1]
    W, Ht, eye = at.W.copy(), np.ascontiguousarray(at.H.T), np.eye(k)
    order = np.arange(k) if rng is None else rng.permutation(k)
    HH = Ht.T @ Ht + penalty.rows_l2 * eye
    step, tile = max(1, -(-n // CHUNKS)), max(64, CELLS // p)

    def chunk(first: int) -> tuple[float, Array, Array]:
        moved, B, G = 0.0, np.zeros((p, k)), np.zeros((k, k))
        last = min(first + step, n)
        for a in range(first, last, tile):
            A, V = rows_between(X, a, min(a + tile, last)), W[a : min(a + tile, last)]
            targets = np.ascontiguousarray(A @ Ht)
            targets -= penalty.rows_l1
            moved += descend_rows(V, HH, targets, order, 0, len(V))
            B += A.T @ V
            G += V.T @ V
        return moved, B, G

    parts = list(map_threads(chunk, range(0, n, step)))
    moved, B, G = (sum(part[i] for part in parts) for i in range(3))
    order = np.arange(k) if rng is None else rng.permutation(k)
    targets = B - penalty.parts_l1
    moved += descend_rows(Ht, G + penalty.parts_l2 * eye, targets, order, 0, p)
    value = 0.5 * (squares - 2.0 * np.vdot(B, Ht) + np.vdot(G, Ht.T @ Ht))
    value += penalty.rows_l1 * W.sum() + penalty.parts_l1 * Ht.sum()
    value += 0.5 * (penalty.rows_l2 * np.vdot(W, W) + penalty.parts_l2 * np.vdot(Ht, Ht))
    first = moved if at.step == 0 else at.first
    gap = moved / first if first > 0 else 0.0
    new = Parts(W, np.ascontiguousarray(Ht.T), float(value), first, 0.0, gap, at.step + 1)
    return new, gap


def multiplicative_round(
    X: Any, beta: float, penalty: Penalty, whole: bool, at: Parts
) -> tuple[Parts, float]:
    """W, then H; every tenth round looks whether the divergence still falls."""
    W = multiply(X, at.W, at.H, beta, penalty, "W")
    H = multiply(X, W, at.H, beta, penalty, "H") if whole else at.H
    new = at._replace(W=W, H=H, step=at.step + 1)
    if new.step % EVERY == 0:
        error = divergence(X, W, H, beta)
        gap = (at.last - error) / at.first if at.first > 0 else 0.0
        new = new._replace(objective=error, last=error, gap=max(gap, 0.0))
    return new, new.gap


class NMF(ClassNamePrefixFeaturesOutMixin, Transformer):
    """A non-negative table as a sum of few non-negative parts.

    Parameters
    ----------
    n_components : int, "auto" or None, default="auto"
        k; "auto" (unless ``init="custom"``) and None: as many as columns.
    init : {"random", "nndsvd", "nndsvda", "nndsvdar", "custom"} or None, default=None
        Start; the nndsvd's are from singular vectors, zeros filled with the mean ("a") or small
        random numbers ("ar"). None: "nndsvda" where k allows it. "custom": W and H are given.
    solver : {"cd", "mu"}, default="cd"
        Coordinate descent, or multiplicative updates.
    beta_loss : {"frobenius", "kullback-leibler", "itakura-saito"} or float, default="frobenius"
        The divergence; others than the first need "mu".
    tol : float, default=1e-4
        It ends when the violation ("cd") or the gain in ten steps ("mu") is at most this share of
        the first.
    max_iter : int, default=200
        Most rounds.
    random_state : int, RandomState, Generator or None, default=None
        Of the start and of ``shuffle``.
    alpha_W, alpha_H : float, default=0.0 and "same"
        Strength of the penalties of W and H; "same" is that of W.
    l1_ratio : float, default=0.0
        Share of the l1 part of the penalties.
    verbose : int, default=0
        Above 0 prints the rounds.
    shuffle : bool, default=False
        Visit the components in random order ("cd").

    Attributes
    ----------
    components_ : ndarray of shape (n_components_, n_features), H
    n_components_ : int
    reconstruction_err_ : float, sqrt(2 d(X, W H))
    n_iter_, history_ : rounds; the objective ("mu": the error, every tenth round) at each

    Examples
    --------
    >>> import numpy as np
    >>> from pellucid import NMF
    >>> X = np.array([[1, 1], [2, 1], [3, 1.2], [4, 1], [5, 0.8], [6, 1]])
    >>> model = NMF(2, init="nndsvda", max_iter=2000, random_state=0)
    >>> W = model.fit_transform(X)
    >>> np.abs(W @ model.components_ - X).max().round(2)
    np.float64(0.0)
    """

    _accepts_sparse = True

    def __init__(
        self,
        n_components: int | Literal["auto"] | None = "auto",
        *,
        init: str | None = None,
        solver: str = "cd",
        beta_loss: str | float = "frobenius",
        tol: float = 1e-4,
        max_iter: int = 200,
        random_state: Seed = None,
        alpha_W: float = 0.0,
        alpha_H: float | Literal["same"] = "same",
        l1_ratio: float = 0.0,
        verbose: int = 0,
        shuffle: bool = False,
    ) -> None:
        self.n_components = n_components
        self.init = init
        self.solver = solver
        self.beta_loss = beta_loss
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.alpha_W = alpha_W
        self.alpha_H = alpha_H
        self.l1_ratio = l1_ratio
        self.verbose = verbose
        self.shuffle = shuffle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def fit(self, X: ArrayLike, y: MaybeArray = None, W: Any = None, H: Any = None) -> Self:
        """Learn the parts; W and H are the start of ``init="custom"``."""
        self.fit_transform(X, W=W, H=H)
        return self

    @with_callbacks
    def fit_transform(
        self, X: ArrayLike, y: MaybeArray = None, W: Any = None, H: Any = None
    ) -> Any:
        """Learn the parts and return W."""
        beta = self._check_parameters()
        A = self._check_training(X).X
        self._check_signs(A, beta)
        with np.errstate(over="ignore"):
            squares = float((A.multiply(A) if issparse(A) else np.square(A)).sum())
        row_sums.refuse_overflow(np.float64(squares))
        rng = generator(self.random_state)
        W, H = self._begin(A, W, H, rng)
        penalty = self._penalty(*A.shape)
        context = FitContext(
            self,
            X=X,
            max_steps=self.max_iter,
            attributes=lambda at: self._found(A, at, beta, penalty)[0],
        )
        with single_threaded_blas():
            at = self._rounds(A, W, H, beta, squares, penalty, rng, context)
            found, W = self._found(A, at, beta, penalty)
        for name, value in found.items():
            setattr(self, name, value)
        return W

    def _check_parameters(self) -> float:
        check.whole(max_iter=self.max_iter)
        check.non_negative(tol=self.tol, alpha_W=self.alpha_W)
        if self.alpha_H != "same":
            check.non_negative(alpha_H=self.alpha_H)
        check.non_negative(l1_ratio=self.l1_ratio)
        if self.l1_ratio > 1:
            raise ValueError(f"l1_ratio must be between 0 and 1, got {self.l1_ratio!r}")
        check.boolean(shuffle=self.shuffle)
        if self.n_components is not None and self.n_components != "auto":
            check.whole(n_components=self.n_components)
        if self.init is not None:
            check.one_of((*STARTS, "custom"), init=self.init)
        check.one_of(("cd", "mu"), solver=self.solver)
        if isinstance(self.beta_loss, str):
            check.one_of(LOSSES, beta_loss=self.beta_loss)
        beta = LOSSES[self.beta_loss] if isinstance(self.beta_loss, str) else float(self.beta_loss)
        if self.solver == "cd" and beta != 2:
            raise ValueError(
                f"Invalid beta_loss parameter: solver {self.solver!r} does not handle beta_loss = "
                f"{self.beta_loss!r}"
            )
        return beta

    def _check_signs(self, X: Any, beta: float) -> None:
        least = float(X.min()) if X.shape[0] else 0.0
        if least < 0:
            raise ValueError("Negative values in data passed to NMF (input X)")
        if least == 0 and beta <= 0:
            raise ValueError(
                "When beta_loss <= 0 and X contains zeros, the solver may diverge. Please add "
                "small values to X, or use a positive beta_loss."
            )

    def _begin(self, X: Any, W: Any, H: Any, rng: Rng) -> tuple[Array, Array]:
        """The start."""
        n, p = X.shape
        if self.init == "custom":
            W, H = (np.array(A, dtype=np.float64) for A in (W, H))
            k = H.shape[0] if self.n_components in ("auto", None) and H.ndim else self.n_components
            for A, shape, name in ((H, (k, p), "H"), (W, (n, k), "W")):
                if A.shape != shape:
                    side = "shape"
                    if A.ndim == 2:
                        side = f"{'first' if A.shape[0] != shape[0] else 'second'} dimension"
                    raise ValueError(
                        f"Array with wrong {side} passed to NMF (input {name}). Expected {shape}, "
                        f"but got {A.shape}"
                    )
                if not (A >= 0).all():
                    raise ValueError(f"Negative values in data passed to NMF (input {name})")
            return W, H
        if W is not None or H is not None:
            warn(
                "When init!='custom', provided W or H are ignored. Set  init='custom' to use them "
                "as initialization.",
                RuntimeWarning,
            )
        k = p if self.n_components in ("auto", None) else int(self.n_components)
        fits = k <= min(n, p)
        if self.init not in (None, "random") and not fits:
            raise ValueError(
                f"init = '{self.init}' can only be used when n_components <= min(n_samples, "
                "n_features)"
            )
        if self.solver == "mu" and self.init == "nndsvd":
            warn(
                "The multiplicative update ('mu') solver cannot update zeros present in the "
                "initialization, and so leads to poorer results when used jointly with "
                "init='nndsvd'. You may try init='nndsvda' or init='nndsvdar' instead."
            )
        return start(X, k, self.init or ("nndsvda" if fits else "random"), rng)

    def _penalty(self, n: int, p: int) -> Penalty:
        a = float(self.alpha_W)
        b = a if self.alpha_H == "same" else float(self.alpha_H)
        r = float(self.l1_ratio)
        return Penalty(p * a * r, n * b * r, p * a * (1 - r), n * b * (1 - r))

    def _rounds(
        self,
        X: Any,
        W: Array,
        H: Array,
        beta: float,
        squares: float,
        penalty: Penalty,
        rng: Rng,
        context: FitContext,
    ) -> Parts:
        error = divergence(X, W, H, beta)
        if self.solver == "cd":
            order = rng if self.shuffle else None
            step = partial(coordinate_round, X, squares, penalty, order)
            first = Parts(W, H, 0.5 * error**2, 0.0, 0.0, 1.0)
        else:
            step = partial(multiplicative_round, X, beta, penalty, True)
            first = Parts(W, H, error, error, error, 1.0)
        run = self._iterate(
            step,
            first,
            max_iter=self.max_iter,
            tol=float(self.tol) if self.tol > 0 else None,
            record=lambda at: {"objective": at.objective},
            context=context,
            start_row=False,
        )
        return run.state

    def _found(
        self, X: Any, at: Parts, beta: float, penalty: Penalty
    ) -> tuple[dict[str, Any], Array]:
        """The attributes of a fit that ends here, and its W, which "cd" solves for the last H."""
        H = at.H
        W = self._weights(X, H, beta, penalty) if self.solver == "cd" else at.W
        error = divergence(X, W, H, beta)
        numbers = {"reconstruction_err_": error, "n_components_": len(H), "_n": X.shape[0]}
        return {"components_": H, **numbers}, W

    def _weights(self, X: Any, H: Array, beta: float, penalty: Penalty) -> Array:
        """W of any rows for these parts."""
        if self.solver == "cd":
            most = min(20 * self.max_iter, check.LARGEST_WHOLE)
            fine = FINE * float(self.tol)
            return solved(X, H, penalty.rows_l1, penalty.rows_l2, fine, most)
        W = np.full((X.shape[0], len(H)), np.sqrt(float(X.mean()) / len(H)))
        at = Parts(W, H, 0.0, *(divergence(X, W, H, beta),) * 2, 1.0)
        for _ in range(self.max_iter):
            at, gap = multiplicative_round(X, beta, penalty, False, at)
            if gap <= self.tol:
                break
        return at.W

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def transform(self, X: ArrayLike) -> Any:
        """W of the rows: how much of every part is in them."""
        beta = self._check_parameters()
        A = self._check_input(X)
        self._check_signs(A, beta)
        with single_threaded_blas():
            return self._weights(A, self.components_, beta, self._penalty(self._n, A.shape[1]))

    def inverse_transform(self, X: ArrayLike) -> Array:
        """The rows of given weights, W H."""
        check_is_fitted(self)
        return row_sums.checked_scores(X, self.n_components_) @ self.components_

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"components_": (self.n_components_, self.n_features_in_)}

    def card(self) -> Card:
        """What is added up, how well, by which rounds."""
        check_is_fitted(self)
        k, p = self.components_.shape
        how = "coordinate descent" if self.solver == "cd" else "multiplicative updates"
        return Card(
            f"X = W H, W (n, {k}) and H ({k}, {p}) not negative",
            f"divergence {self.beta_loss!r}: sqrt(2 d) = {self.reconstruction_err_:.6g}",
            f"{how} on W and H in turn, {self.n_iter_} rounds",
            {
                "n": self._n,
                "parts": k,
                "share of zeros in H": float((self.components_ == 0).mean()),
            },
            warnings=("another start may lead to another minimum",),
        )
