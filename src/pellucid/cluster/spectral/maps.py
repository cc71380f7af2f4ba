r"""The smallest eigenvectors of a graph's Laplacian, part by part.

    unnormalized   L = D - W                         A = I - L/c,  c twice the largest degree
    symmetric      L = I - D^-1/2 W D^-1/2 = I - N   A = N
    random_walk    L = I - D^-1 W                    vectors D^-1/2 x of those x of "symmetric"

D are the row sums without the diagonal. The smallest eigenvalues of L belong to the largest of A,
which Lanczos finds by products alone. A graph in several parts has the eigenvalue 0 once for each:
a multiple eigenvalue is poison for Lanczos, so each part is solved on its own, where the vector of
0 is known (constant, or sqrt(d)) and is taken out. Where the graph is a long thread the largest
eigenvalues of A crowd and Lanczos is slow: then (L + e I)^-1 is used, by a sparse factorisation;
at once where the nodes can be ordered so that all edges are short (a narrow band, so the factor
is thin too), and for dense graphs of moderate size, by Cholesky.

References: von Luxburg (2007), A tutorial on spectral clustering.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.linalg import cho_solve, solve_triangular
from scipy.sparse import csr_matrix, diags, issparse
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from pellucid.core.algebra.eigen import largest_pairs
from pellucid.core.algebra.graph import product, row_chunks
from pellucid.core.algebra.krylov import leading
from pellucid.core.arrays.typing import Array, IntArray
from pellucid.core.runtime.threads import map_threads

SMALL = 600  # nodes up to which all of a part is decomposed
FACTORED = 8000  # nodes up to which a dense L is factored rather than multiplied with
NARROW = 1e10  # n x (band)^2, the work of a factorisation, up to which it comes before Lanczos
RESTARTS = 8  # of Lanczos before the factorisation takes over
SHIFT = 1e-5  # L + SHIFT I can be factored
TILE = 256  # rows of a tile of the dense factorisation


Graph: TypeAlias = Any  # (n, n) similarities, dense or sparse


class Maps(NamedTuple):
    """Smallest eigenvalues of L, rising, with unit eigenvectors in the columns."""

    values: Array  # (m,)
    vectors: Array  # (n, m)
    degree: Array  # (n,)
    parts: IntArray  # (n,) the part of every node


def graph_parts(W: Graph) -> IntArray:
    """The connected part of every node, numbered by first node.

    >>> graph_parts(np.array([[0, 0, 1], [0, 0, 0], [1, 0, 0]]))
    array([0, 1, 0])
    """
    if issparse(W):
        return connected_components(csr_matrix(W != 0), directed=False)[1].astype(np.intp)
    parts, found = np.full(len(W), -1, dtype=np.intp), 0
    for i in range(len(W)):
        if parts[i] >= 0:
            continue
        frontier = np.array([i])
        while len(frontier):  # every row is read once, most never: all is reached before
            parts[frontier] = found
            new = parts < 0
            new &= (W[frontier] != 0).any(axis=0) if new.any() else False
            frontier = np.flatnonzero(new)
        found += 1
    return parts


def laplacian_maps(W: Graph, m: int, laplacian: str, tol: float) -> Maps:
    """The m smallest eigenpairs of the Laplacian of W, whose diagonal is 0.

    >>> W = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> laplacian_maps(W, 3, "symmetric", 0.0).values.round(9) + 0.0
    array([0., 0., 2.])
    """
    n = W.shape[0]
    degree = np.asarray(W.sum(axis=1)).ravel()
    parts = graph_parts(W)
    sizes = np.bincount(parts)
    order = np.argsort(-sizes, kind="stable")[:m]  # the vectors of 0 of the largest parts first
    found = []
    spare = max(m - len(sizes), 0)  # vectors beyond those of the eigenvalue 0
    for part in order:
        nodes = np.flatnonzero(parts == part)
        A = W if len(nodes) == n else W[nodes][:, nodes]
        more = min(spare, len(nodes) - 1)
        found.append((nodes, *part_maps(A, degree[nodes], more, laplacian, tol)))
    values = np.concatenate([v for _, v, _ in found])
    keep = np.argsort(values, kind="stable")[:m]
    vectors, column = np.zeros((n, len(values))), 0
    for nodes, v, V in found:
        vectors[nodes, column : column + len(v)] = V
        column += len(v)
    return Maps(values[keep], with_signs(vectors[:, keep]), degree, parts)


def part_maps(W: Graph, d: Array, more: int, laplacian: str, tol: float) -> tuple[Array, Array]:
    """The eigenvalue 0 of a connected graph and ``more`` others, with their vectors."""
    n = len(d)
    plain = laplacian == "unnormalized"
    u = np.ones(n) if plain or n == 1 else np.sqrt(d)
    u = u / np.linalg.norm(u)
    if more == 0:
        return np.zeros(1), u[:, None]
    c = 2 * float(d.max()) if plain else 1.0
    if n <= SMALL or more >= n // 3:
        A = similarity(W, d, c, plain)
        A = A.toarray() if issparse(A) else A
        values, V = largest_pairs(A - np.outer(u, u) * 4, more)
    elif not issparse(W) and n <= FACTORED:
        values, V = by_cholesky(shifted(W, d, c, plain, u), u, more, tol)
    else:
        values, V = by_lanczos(similarity(W, d, c, plain), u, more, tol)
    order = np.argsort(-values, kind="stable")
    values = np.maximum(c * (1 - values[order]), 0.0)
    return np.concatenate([[0.0], values]), np.column_stack([u, V[:, order]])


def similarity(W: Graph, d: Array, c: float, plain: bool) -> Any:
    """A with L = c (I - A); its largest eigenvalue is 1."""
    if plain:
        return (W + diags(c - d, format="csr")) / c if issparse(W) else (W + np.diag(c - d)) / c
    root = 1 / np.sqrt(d)
    if issparse(W):
        data = W.data * np.repeat(root, np.diff(W.indptr)) * root[W.indices]
        return csr_matrix((data, W.indices, W.indptr), shape=W.shape)
    return W * root[:, None] * root


def is_narrow(A: Graph) -> bool:
    """Whether a sparse graph has a thin factor: its band after Cuthill and McKee's order.

    >>> is_narrow(diags([np.ones(99), np.ones(99)], [-1, 1], format="csr"))
    True
    """
    n = A.shape[0]
    place = np.empty(n, dtype=np.intp)
    place[reverse_cuthill_mckee(A, symmetric_mode=True)] = np.arange(n)
    band = np.abs(np.repeat(place, np.diff(A.indptr)) - place[A.indices]).max(initial=0)
    return 8 * band <= n and n * float(band) ** 2 <= NARROW


def by_lanczos(A: Graph, u: Array, m: int, tol: float) -> tuple[Array, Array]:
    """The m largest eigenpairs of A other than (1, u)."""
    if issparse(A) and is_narrow(A):
        return by_inverse(A, u, m, start_vector(u), tol)
    n, times = len(u), product(A)

    def apply(v: Array) -> Array:
        v = np.ravel(v)
        return times(v[:, None])[:, 0] - (2.0 * (u @ v)) * u

    start = start_vector(u)
    operator = LinearOperator((n, n), matvec=apply, dtype=np.float64)
    width = min(n, max(4 * m + 1, 40))
    try:
        return eigsh(operator, m, which="LA", v0=start, ncv=width, maxiter=RESTARTS, tol=tol)
    except ArpackNoConvergence:
        return by_inverse(A, u, m, start, tol)


def start_vector(u: Array) -> Array:
    """Always the same, and orthogonal to u: no seed decides the eigenvectors."""
    start = np.random.default_rng(0).standard_normal(len(u))
    return start - u * (u @ start)


def shifted(W: Array, d: Array, c: float, plain: bool, u: Array) -> Array:
    """I - A + u u' + SHIFT I for a dense W, in one pass over it."""
    n = len(d)
    B = np.empty((n, n))
    root = np.full(n, 1 / np.sqrt(c)) if plain else 1 / np.sqrt(d)
    diagonal = d / c if plain else np.ones(n)

    def fill(rows: slice) -> None:
        np.multiply(W[rows], -root[rows, None], out=B[rows])
        B[rows] *= root
        B[rows] += u[rows, None] * u
        inside = np.arange(rows.start, rows.stop)
        B[inside, inside] += diagonal[inside] + SHIFT

    list(map_threads(fill, row_chunks(n, n)))
    return B


