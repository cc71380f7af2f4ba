"""Derivatives, Taylor, critical points, convexity, quadratics: SymPy as oracle, examples 5, 6."""

import math

import numpy as np
import pytest
import sympy
from numpy.testing import assert_allclose

from pellucid.maths import (
    Quadratic,
    check_gradient,
    convex_set,
    convexity,
    critical_point,
    directional_derivative,
    gradient,
    hessian,
    quadratic_model,
    taylor,
)

g = np.random.default_rng(0)
x, y = sympy.symbols("x y")
FUNCTIONS = [
    x**2 * y + sympy.sin(x * y),
    sympy.exp(x - y**2) / (1 + x**2),
    sympy.log(1 + x**2 + y**2),
    sympy.sqrt(1 + x**2) * sympy.cos(y),
]


def python(f):
    at = sympy.lambdify((x, y), f, "math")
    return lambda z: at(z[0], z[1])


def numbers(M, z):
    return np.array(M.subs({x: z[0], y: z[1]}).evalf().tolist(), dtype=float)


@pytest.mark.parametrize("f", FUNCTIONS, ids=[str(i) for i in range(4)])
def test_derivatives_against_sympy(f):
    for z in ([0.3, -0.7], [1.5, 2.0], [-4.0, 0.1]):
        J, H = sympy.Matrix([f]).jacobian([x, y]), sympy.hessian(f, (x, y))
        exact, second = numbers(J, z).ravel(), numbers(H, z)
        size = max(1.0, float(np.abs(exact).max()))
        assert_allclose(gradient(python(f), z), exact, atol=1e-8 * size)
        assert_allclose(hessian(python(f), z), second, atol=1e-5 * np.abs(second).max())
        full = gradient(python(f), z, full_output=True)
        assert np.all(np.abs(full.value - exact) <= 10 * full.error + 1e-11)
        assert full.kinks == ()
        u = np.array([3.0, -4.0])
        slope = directional_derivative(python(f), z, u)
        assert_allclose(slope, exact @ u / 5, atol=1e-8 * size)
        along = directional_derivative(python(f), z, u, normalise=False)
        assert_allclose(along, exact @ u, atol=1e-7 * size)
        assert check_gradient(python(f), exact, z).ok


def test_example_6_chain_rule():
    def f(v):
        return v[0] ** 2 * math.exp(v[1]) * (1 - math.exp(v[1] ** 3))

    assert_allclose(f([2, 0.5]), -0.878098747, atol=1e-9)
    assert_allclose(gradient(f, [2, 0.5]), [-0.878098747, -6.482836619], atol=1e-9)


def test_wrong_gradients_and_kinks():
    wrong = check_gradient(lambda v: v @ v, lambda v: 2 * v + [0, 0.1, 0], [1.0, 2.0, 3.0])
    assert not wrong.ok
    assert wrong.worst == 1
    assert_allclose(wrong.max_error, 0.1 / 4, atol=1e-8)
    with pytest.warns(UserWarning, match="kink at or near x in coordinate 1"):
        gradient(lambda v: v[0] + abs(v[1]), [1.0, 0.0])
    with pytest.warns(UserWarning, match="kink"):  # nearer than the step
        gradient(lambda v: max(0.0, v[0]), [1e-3])
    with pytest.warns(UserWarning, match="kink"):
        hessian(lambda v: abs(v[0]), [0.0])
    with pytest.warns(UserWarning, match="kink"):
        directional_derivative(lambda v: abs(v[0]), [0.0, 1.0], [1.0, 1.0])
    assert gradient(lambda v: abs(v[0]), [0.0], full_output=True).kinks == (0,)
    assert_allclose(gradient(lambda v: abs(v[0]), [1.0]), [1.0])
    assert check_gradient(lambda v: abs(v[0]), [0.0], [0.0]).kinks == (0,)


def test_derivative_doors():
    with pytest.raises(ValueError, match="not finite"):
        gradient(lambda v: float("nan"), [1.0])
    with pytest.raises(ValueError, match="one number"):
        gradient(lambda v: v, [1.0, 2.0])
    with pytest.raises(ValueError, match="zero vector"):
        directional_derivative(lambda v: v[0], [1.0], [0.0])
    with pytest.raises(ValueError, match="entries"):
        check_gradient(lambda v: v[0], [1.0, 2.0], [1.0])


