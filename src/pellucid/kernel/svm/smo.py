r"""Support vector machines as one quadratic programme, solved by rounds of SMO.

    min_b  1/2 b'K b + q'b,   lo <= b <= hi,   sum of b fixed within each group        (the dual)

    classification    b = y a, 0 <= a <= C_i,   q = -y
    regression        two variables per row, [0, C_i] with q = e - y and [-C_i, 0] with q = -e - y

A round is at most ROUND steps of ``kernels.py`` on the active rows. Rows at a bound that the gap
cannot reach any more are set aside (shrinking); when the active rows are solved, F = K b + q is
computed anew for all rows in double precision, which brings the others back where they are needed
and removes what single-precision rows of K left in F. Only that gap counts: the solution holds in
double precision.   O(n) per step; O(n s p) per check with s support vectors
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from pellucid.core.arrays.typing import Array, BoolArray, IntArray
from pellucid.core.functions import kernels
from pellucid.core.functions.kernels import Kernel, KernelCode, PrecomputedKernel
from pellucid.core.runtime.threads import map_threads, single_threaded_blas
from pellucid.kernel.svm import kernels as compiled
from pellucid.kernel.svm.kernels import GIVEN, STEPS

FEW = 1500  # rows up to which the Gram matrix is computed whole
MANY = 20_000  # and up to which for a kernel that compiled code does not know
ROUND = 1000  # steps between looks at the active rows
WORTH = 0.8  # shrink when at most this share of the rows stays
MOST_STEPS = 10**7  # as in libsvm: what needs more never ends
MAX_CHECKS = 60  # refinements in double precision
AGAIN = 0.5  # share of the support up to which K beta is corrected rather than computed anew
BLOCK = 200_000  # cells of K at a time: they stay in the cache of a core
DENSE = 0.1  # share of the columns from which all of a row is read: lines of memory hold eight


class Problem(NamedTuple):
    """q, lo, hi and the start of every variable; segments as ``kernels.py`` reads them."""

    q: Array
    lo: Array
    hi: Array
    start: Array
    segments: IntArray  # (k, 4): start, stop, first row of K, group
    n_groups: int = 1


def one_segment(n: int) -> IntArray:
    """One variable per row, one group."""
    return np.array([[0, n, 0, 0]])


def two_copies(n: int, *, groups: int = 1) -> IntArray:
    """Two variables per row; ``groups=2``: the sum of either copy is fixed."""
    return np.array([[0, n, 0, 0], [n, 2 * n, 0, groups - 1]])


class Gram:
    """The kernel matrix of some rows: whole when they are few, else computed where it is read.

    A matrix that is there is read where it lies: ``rows`` are the places of these rows in
    ``whole`` (None: all of them in order), so that nothing is copied to leave some out.
    """

    def __init__(
        self, kernel: Kernel, X: Any, whole: Array | None = None, rows: IntArray | None = None
    ) -> None:
        self.kernel, self.X, self.rows = kernel, X, rows
        if whole is None and X.shape[0] <= FEW:
            whole = kernel(X)
        self.whole = whole
        self.columns = np.zeros((1, 1), np.float32)
        if whole is not None:
            flags = whole.flags  # a read-only matrix would be compiled anew
            readable = whole.dtype == np.float64 and flags.c_contiguous and flags.writeable
            self.code = KernelCode(GIVEN if readable else -1)
            diagonal = np.diagonal(whole)
            self.diagonal = diagonal.copy() if rows is None else diagonal[rows]
            return
        self.code = (None if issparse(X) else kernel.code()) or KernelCode(-1)
        if self.code.formula >= 0:
            free = self.code.formula in (kernels.GAUSSIAN, kernels.LAPLACIAN)  # of the origin
            self.columns = np.ascontiguousarray((X - X.mean(axis=0) if free else X).T, np.float32)
        self.diagonal = kernel.diagonal(X)

    def __len__(self) -> int:
        return len(self.diagonal)

    def places(self, rows: IntArray) -> IntArray:
        """Where rows lie in ``whole``."""
        return rows if self.rows is None else self.rows[rows]

    def take(self, rows: IntArray) -> "Gram":
        """The Gram matrix of a part of the rows."""
        if self.whole is None:
            return Gram(self.kernel, self.X[rows])
        return Gram(self.kernel, self.X, self.whole, self.places(rows))

    def row(self, i: int, active: IntArray) -> Array:
        """k(x_i, x_j) of the active rows j."""
        if self.whole is not None:
            return self.whole[self.places(np.array(i)), self.places(active)]
        return self.kernel(self.X[i : i + 1], self.X[active])[0]

    def single(self, active: IntArray) -> Any:
        """The matrix of the active rows in single precision."""
        assert self.whole is not None
        if self.rows is None and len(active) == len(self.whole):
            return np.ascontiguousarray(self.whole, np.float32)
        at = self.places(active)
        return np.ascontiguousarray(self.whole[np.ix_(at, at)], np.float32)

    def product(self, beta: Array) -> Array:
        """K beta in double precision, by blocks of rows."""
        support = np.flatnonzero(beta)
        if not len(support):
            return np.zeros(len(self))
        if self.whole is not None:
            return self.whole_product(self.whole, beta, support)
        step = max(16, BLOCK // len(support))
        centres, weights = self.X[support], beta[support]
        if self.code.formula == kernels.GAUSSIAN:
            return self.gaussian_product(centres, weights, self.code.gamma, step)

        def block(first: int) -> Array:
            return self.kernel(self.X[first : first + step], centres) @ weights

        return np.concatenate(list(map_threads(block, range(0, len(self), step))))

    def whole_product(self, K: Array, beta: Array, support: IntArray) -> Array:
        """The same from the matrix: all of a row where most of it counts, else gathered."""
        at, weights = self.places(support), beta[support]
        if self.rows is None and len(support) > DENSE * len(K):
            at, weights = np.arange(0), beta
        step = max(16, BLOCK // K.shape[1])

        def block(first: int) -> Array:
            stop = first + step
            if self.rows is not None and self.code.formula != GIVEN:
                return K[np.ix_(self.rows[first:stop], at)] @ weights
            if self.rows is not None:
                out = np.empty(len(self.rows[first:stop]))
                compiled.gathered_sums(K, self.rows[first:stop], at.view(np.uint64), weights, out)
                return out
            return (K[first:stop].take(at, axis=1) if len(at) else K[first:stop]) @ weights

        run = map if len(self) <= FEW else map_threads
        return np.concatenate(list(run(block, range(0, len(self), step))))

    def gaussian_product(self, centres: Array, weights: Array, gamma: float, step: int) -> Array:
        """The same without storing a kernel value: products by BLAS, then one pass."""
        middle = self.X.mean(axis=0)
        C = centres - middle
        sizes = np.einsum("ij,ij->i", C, C)

        def block(first: int) -> Array:
            R = self.X[first : first + step] - middle
            out = np.empty(len(R))
            compiled.gaussian_sums(R @ C.T, np.einsum("ij,ij->i", R, R), sizes, gamma, weights, out)
            return out

        return np.concatenate(list(map_threads(block, range(0, len(self), step))))


def whole_gram(kernel: Kernel, X: Any) -> Gram:
    """The Gram matrix, computed at once where compiled code has no formula for its rows."""
    if isinstance(kernel, PrecomputedKernel):
        K = X.toarray() if issparse(X) else X
        return Gram(kernel, K, K)
    slow = kernel.code() is None and X.shape[0] <= MANY
    return Gram(kernel, X, kernel(X) if slow else None)


class Machine:
    """One quadratic programme on its way to the solution; ``advance`` is one round."""

    def __init__(
        self, problem: Problem, gram: Gram, tol: float, cache: float, shrinking: bool, limit: int
    ) -> None:
        self.problem, self.gram, self.tol = problem, gram, tol
        self.cache_bytes, self.shrinking = cache * 2**20, shrinking
        self.max_steps = limit if limit >= 0 else max(MOST_STEPS, 100 * len(gram))
        self.beta = problem.start.copy()
        self.n_steps = self.checks = 0
        self.done = False
        self.inner_tol = tol
        self.seen, self.product = np.zeros(len(gram)), np.zeros(len(gram))  # K beta when last seen
        self.look()
        self.open(np.arange(len(gram)))

    @property
    def exhausted(self) -> bool:
        return self.done or self.n_steps >= self.max_steps or self.checks >= MAX_CHECKS

    def rows_of(self, values: Array) -> Array:
        """Sum a value per variable over the variables of each row."""
        out = np.zeros(len(self.gram))
        for a, z, c, _ in self.problem.segments:
            out[c : c + z - a] += values[a:z]
        return out

    def look(self) -> None:
        """F and the gap of all rows in double precision."""
        rows = self.rows_of(self.beta)
        changed = np.where(rows != self.seen, rows - self.seen, 0.0)
        if np.count_nonzero(changed) < AGAIN * np.count_nonzero(rows):  # the rest is known
            self.product = self.product + self.gram.product(changed)
        else:
            self.product = self.gram.product(rows)
        self.seen = rows
        F = self.problem.q.copy()
        for a, z, c, _ in self.problem.segments:
            F[a:z] += self.product[c : c + z - a]
        self.F, self.exact = F, True
        self.top, self.low = group_bounds(self.problem, self.beta, F)
        self.gap = float((self.top + self.low).max())
        self.done = not self.gap > self.tol

    def open(self, active: IntArray) -> None:
        """Make room for rounds on the ``active`` rows only."""
        problem, m = self.problem, len(active)
        self.active = active
        inside = np.zeros(len(self.gram), dtype=bool)
        inside[active] = True
        picks, segments, place = [], [], 0
        for a, z, c, g in problem.segments:
            picked = a + np.flatnonzero(inside[c : c + z - a])
            first = int(np.count_nonzero(inside[:c]))
            segments.append((place, place + len(picked), first, g))
            picks.append(picked)
            place += len(picked)
        self.variables = np.concatenate(picks)
        self.segments = np.array(segments)
        v = self.variables
        self.F_here, self.beta_here = self.F[v], self.beta[v]
        self.lo, self.hi = problem.lo[v], problem.hi[v]
        self.up = mask(self.beta_here < self.hi)
        self.down = mask(self.beta_here > self.lo)
        self.diagonal = self.gram.diagonal[active].astype(np.float32)
        self.columns = self.gram.columns
        self.places = np.arange(0)
        if self.gram.code.formula == GIVEN:
            if self.gram.rows is not None or m < len(self.gram):
                self.places = self.gram.places(active)
        elif self.gram.code.formula >= 0 and m < len(self.gram):
            self.columns = np.ascontiguousarray(self.columns[:, active])
        self.open_cache(m)
        self.rescan()

    def open_cache(self, m: int) -> None:
        rows = int(min(m, max(2, self.cache_bytes // (4 * m))))
        if self.gram.whole is not None and len(self.gram) <= FEW:
            self.cache = self.gram.single(self.active)
            self.slot = np.arange(m, dtype=np.int32)
            self.owner = np.arange(m, dtype=np.int32)
        else:
            rows = max(rows, 2)
            self.cache = np.empty((rows, m), np.float32)
            self.slot, self.owner = np.full(m, -1, np.int32), np.full(rows, -1, np.int32)
        self.used, self.count = np.zeros(len(self.owner), np.uint8), np.zeros(4, np.int64)
        lanes = min(compiled.LANES, m)  # a segment has at most one variable per row
        self.room, self.best = np.empty((2, lanes)), np.empty(lanes, np.float32)
        groups = self.problem.n_groups
        self.tops, self.lows = np.empty(groups), np.empty(groups)
        self.at = np.zeros(groups, np.int64)

    def rescan(self) -> None:
        """The gap of the active rows from their F."""
        z = np.zeros(len(self.diagonal), np.float32)
        found = self.tops, self.lows, self.at
        compiled.scan(self.F_here, z, z, 0.0, self.up, self.down, self.segments, self.room, *found)

    def advance(self) -> None:
        """One round; afterwards ``gap`` is that of the active rows, or of all when ``exact``."""
        budget = min(ROUND, self.max_steps - self.n_steps)
        stopped = self.run(budget)
        self.beta[self.variables] = self.beta_here
        self.exact = False
        self.gap = float((self.tops + self.lows).max())
        if not stopped or self.n_steps >= self.max_steps:
            self.checks += 1
            self.check()
        elif len(self.gram) <= FEW:
            self.check()  # cheap here: no error of single precision is left to grow
        elif self.shrinking:
            self.shrink()

    def run(self, budget: int) -> bool:
        """Steps on the active rows; True when the budget ended them."""
        code, goal = self.gram.code, self.n_steps + budget
        given = self.gram.whole if code.formula == GIVEN else None
        whole = np.zeros((1, 1)) if given is None else given
        source = self.columns, whole, self.places, *code, self.diagonal
        cache = self.cache, self.slot, self.owner, self.used, self.count
        variables = self.F_here, self.beta_here, self.lo, self.hi, self.up, self.down
        search = self.segments, self.room, self.best, self.tops, self.lows, self.at
        while True:
            before = int(self.count[STEPS])
            left = goal - self.n_steps
            status = compiled.run_smo(source, cache, variables, search, self.inner_tol, left)
            self.n_steps += int(self.count[STEPS]) - before
            if status != compiled.MISSING:
                return bool(status)
            column = int(self.count[compiled.MISS])
            self.cache[self.slot[column]] = self.gram.row(int(self.active[column]), self.active)

    def check(self) -> None:
        """Look at all rows in double precision; go on from there if that gap is too large."""
        self.look()
        if self.done:
            return
        if self.checks:
            self.inner_tol = 0.5 * self.tol
        if len(self.active) < len(self.gram) and len(self.gram) > FEW:
            self.open(np.arange(len(self.gram)) if not self.shrinking else self.reachable())
        else:
            self.F_here[:] = self.F[self.variables]
            self.rescan()

    def reachable(self) -> IntArray:
        """The rows that the gap of all rows can still move."""
        p, rows = self.problem, len(self.gram)
        now = self.F, self.beta, p.lo, p.hi, self.top, self.low
        return np.flatnonzero(movable_rows(rows, *now, p.segments))

    def shrink(self) -> None:
        """Set rows aside that are at a bound and beyond the gap of their group."""
        now = self.F_here, self.beta_here, self.lo, self.hi, self.tops, self.lows
        rows = movable_rows(len(self.active), *now, self.segments)
        if 2 <= np.count_nonzero(rows) <= WORTH * len(rows):
            self.F[self.variables] = self.F_here
            self.open(self.active[rows])

    def finish(self) -> None:
        """F of all rows, if the last round left it in single precision."""
        if not self.exact:
            self.look()

    @property
    def objective(self) -> float:
        """1/2 b'K b + q'b of the active part, as far as F is known."""
        F = self.F.copy()
        if not self.exact:
            F[self.variables] = self.F_here
        return 0.5 * float(self.beta @ (F + self.problem.q))


def mask(inside: BoolArray) -> Any:
    """0 where a variable may move, -inf where it may not."""
    return np.where(inside, np.float32(0.0), np.float32(-np.inf))


def movable_rows(
    n: int, F: Array, beta: Array, lo: Array, hi: Array, top: Array, low: Array, segments: IntArray
) -> BoolArray:
    """Rows with a variable that is inside its bounds or would take part in a violated pair."""
    rows = np.zeros(n, dtype=bool)
    for a, z, c, g in segments:
        f, b = F[a:z], beta[a:z]
        at_hi, at_lo = ~(b < hi[a:z]), ~(b > lo[a:z])
        stuck = (at_hi & (-f > top[g])) | (at_lo & (f > low[g])) | (at_hi & at_lo)
        rows[c : c + z - a] |= ~stuck
    return rows


def group_bounds(problem: Problem, beta: Array, F: Array) -> tuple[Array, Array]:
    """max of -F among the variables below hi, max of F among those above lo, by group."""
    top, low = np.full(problem.n_groups, -np.inf), np.full(problem.n_groups, -np.inf)
    for a, z, _, g in problem.segments:
        up, down = beta[a:z] < problem.hi[a:z], beta[a:z] > problem.lo[a:z]
        top[g] = max(top[g], (-F[a:z])[up].max(initial=-np.inf))
        low[g] = max(low[g], F[a:z][down].max(initial=-np.inf))
    return top, low


class Offset(NamedTuple):
    """b with F + b = 0 at the free variables of a group, and the interval it may lie in."""

    value: float
    low: float
    high: float


def offset(machine: Machine, group: int = 0) -> Offset:
    """The mean of -F over the free variables; without any the middle of the optimal interval."""
    p, beta, F = machine.problem, machine.beta, machine.F
    low, high = float(machine.top[group]), -float(machine.low[group])
    free = []
    for a, z, _, g in p.segments:
        if g == group:
            inside = (beta[a:z] > p.lo[a:z]) & (beta[a:z] < p.hi[a:z])
            free.append(-F[a:z][inside])
    values = np.concatenate(free)
    if len(values):
        return Offset(float(values.mean()), low, high)
    if not np.isfinite(low) or not np.isfinite(high):
        low, high = (high, high) if np.isfinite(high) else (low, low)
    return Offset(0.5 * (low + high), low, high)


def advance_all(machines: Sequence[Machine]) -> float:
    """One round of every machine that is not done, side by side; the largest gap."""
    waiting = [machine for machine in machines if not machine.exhausted]
    with single_threaded_blas():
        list((map if len(waiting) == 1 else map_threads)(Machine.advance, waiting))
    return max((0.0 if m.done else max(m.gap, 1.01 * m.tol)) for m in machines)