def factored(B: Array) -> Array:
    """The lower Cholesky factor of B, in its place, tile by tile in threads.

    The tiles depend on the shape alone: the same bits for any number of threads. What lies above
    the diagonal is left as it was.
    """
    n = len(B)
    for a in range(0, n, TILE):
        b = min(a + TILE, n)
        L: Array = np.linalg.cholesky(B[a:b, a:b]).astype(np.float64, copy=False)
        B[a:b, a:b] = L

        def below(rows: slice, a: int = a, b: int = b, L: Array = L) -> None:
            B[rows, a:b] = solve_triangular(L, B[rows, a:b].T, lower=True, check_finite=False).T

        def rest(rows: slice, a: int = a, b: int = b) -> None:
            B[rows, b : rows.stop] -= B[rows, a:b] @ B[b : rows.stop, a:b].T

        tiles = [slice(i, min(i + TILE, n)) for i in range(b, n, TILE)]
        list(map_threads(below, tiles))
        list(map_threads(rest, tiles[::-1]))  # the longest first
    return B


def by_cholesky(B: Array, u: Array, m: int, tol: float) -> tuple[Array, Array]:
    """The m largest eigenpairs of A other than (1, u), from B = I - A + u u' + SHIFT I.

    Those of B^-1 are far apart; a block Krylov space reads the factor a few times.
    """
    n = len(u)
    factor = (factored(B).T, False)  # as Fortran stores it: no copy in every solve

    def solve(V: Array) -> Array:
        return cho_solve(factor, V, check_finite=False)

    found = leading(solve, n, m, residual=max(tol, 1e-14))
    if found is None:
        inverse = LinearOperator((n, n), matvec=lambda v: solve(np.ravel(v)), dtype=np.float64)
        found = eigsh(inverse, m, which="LM", v0=start_vector(u), tol=tol)
    return 1 + SHIFT - 1 / found[0], found[1]