@pytest.mark.parametrize("x0", [0.0, 0.4, -0.7])
@pytest.mark.parametrize(
    ("name", "f"),
    [("geometric", 1 / (1 - x)), ("exp", sympy.exp(x)), ("log1p", sympy.log(1 + x)),
     ("cos", sympy.cos(x)), ("sin", sympy.sin(x))],
)  # fmt: skip
def test_taylor_against_sympy(name, f, x0):
    at = sympy.Rational(str(x0))
    exact = [float(f.diff(x, k).subs(x, at) / sympy.factorial(k)) for k in range(9)]
    known = taylor(name, 8, x0)
    assert_allclose(known.coefficients, exact, rtol=1e-12, atol=1e-15)
    numerical = taylor(sympy.lambdify(x, f, "math"), 8, x0)
    scale = np.maximum(1.0, np.abs(exact))
    assert_allclose(numerical.coefficients[:5] / scale[:5], exact[:5] / scale[:5], atol=2e-9)
    assert_allclose(numerical.coefficients / scale, exact / scale, atol=1e-4)
    assert numerical.radius is None
    near = x0 + 0.01
    assert_allclose(known(near), float(f.subs(x, near)), rtol=1e-12)
    assert known(np.array([x0, near])).shape == (2,)


def test_taylor_radii_and_words():
    radii = [taylor(name).radius for name in ("geometric", "exp", "log1p", "cos", "sin")]
    assert radii == [1, math.inf, 1, math.inf, math.inf]
    assert_allclose(taylor("geometric", x0=-2.0).radius, 3)
    assert taylor("cos", 4).coefficients.tolist() == [1, 0, -0.5, 0, 1 / 24]
    assert str(taylor("geometric", 2)) == "1 + x + x^2; the series converges for |x| < 1"
    assert "(x - 1)" in str(taylor("exp", 2, 1.0))
    assert_allclose(
        taylor(lambda t: 3 * t**2 - t, 4, 2.0).coefficients, [10, 11, 3, 0, 0], atol=1e-9
    )
    with pytest.warns(UserWarning, match="uncertain"):
        taylor(abs, 4)
    with pytest.raises(ValueError, match="not defined"):
        taylor("log1p", x0=-1.0)
    with pytest.raises(ValueError, match="not defined in any"):
        taylor(math.log, x0=-1.0)
    with pytest.raises(ValueError, match="at most 10"):
        taylor(math.exp, 30)


@pytest.mark.parametrize("f", FUNCTIONS, ids=[str(i) for i in range(4)])
def test_quadratic_model_is_the_second_order_series(f):
    z = np.array([0.3, -0.7])
    model = quadratic_model(python(f), z)
    d = 1e-3 * g.normal(size=2)
    assert_allclose(model.value(d), python(f)(z + d), atol=1e-8)
    assert_allclose(model.value([0, 0]), python(f)(z))
    assert_allclose(model.hessian, numbers(sympy.hessian(f, (x, y)), z), atol=1e-5)


POINTS = [
    (x**2 + 3 * y**2, (0, 0), "local minimum"),
    (-(x**2) - y**2 + x * y, (0, 0), "local maximum"),
    (x**2 - y**2, (0, 0), "saddle point"),
    (x**2 + y**4, (0, 0), "undecided"),
    (x**2 - y**4, (0, 0), "undecided"),
    (x**3 - 3 * x + y**2, (1, 0), "local minimum"),
    (x**3 - 3 * x + y**2, (-1, 0), "saddle point"),
    (x**3 - 3 * x + y**2, (0.5, 0), "not stationary"),
    (sympy.sin(x) * sympy.sin(y), (math.pi / 2, math.pi / 2), "local maximum"),
    (1000 * x**2 + 1e-2 * y**2, (0, 0), "local minimum"),
]


@pytest.mark.parametrize(("f", "z", "kind"), POINTS, ids=[str(i) for i in range(len(POINTS))])
def test_critical_points(f, z, kind):
    """The same verdict from differences, from the gradient and from SymPy's derivatives."""
    J, H = sympy.Matrix([f]).jacobian([x, y]), sympy.hessian(f, (x, y))

    def first(v):
        return numbers(J, v).ravel()

    def second(v):
        return numbers(H, v)

    for given in ({}, {"gradient": first}, {"gradient": first, "hessian": second}):
        found = critical_point(python(f), z, **given)
        assert found.kind == kind, given
        exact = np.linalg.eigvalsh(second(z))
        assert_allclose(found.eigenvalues, exact, atol=1e-5 * max(1.0, np.abs(exact).max()))


def test_convex_critical_points():
    assert critical_point(lambda v: v @ v, [0, 0], convex=True).kind == "global minimum, unique"
    assert critical_point(lambda v: v[0] ** 2, [0, 5], convex=True).kind == "global minimum"
    with pytest.raises(ValueError, match="not finite"):
        critical_point(lambda v: float("inf"), [0.0])


S, V = "strictly convex: not refuted", "convex: not refuted"
C, N = "concave: not refuted", "neither"


def rare_dent(v):
    """Convex but for one eigenvalue of -0.02 against 2."""
    return v[0] ** 2 - 0.01 * (v[1] - v[0]) ** 2 + v[1] ** 2 * 0.005


