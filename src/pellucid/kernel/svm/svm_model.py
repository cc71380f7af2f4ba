"""What the support vector machines share: data checks, the loop, the sum over support vectors."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import ConvergenceWarning

from pellucid.base import Estimator
from pellucid.core.arrays import check
from pellucid.core.arrays.sparse import to_dense
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.functions import kernels
from pellucid.core.functions.kernels import Kernel, LinearKernel, PrecomputedKernel, is_precomputed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.loops.statistics import Rows
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.core.runtime.warn import warn
from pellucid.kernel.svm.distinct import Distinct, distinct_rows, own_rows
from pellucid.kernel.svm.smo import BLOCK, DENSE, Gram, Machine, Problem, advance_all, whole_gram

DENSE_CELLS = 20_000_000  # a sparse table up to this size is fitted as a dense one
STRIPES = 32  # of a given matrix, looked at side by side
ASYMMETRY = 1e-4  # of the matrix: more is no rounding, not even of single precision


Reader: TypeAlias = Callable[[Sequence[Machine]], dict[str, Any]]  # attributes off solutions


class Opened(NamedTuple):
    """The training rows ready for a machine: distinct ones, and their Gram matrix."""

    X: Any  # as it came through the door
    y: Array
    w: Array
    rows: Distinct
    gram: Gram


class SupportVectorMachine(Estimator):
    """A subclass writes its quadratic programmes and reads its attributes off the solutions."""

    _squares_x = True

    _accepts_sparse = True
    _by_class = False  # put the rows of a class side by side

    kernel: Any
    degree: int
    gamma: Any
    coef0: float
    tol: float
    shrinking: bool
    cache_size: float
    verbose: Any
    max_iter: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return is_precomputed(self.kernel)

    def _check_parameters(self) -> None:
        check.whole(at_least=0, degree=self.degree)
        check._number("coef0", self.coef0)
        if not np.isfinite(self.coef0):
            raise ValueError(f"coef0 must be a finite number, got {self.coef0!r}")
        check.positive(tol=self.tol, cache_size=self.cache_size)
        check.boolean(shrinking=self.shrinking)
        check.whole(at_least=-1, max_iter=self.max_iter)

    def _open(self, rows: Rows, y: Array) -> Opened:
        """Merge equal rows, find the kernel, and prepare its Gram matrix."""
        X, w = rows.X, np.asarray(rows.w)
        if self._precomputed:
            if X.shape[0] != X.shape[1]:
                should = "X.shape[0] should be equal to X.shape[1]"
                raise ValueError(f"a precomputed kernel must be square: {should}, got {X.shape}")
            found = own_rows(w)
            self.kernel_: Kernel = PrecomputedKernel()
            gram = whole_gram(self.kernel_, X)
            self._check_gram(gram.whole)
            gram = gram if len(found.first) == len(gram) else gram.take(found.first)
            return Opened(X, y, w, found, gram)
        found = distinct_rows(X, y, w, by_class=self._by_class)
        part = X[found.first]
        if issparse(part) and part.shape[0] * part.shape[1] <= DENSE_CELLS:
            part = part.toarray()
        numbers = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        numbers |= {"n_features": X.shape[1], "variance": cell_variance(part, found.w)}
        self.kernel_ = kernels.kernel_from(self.kernel, **numbers)
        return Opened(X, y, w, found, whole_gram(self.kernel_, part))

    def _check_gram(self, K: Any) -> None:
        """Refuse a matrix with numbers that are not finite, or that is not symmetric."""
        rows, columns = both_products(K)
        if not np.isfinite(rows).all():
            self._refuse_nonfinite(K)
        apart, size = np.linalg.norm(rows - columns), np.linalg.norm(rows)
        if apart > ASYMMETRY * size:
            far = f"one whose difference from its transpose is some {apart / size:.3g} of it"
            raise ValueError(f"a precomputed kernel must be a symmetric matrix, got {far}")

    def _machine(self, problem: Problem, gram: Gram, unit: float = 1.0) -> Machine:
        return Machine(
            problem, gram, self.tol * unit, self.cache_size, self.shrinking, self.max_iter
        )

    def _solve(self, machines: Sequence[Machine], context: FitContext, read: Reader) -> None:
        """Rounds until every machine is done; set the attributes that ``read`` finds."""

        def attributes(_: Any) -> dict[str, Any]:
            for machine in machines:
                machine.finish()
            return {**read(machines), "kernel_": self.kernel_}

        def record(_: Any) -> dict[str, Any]:
            values = ((m.objective, m.n_steps, len(m.active)) for m in machines)
            sums = (sum(column) for column in zip(*values, strict=True))
            return dict(zip(("objective", "steps", "active"), sums, strict=True))

        context.attributes = attributes
        limits: dict[str, Any] = {"max_iter": 2**31, "tol": self.tol, "start_row": False}
        limits |= {"record": record, "context": context}
        limits["stop"] = lambda _: all(machine.exhausted for machine in machines)
        self._iterate(lambda state: (state, advance_all(machines)), machines, **limits)
        self.n_rounds_ = len(self.history_)
        for name, value in attributes(None).items():
            setattr(self, name, value)
        open_gap = max((m.gap for m in machines if not m.done), default=0.0)
        self.fit_status_ = int(open_gap > 0)
        if any(m.exhausted and not m.done for m in machines):
            steps = max(machine.n_steps for machine in machines)
            early = f"{type(self).__name__} stopped early (max_iter={self.max_iter}, {steps} steps)"
            gap = f"the largest violation is {open_gap:.3g} > tol={self.tol:g}"
            warn(f"{early}: {gap}; scale the data or raise max_iter", ConvergenceWarning)

    def _supported(self, X: np.ndarray, support: IntArray, dual: Array) -> dict[str, Any]:
        """The support vectors and their coefficients as scikit-learn keeps them."""
        vectors = np.empty((0, 0)) if self._precomputed else X[support]
        found = {"support_": support.astype(np.int32), "support_vectors_": vectors}
        return {**found, "dual_coef_": csr_array(dual) if issparse(X) else dual}

    def _sums(self, X: Any, coef: Array) -> Array:
        """sum_s k(x, s) coef_s of every row, (n, m); coef (s, m)."""
        if self._precomputed:
            K = to_dense(X)
            if len(self.support_) <= DENSE * K.shape[1]:
                return K[:, self.support_] @ coef
            every = np.zeros((K.shape[1], coef.shape[1]))
            every[self.support_] = coef
            return np.asarray(K @ every)
        S = self.support_vectors_
        if S.shape[0] == 0:
            return np.zeros((X.shape[0], coef.shape[1]))
        if issparse(S) != issparse(X):
            X, S = csr_array(X), csr_array(S)
        if isinstance(self.kernel_, LinearKernel):
            return np.asarray(X @ (S.T @ coef))
        step = max(16, BLOCK // S.shape[0])

        def block(first: int) -> Array:
            return self.kernel_(X[first : first + step], S) @ coef

        return np.concatenate(list(map_threads(block, range(0, X.shape[0], step))))

    def _numbers(self) -> dict[str, Any]:
        """What the cards say of the solution."""
        steps = int(np.sum(self.n_iter_))
        found = {"support vectors": len(self.support_), "steps": steps}
        return {**found, "duality gap": self.duality_gap_}

    def _dense_coef(self) -> Array:
        d = self.dual_coef_
        return to_dense(d)

    @abstractmethod
    def _pair_coef(self) -> Array:
        """The weight of every support vector in every decision function, (s, m)."""

    @property
    def coef_(self) -> Any:
        """w = sum of coefficients times support vectors; for the linear kernel only."""
        if not isinstance(getattr(self, "kernel_", None), LinearKernel):
            raise AttributeError("coef_ is only available when the kernel is linear")
        coef = self._pair_coef().T @ self.support_vectors_
        return csr_array(coef) if issparse(self.support_vectors_) else coef

    def _state_shapes(self) -> dict[str, tuple[int, ...]]:
        s = len(self.support_)
        shapes: dict[str, tuple[int, ...]] = {}
        if isinstance(self.support_vectors_, np.ndarray) and not self._precomputed:
            shapes["support_vectors_"] = (s, self.n_features_in_)
        shapes |= self._coef_shapes(s)
        return {name: shape for name, shape in shapes.items() if not issparse(getattr(self, name))}

    @abstractmethod
    def _coef_shapes(self, s: int) -> dict[str, tuple[int, ...]]:
        """The shapes of dual_coef_ and intercept_ for s support vectors."""


def both_products(K: Array) -> tuple[Array, Array]:
    """K r and K'r of a random r, from one read of K: |K r - K'r|^2 is about |K - K'|^2.

    >>> u, v = both_products(np.array([[1.0, 2.0], [3.0, 1.0]]))
    >>> np.abs(u - v).round(1)
    array([1.3, 1.6])
    """
    n = len(K)
    r = generator(0).uniform(1.0, 2.0, size=n) * generator(1).choice([-1.0, 1.0], size=n)
    step = max(16, BLOCK // n)  # rows that stay in the cache of a core
    starts = range(0, n, step)
    u = np.empty(n)

    def stripe(mine: range) -> Array:
        v = np.zeros(n)
        for first in mine:
            part = K[first : first + step]
            np.matmul(part, r, out=u[first : first + step])
            v += r[first : first + step] @ part
        return v

    most = -(-len(starts) // STRIPES)
    stripes = [starts[i : i + most] for i in range(0, len(starts), most)]
    with np.errstate(all="ignore"):
        return u, np.asarray(sum(map_threads(stripe, stripes)))


def cell_variance(X: Any, w: Array) -> float:
    """The variance of all cells, each row as often as it weighs."""
    total = w.sum() * X.shape[1]
    if issparse(X):
        mean = float(w @ np.asarray(X.sum(axis=1)).ravel()) / total
        square = float(w @ np.asarray(X.multiply(X).sum(axis=1)).ravel()) / total
        return square - mean * mean
    mean = float(w @ X.sum(axis=1)) / total
    return float(w @ ((X - mean) ** 2).sum(axis=1)) / total