def by_inverse(A: Graph, u: Array, m: int, start: Array, tol: float) -> tuple[Array, Array]:
    """The same from (I - A + SHIFT I)^-1; u, its largest vector, is dropped."""
    n = len(u)
    if not issparse(A):
        B = np.outer(u, u) - A
        B[np.diag_indices(n)] += 1 + SHIFT
        return by_cholesky(B, u, m, tol)
    L = (diags(np.full(n, 1 + SHIFT), format="csc") - A).tocsc()
    factor = splu(
        L, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    inverse = LinearOperator((n, n), matvec=lambda v: factor.solve(np.ravel(v)), dtype=np.float64)
    values, V = eigsh(inverse, m + 1, which="LM", v0=start + u, tol=tol)
    values = 1 / values - SHIFT
    order = np.argsort(values, kind="stable")
    drop = int(np.argmax(np.abs(u @ V[:, order])))
    order = np.delete(order, drop)
    return 1 - values[order], V[:, order]


def with_signs(V: Array) -> Array:
    """The entry of largest size in every column is positive (the first of nearly equal ones)."""
    if V.size == 0:
        return V
    size = np.abs(V)
    first = (size > 0.999999 * size.max(axis=0)).argmax(axis=0)
    largest = V[first, np.arange(V.shape[1])]
    return V * np.where(largest < 0, -1.0, 1.0)