SHAPES = {
    "bowl": (lambda v: v @ v, S), "exp": (lambda v: math.exp(v[0]) + math.exp(v[1]), S),
    "fourth": (lambda v: v[0] ** 4 + v[1] ** 4, S), "valley": (lambda v: (v[0] + v[1]) ** 2, V),
    "affine": (lambda v: 3 * v[0] - 0.1 * v[1] + 7, V), "norm": (lambda v: np.linalg.norm(v), V),
    "abs": (lambda v: abs(v[0]) + v[1] ** 2, V), "constant": (lambda v: 5.0, V),
    "dome": (lambda v: -(v @ v), C), "saddle": (lambda v: v[0] * v[1], N),
    "waves": (lambda v: math.sin(v[0]), N), "dent": (rare_dent, N),
    "logsumexp": (lambda v: np.logaddexp(v[0], v[1]), V),
}  # fmt: skip


@pytest.mark.parametrize("name", list(SHAPES))
def test_convexity(name):
    f, verdict = SHAPES[name]
    found = convexity(f, [-3.0, -2.0], [3.0, 4.0], n_samples=500)
    assert found.verdict == verdict
    chord = found.counterexample
    assert (chord is None) == verdict.startswith((S, V))
    if chord is not None:  # it can be checked by hand
        m = chord.lam * chord.a + (1 - chord.lam) * chord.b
        gap = f(m) - chord.lam * f(chord.a) - (1 - chord.lam) * f(chord.b)
        assert_allclose(gap, chord.gap)
        assert gap > 0
        assert "above its chord" in str(found)


def test_convexity_doors():
    assert convexity(lambda v: math.exp(v[0]), -20, 20).verdict == S  # flat on the left
    with pytest.raises(ValueError, match="below"):
        convexity(lambda v: v[0], 1, 0)
    with pytest.raises(ValueError, match="not finite"):
        convexity(lambda v: np.inf if v[0] < 0.5 else v[0], 0, 1)


def test_convex_sets():
    grid = np.stack(np.meshgrid(*[np.linspace(-2, 2, 9)] * 2), axis=-1).reshape(-1, 2)
    assert convex_set(lambda v: v @ v <= 4, grid).verdict == V
    ring = convex_set(lambda v: 1 <= v @ v <= 4, grid)
    assert ring.verdict == "not convex"
    a, b, lam, _ = ring.counterexample
    m = lam * a + (1 - lam) * b
    assert not 1 <= m @ m <= 4
    with pytest.raises(ValueError, match="at least two"):
        convex_set(lambda v: False, grid)


def test_example_5_quadratics():
    found = Quadratic.canonical(np.diag([2, 4]), [-2, 4]).minimise()
    assert found.kind == "unique"
    assert_allclose(found.x, [1, -1])
    assert_allclose(found.value, -3)
    valley = Quadratic.canonical(np.ones((2, 2)), [1, 1]).minimise()
    assert valley.kind == "infinitely many"
    assert_allclose(valley.x, [-0.5, -0.5])
    assert_allclose(np.abs(valley.null_space.T), [[np.sqrt(0.5)] * 2])
    slope = Quadratic.canonical(np.ones((2, 2)), [1, 0]).minimise()
    assert (slope.kind, slope.x, slope.value) == ("none: unbounded", None, -np.inf)
    saddle = Quadratic([[1, 0], [0, -1]]).minimise()
    assert (saddle.kind, saddle.x, saddle.value) == ("none: not convex", None, -np.inf)
    for record in (found, valley, slope, saddle):
        assert str(record)
        assert "\n" not in repr(record)


def test_quadratic_identities():
    A, b, z = g.normal(size=(3, 3)), g.normal(size=3), g.normal(size=3)
    q = Quadratic(A, b, 2.0)
    assert_allclose(q.gradient(z), gradient(q, z), atol=1e-8)
    assert_allclose(q.hessian, hessian(q, z), atol=1e-6)
    m, offset = q.complete_square()
    assert_allclose((z - m) @ A @ (z - m) + offset, q.value(z))
    assert q.convexity == "neither"
    with pytest.raises(ValueError, match="range"):
        Quadratic([[1, 0], [0, 0]], [0, 1]).complete_square()


@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize(("n", "p"), [(20, 3), (3, 6)])
def test_quadratic_least_squares(n, p, alpha):
    X, t = g.normal(size=(n, p)), g.normal(size=n)
    X[:, -1] = X[:, 0]
    q = Quadratic.least_squares(X, t, alpha)
    w = g.normal(size=p)
    assert_allclose(q.value(w), np.sum((t - X @ w) ** 2) + alpha * w @ w)
    found = q.minimise()
    assert found.kind == ("unique" if alpha else "infinitely many")
    assert_allclose(found.x, np.linalg.pinv(np.vstack([X, np.sqrt(alpha) * np.eye(p)]))[:, :n] @ t)
    assert_allclose(q.value(found.x), found.value, atol=1e-10)
    assert found.null_space.shape[1] == (0 if alpha else p - np.linalg.matrix_rank(X))
