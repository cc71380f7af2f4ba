"""Subspaces, systems, projections, decompositions: SymPy as oracle, examples 1 to 4 and 7."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgWarning, subspace_angles

from pellucid.maths import (
    AffineSubspace,
    angle,
    coordinates,
    decompose,
    definiteness,
    ellipsoid,
    fundamental_subspaces,
    gram_schmidt,
    in_span,
    invert,
    is_independent,
    is_orthonormal,
    matrix_report,
    norm,
    projection_matrix,
    solve_system,
)

g = np.random.default_rng(0)
R = [[1, 2, 1], [2, 1, 0], [3, 4, 1], [4, 3, 1], [5, 6, 0], [6, 5, 2], [7, 8, 1], [8, 6, 3]]


def low_rank(m, n, r):
    """A matrix of small whole numbers and rank at most r."""
    return g.integers(-3, 4, (m, r)) @ g.integers(-3, 4, (r, n))


SHAPES = [(3, 3, 2), (4, 3, 2), (3, 5, 3), (5, 4, 1), (6, 6, 4), (2, 2, 2), (1, 4, 1), (4, 1, 1)]


def same_span(A, B):
    if A.shape[1] == 0 or B.shape[1] == 0:
        return A.shape == B.shape
    return A.shape == B.shape and np.max(subspace_angles(A, B)) < 1e-10


def exact(vectors, n):
    found = [np.array(v.tolist(), dtype=float).ravel() for v in vectors]
    return np.array(found).T if found else np.zeros((n, 0))


@pytest.mark.parametrize(("m", "n", "r"), SHAPES)
def test_subspaces_against_sympy(m, n, r):
    for _ in range(5):
        A = low_rank(m, n, r)
        S = sympy.Matrix(A.tolist())
        pivot, smooth = (fundamental_subspaces(A, b) for b in ("pivot", "orthonormal"))
        assert pivot.rank == smooth.rank == S.rank()
        assert pivot.nullity == n - S.rank()
        assert_allclose(pivot.column, exact(S.columnspace(), m), atol=0)
        assert_allclose(pivot.null, exact(S.nullspace(), n), atol=1e-9)
        assert_allclose(pivot.left_null, exact(S.T.nullspace(), m), atol=1e-9)
        rows = np.array(S.rref()[0].tolist(), dtype=float)[: S.rank()]
        assert_allclose(pivot.row.T, rows, atol=1e-9)
        for name in ("column", "row", "null", "left_null"):
            assert same_span(getattr(pivot, name), getattr(smooth, name)), name
            assert is_orthonormal(getattr(smooth, name))


def test_elimination_agrees_with_the_rank():
    """Rounding grows in elimination; the pivots are as many as the singular values say."""
    for _ in range(100):
        m, n = g.integers(1, 31, 2)
        r = int(g.integers(1, min(m, n) + 1))
        A = g.normal(size=(m, r)) @ g.normal(size=(r, n)) * 10.0 ** g.integers(-3, 4, n)
        found = fundamental_subspaces(A, "pivot")
        assert found.rank == found.column.shape[1] == found.row.shape[1] == r
        assert found.null.shape == (n, n - r)
        assert found.left_null.shape == (m, m - r)
        size = np.abs(A).max() * np.abs(found.null).max(initial=1.0)
        assert_allclose(A @ found.null, 0, atol=1e-9 * size)
        size = np.abs(A).max() * np.abs(found.left_null).max(initial=1.0)
        assert_allclose(A.T @ found.left_null, 0, atol=1e-9 * size)


def test_example_1_subspaces():
    found = fundamental_subspaces([[1, 2, 3], [4, 8, 12], [2, 8, 10], [3, 3, 6]], "pivot")
    assert (found.rank, found.nullity) == (2, 1)
    assert_allclose(found.column.T, [[1, 4, 2, 3], [2, 8, 8, 3]])
    assert_allclose(found.null.T, [[-1, -1, 1]], atol=1e-15)
    assert_allclose(found.row.T, [[1, 0, 1], [0, 1, 1]], atol=1e-15)
    assert fundamental_subspaces(np.eye(3)).null.shape == (3, 0)
    assert "\n" not in repr(found)
    assert "rank 2 + nullity 1 = 3 columns" in str(found)


def test_example_2_inverse_norm_angle():
    assert_allclose(invert([[1, 2], [3, 3]]), [[-1, 2 / 3], [1, -1 / 3]])
    assert invert([[1, 2], [2, 4]], "none") is None
    assert_allclose(matrix_report([[2, 0, 1], [1, 3, 2], [1, 1, 4]]).det, 18)
    for x in ([3, -4], [[3, -4]], [[3], [-4]]):
        assert (norm(x, 1), norm(x), norm(x, np.inf)) == (7, 5, 4)
    assert_allclose(angle([1, 0], [1, 1]), 45)


def test_example_3_projections():
    assert_allclose(projection_matrix([1, 2]), [[0.2, 0.4], [0.4, 0.8]])
    P = projection_matrix([[1, 0], [1, 1], [1, 2]])
    assert_allclose(P, np.array([[5, 2, -1], [2, 2, 2], [-1, 2, 5]]) / 6)


def test_example_4_ellipsoid():
    found = ellipsoid([[3, 1], [1, 3]], c=4)
    assert_allclose(found.radii, [np.sqrt(2), 1])
    assert_allclose(found.axes.T, np.array([[1, -1], [1, 1]]) / np.sqrt(2))
    for d in (1, 2, 4):
        B = g.normal(size=(d, d))
        A, m = B @ B.T + np.eye(d), g.normal(size=d)
        x = ellipsoid(A, 2.5, m).points(50) - m
        assert_allclose(np.einsum("ij,jk,ik->i", x, A, x), 2.5)
    with pytest.raises(ValueError, match="eigenvalue -1"):
        ellipsoid([[1, 2], [2, 1]])


def test_example_7_gram_schmidt():
    X = np.column_stack([np.ones(8), R])
    found = gram_schmidt(X)
    rows = [[1, 4.5, 4.375, 1.125], [0, 1, 0.82142857, 0.25], [0, 0, 1, -0.31460674]]
    assert_allclose(found.Gamma[:3], rows, atol=1e-8)
    assert_allclose((found.Z**2).sum(axis=0), [8, 42, 9.53571429, 3.30617978], atol=1e-8)
    assert_allclose(found.Z @ found.Gamma, X, atol=1e-12)
    assert_allclose(found.Q @ found.R, X, atol=1e-12)
    T = np.linalg.qr(X).R
    assert_allclose(found.R, T * np.sign(np.diag(T))[:, None], atol=1e-12)
    last = np.linalg.inv(X.T @ X)[-1, -1]
    assert_allclose(1 / (found.Z[:, -1] @ found.Z[:, -1]), last)


def test_gram_schmidt_stays_orthogonal():
    """Hilbert columns: once loses all orthogonality, twice none; dependent columns are named."""
    i = np.arange(12)
    H = 1 / (i[:, None] + i[:8] + 1.0)
    found = gram_schmidt(H, tol=1e-14)
    assert_allclose(found.Q.T @ found.Q, np.eye(8), atol=1e-14)
    assert_allclose(found.Z @ found.Gamma, H, atol=1e-15)
    X = g.normal(size=(6, 3))
    X = np.column_stack([X[:, 0], 2 * X[:, 0], X[:, 1], np.zeros(6), X[:, 1] - X[:, 0], X[:, 2]])
    found = gram_schmidt(X)
    assert found.dependent == (1, 3, 4)
    assert_allclose(found.Q @ found.R, X[:, [0, 2, 5]], atol=1e-13)
    assert_allclose(found.Z @ found.Gamma, X, atol=1e-13)


@pytest.mark.parametrize(("m", "n", "r"), SHAPES)
def test_systems_against_sympy(m, n, r):
    for k in range(6):
        A = low_rank(m, n, r)
        b = A @ g.integers(-3, 4, n) if k % 2 else g.integers(-3, 4, m)
        S, both = sympy.Matrix(A.tolist()), sympy.Matrix(np.column_stack([A, b]).tolist())
        found = solve_system(A, b)
        assert (found.rank, found.rank_augmented) == (S.rank(), both.rank())
        kind = "none" if S.rank() < both.rank() else "one" if S.rank() == n else "infinitely many"
        assert found.kind == kind
        assert_allclose(found.x, np.linalg.pinv(A) @ b, atol=1e-10)
        assert_allclose(A @ found.null_space, 0, atol=1e-12)
        assert found.null_space.shape == (n, n - S.rank())
        assert (found.residual < 1e-10) == (kind != "none")


def test_systems_do_not_depend_on_units():
    A, b = low_rank(4, 3, 2), g.normal(size=4)
    for size in (1e-20, 1.0, 1e20):
        assert solve_system(A * size, b).kind == "none"
        assert solve_system(A, (A @ [1.0, 2.0, 3.0]) * size).kind == "infinitely many"
        assert solve_system(np.diag([1.0, 2.0]) * size, [1.0, 1.0]).kind == "one"
    assert solve_system([[0.0]], [0.0]).kind == "infinitely many"
    assert solve_system([[0.0]], [1.0]).kind == "none"
    for A, b in [([[1, 1]], [2]), ([[1], [1]], [1, 2]), ([[2]], [4])]:
        assert solve_system(A, b).kind.split(" ")[0] in str(solve_system(A, b)).replace(
            "no ", "none "
        )


def test_invert():
    with pytest.raises(ValueError, match="rank is 1"):
        invert([[1, 2], [2, 4]])
    A = low_rank(4, 3, 2)
    assert_allclose(invert(A, "pseudo"), np.linalg.pinv(A))
    with pytest.raises(ValueError, match="square"):
        invert(A)
    with pytest.warns(LinAlgWarning, match="condition"):
        invert(np.vander(np.linspace(0, 1, 12)))
    B = g.normal(size=(5, 5))
    assert_allclose(invert(B) @ B, np.eye(5), atol=1e-12)


def test_affine_subspaces():
    B, x0, x = g.normal(size=(5, 3)), g.normal(size=5), g.normal(size=5)
    flat = AffineSubspace(np.column_stack([B, B[:, 0] - B[:, 1]]), x0)  # dependent directions
    assert (flat.dim, flat.is_hyperplane, flat.is_linear) == (3, False, False)
    near = flat.project(x)
    assert_allclose(near.point, x0 + projection_matrix(B) @ (x - x0))
    assert_allclose(B.T @ near.residual, 0, atol=1e-12)
    assert_allclose(near.point, x0 + flat.directions @ near.coefficients)
    assert_allclose(near.coefficients, np.linalg.pinv(flat.directions) @ (x - x0))
    assert flat.contains(near.point)
    assert not flat.contains(x)
    with pytest.raises(ValueError, match="hyperplane"):
        _ = flat.normal
    normal = g.normal(size=4)
    plane = AffineSubspace.from_equation(normal, 2.0)
    y = g.normal(size=4)
    assert plane.is_hyperplane
    assert_allclose(plane.project(y).distance, abs(normal @ y + 2) / np.linalg.norm(normal))
    assert_allclose(plane.normal, normal / np.linalg.norm(normal))
    assert AffineSubspace.from_equation(normal, 0.0).is_linear
    line = AffineSubspace([3, 4])
    assert_allclose(line.normal, [0.8, -0.6])
    assert line.is_linear
    assert AffineSubspace(np.zeros((3, 0)), [1, 2, 3]).project([1, 2, 5]).distance == 2
    assert AffineSubspace(np.eye(2)).project([1, 2]).distance == 0
    assert AffineSubspace.from_equation([2.0], -6.0).point == [3.0]
    with pytest.raises(ValueError, match="zero vector"):
        AffineSubspace.from_equation([0, 0], 1.0)


def test_span_and_coordinates():
    V = low_rank(6, 4, 2).astype(float)
    x = V @ [1.0, -2.0, 0.5, 3.0]
    assert in_span(V, x)
    assert_allclose(V @ coordinates(V, x), x, atol=1e-12)
    assert not in_span(V, g.normal(size=6))
    assert not is_independent(V)
    assert is_independent(np.eye(4)[:, :2])
    assert in_span(np.zeros((3, 0)), [0, 0, 0])
    assert coordinates([1e-8, 0], [1.0, 1e-7]) is None


@pytest.mark.parametrize("kind", ["svd", "gram"])
@pytest.mark.parametrize(("m", "n"), [(5, 3), (3, 5), (4, 4), (1, 3)])
def test_singular_decomposition(kind, m, n):
    A = g.normal(size=(m, n))
    found = decompose(A, kind)
    k = min(m, n)
    assert is_orthonormal(found.left)
    assert is_orthonormal(found.right)
    assert found.left.shape == (m, m)
    assert_allclose((found.left[:, :k] * found.values) @ found.right[:k], A, atol=1e-12)
    assert_allclose(found.values, np.linalg.svd(A, compute_uv=False))
    x = g.normal(size=(n, 7))
    turned, stretched, back = found.steps(x)
    assert_allclose(np.linalg.norm(turned, axis=0), np.linalg.norm(x, axis=0))
    assert stretched.shape == (m, 7)
    assert_allclose(back, A @ x, atol=1e-12)
    assert_allclose(found.steps(x[:, 0])[2], A @ x[:, 0], atol=1e-12)
    for rank in range(k + 1):
        low = found.low_rank(rank)
        assert_allclose(low.error, np.linalg.norm(A - low.matrix), atol=1e-12)
        assert_allclose(low.spectral_error, np.linalg.norm(A - low.matrix, 2), atol=1e-12)
        assert_allclose(low.storage, rank * (m + n + 1) / (m * n))


def test_gram_warns_of_lost_digits():
    A = np.array([[1.0, 1.0], [1e-6, 0.0], [0.0, 1e-6]])
    with pytest.warns(LinAlgWarning, match="half of their digits"):
        found = decompose(A, "gram")
    assert is_orthonormal(found.left)
    exact_value = float(decompose(A).values[1])
    assert_allclose(exact_value, 1e-6, rtol=1e-9)
    assert abs(found.values[1] / exact_value - 1) > 1e-9


def test_eigen_against_sympy():
    U = np.array([[1, 2, 0], [0, 1, 3], [1, 2, 1]])
    W = np.rint(np.linalg.inv(U)).astype(int)
    blocks = [
        [[2, 1, 0], [0, 2, 0], [0, 0, 5]],
        [[2, 1, 0], [0, 2, 1], [0, 0, 2]],
        [[2, 0, 0], [0, 2, 0], [0, 0, 5]],
        [[1, 0, 0], [0, 2, 0], [0, 0, 3]],
        [[0, -1, 0], [1, 0, 0], [0, 0, 1]],
        [[0, 1, 0], [0, 0, 0], [0, 0, 0]],
    ]
    for J in blocks:
        A = U @ np.array(J) @ W
        found = decompose(A, "eigen")
        assert found.diagonalizable == sympy.Matrix(A.tolist()).is_diagonalizable()
        if found.diagonalizable:
            assert_allclose((found.left * found.values) @ found.right, A, atol=1e-9)
            assert (np.diff(found.values.real) <= 1e-9).all()
        else:
            assert found.left is None
            with pytest.raises(ValueError, match="no factors"):
                found.steps([1, 2, 3])
    B = g.normal(size=(4, 4))
    found = decompose(B + B.T, "spectral")
    assert_allclose((found.left * found.values) @ found.right, B + B.T, atol=1e-12)
    assert_allclose(found.low_rank(2).error, np.linalg.norm(B + B.T - found.low_rank(2).matrix))
    with pytest.raises(ValueError, match="symmetric"):
        decompose(B, "spectral")


KINDS = {(1, 1): "positive definite", (1, 0): "positive semidefinite",
         (-1, -1): "negative definite", (-1, 0): "negative semidefinite"}  # fmt: skip


def test_definiteness_against_sympy():
    for r in (1, 2, 3):
        for sign in (1, -1):
            for _ in range(6):
                B = g.integers(-3, 4, (3, r))
                A = sign * B @ B.T
                S = sympy.Matrix(A.tolist())
                found = definiteness(A)
                assert found.is_pd == bool(S.is_positive_definite)
                assert found.is_psd == bool(S.is_positive_semidefinite)
                assert found.is_nd == bool(S.is_negative_definite)
                assert found.is_nsd == bool(S.is_negative_semidefinite)
    assert definiteness([[1, 3], [-3, 1]]).kind == "positive definite"  # only (A + A')/2 counts
    assert definiteness([[1, 0], [0, -1]]).kind == "indefinite"
    text = str(definiteness(np.diag([0.0, 3.0])))
    assert text.startswith("positive semidefinite: eigenvalues 0, 3")
    assert text.endswith("minimisers form a line")
    assert "everywhere" in str(definiteness(np.zeros((2, 2))))


def test_matrix_report_decides_by_rank():
    good = matrix_report(0.1 * np.eye(20))  # det 1e-20
    assert good.is_invertible
    assert good.definiteness.is_pd
    bad = matrix_report([[1, 2, 3], [4, 5, 6], [7, 8, 9]])  # det 7e-16 in floating point
    assert (bad.rank, bad.is_invertible, bad.condition) == (2, False, np.inf)
    c, s = np.cos(0.3), np.sin(0.3)
    turn = matrix_report([[c, -s], [s, c]])
    assert turn.is_orthogonal
    assert not turn.is_symmetric
    tall = matrix_report([[c, -s], [s, c], [0, 0]])
    assert tall.has_orthonormal_columns
    assert not tall.is_orthogonal
    assert tall.det is tall.trace is tall.definiteness is None
    P = matrix_report(projection_matrix(g.normal(size=(4, 2))))
    assert P.is_projection
    assert P.is_symmetric
    assert_allclose(P.trace, P.rank)
    assert "all of these are true" in str(turn)
    assert "all of these are false" in str(bad)


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.int64, (4, 3), elements=st.integers(-4, 4)),
    arrays(np.int64, (3, 4), elements=st.integers(-4, 4)),
)
def test_laws_of_rank_and_determinant(A, B):
    products = {"A": A, "B": B, "AB": A @ B, "A'": A.T, "A+B'": A + B.T, "A'A": A.T @ A}
    r = {name: matrix_report(M).rank for name, M in products.items()}
    assert r["AB"] <= min(r["A"], r["B"])
    assert r["AB"] >= r["A"] + r["B"] - 3  # Sylvester
    assert r["A"] == r["A'"] == r["A'A"]
    assert r["A+B'"] <= r["A"] + r["B"]
    S, T = A[:3], B[:, :3]
    d = {name: matrix_report(M) for name, M in {"S": S, "T": T, "ST": S @ T, "TS": T @ S}.items()}
    assert_allclose(d["ST"].det, d["S"].det * d["T"].det, atol=1e-6)
    assert_allclose(d["ST"].trace, d["TS"].trace)


def test_norm_and_angle_doors():
    with pytest.warns(UserWarning, match="quasi-norm"):
        assert_allclose(norm([1, 4], 0.5), 9)
    assert_allclose(norm([3e200, 4e200]), 5e200)
    assert norm([0, 0]) == 0
    with pytest.raises(ValueError, match="zero vector"):
        angle([0, 0], [1, 1])
    with pytest.raises(ValueError, match="p must be > 0"):
        norm([1], 0)
    assert_allclose(angle([1, 0], [1, 1e-9], degrees=False), 1e-9)  # arccos would say 0
    assert_allclose(angle([1, 1e-300], [-1, 0]), 180)
    assert angle([2, 3], [4, 6]) == 0


@pytest.mark.parametrize(
    "function",
    [matrix_report, fundamental_subspaces, decompose, gram_schmidt, definiteness, invert, norm],
)
def test_nan_and_empty_are_refused(function):
    with pytest.raises(ValueError, match=r"nan|finite"):
        function([[np.nan]])
    with pytest.raises(ValueError, match="shape"):
        function(np.zeros((0, 0)))
