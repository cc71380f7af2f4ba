r"""Taylor polynomials and the quadratic model of a function.

    f(x) ~ sum_k a_k (x - x0)^k,   a_k = f^(k)(x0) / k!
    f(x0 + d) ~ f(x0) + g'd + d'H d / 2

The coefficients of a known series are exact. Those of any other function come from polynomials
through Chebyshev points x0 + r cos t: for several radii r a polynomial of degree 32 and one of
degree 24 are compared, and for each k the radius is taken at which they agree best. Points where f
is not defined rule a radius out. Smooth functions: about 1e-9 up to order 4, 1e-5 at order 8.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from pellucid.core.algebra.derivatives import numerical_gradient, numerical_hessian
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.core.runtime.warn import warn
from pellucid.maths.calculus.differentiation import Remembered
from pellucid.maths.inputs import vector
from pellucid.maths.matrices.quadratic import Quadratic
from pellucid.maths.wording import folded, number, one_line

SERIES = ("geometric", "exp", "log1p", "cos", "sin")
RADII = tuple(2.0 ** (-k / 2) for k in range(28))  # of the neighbourhood, times max(1, |x0|)
DEGREES = (32, 24)
MOST = 10  # the order up to which differences are worth anything
DOUBTFUL = 1e-4  # relative error of a coefficient that is worth a warning


@readable
class Taylor(NamedTuple):
    """A Taylor polynomial: callable, coefficients from the constant on.

    ``radius`` is the radius of convergence of the whole series, None where it is not known.

    >>> print(taylor("exp", 3))
    1 + x + 0.5 x^2 + 0.166667 x^3; the series converges for every x
    """

    coefficients: Array  # (order + 1,)
    x0: float  # centre of the expansion
    radius: float | None

    def __call__(self, x: ArrayLike) -> Any:
        """The value of the polynomial at x, a number or an array."""
        return np.polynomial.polynomial.polyval(np.asarray(x) - self.x0, self.coefficients)

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        base = "x" if self.x0 == 0 else f"(x {'-' if self.x0 > 0 else '+'} {number(abs(self.x0))})"
        text = ""
        for k, a in enumerate(self.coefficients):
            if a == 0:
                continue
            power = "" if k == 0 else base if k == 1 else f"{base}^{k}"
            size = number(abs(a))
            term = size if not power else power if size == "1" else f"{size} {power}"
            text += (" - " if a < 0 else " + ") + term if text else ("-" if a < 0 else "") + term
        text = text or "0"
        if self.radius is None:
            return folded(text)
        if math.isinf(self.radius):
            return folded(text + "; the series converges for every x")
        middle = "|x|" if self.x0 == 0 else f"|{base[1:-1]}|"
        return folded(text + f"; the series converges for {middle} < {number(self.radius)}")


def taylor(f: Callable[[float], float] | str, order: int = 4, x0: float = 0.0) -> Taylor:
    """The Taylor polynomial of f around x0.

    ``f`` is a function of one number, or "geometric" (1/(1-x)), "exp", "log1p", "cos" or "sin",
    whose coefficients are exact and whose radius of convergence is known. ``order`` is the highest
    power, at most 10 for a function; ``x0`` the centre of the expansion.

    >>> from pellucid.maths import taylor
    >>> taylor("log1p", 3).coefficients.round(4), taylor("log1p").radius
    (array([ 0.    ,  1.    , -0.5   ,  0.3333]), 1.0)
    >>> taylor(lambda x: 1 / (2 + x), 2).coefficients.round(9)
    array([ 0.5  , -0.25 ,  0.125])
    """
    check.whole(at_least=0, order=order)
    x0 = float(vector(x0, "x0", 1)[0])
    if isinstance(f, str):
        check.one_of(SERIES, f=f)
        return _known(f, order, x0)
    if order > MOST:
        raise ValueError(f"order must be at most {MOST} for a function, got {order}")
    return Taylor(_numerical(f, order, x0), x0, None)


def _known(name: str, order: int, x0: float) -> Taylor:
    k = range(order + 1)
    if name == "exp":
        return Taylor(np.array([math.exp(x0) / math.factorial(j) for j in k]), x0, math.inf)
    if name in ("cos", "sin"):
        cycle = [math.cos(x0), -math.sin(x0), -math.cos(x0), math.sin(x0)]
        shift = 0 if name == "cos" else 3
        a = np.array([cycle[(j + shift) % 4] / math.factorial(j) for j in k])
        return Taylor(a + 0.0, x0, math.inf)
    gap = 1 - x0 if name == "geometric" else 1 + x0
    if gap == 0 or (name == "log1p" and gap < 0):
        raise ValueError(f"{name!r} is not defined around x0 = {x0:g}")
    if name == "geometric":
        return Taylor(np.array([gap ** -(j + 1.0) for j in k]), x0, abs(gap))
    rest = [(-1) ** (j + 1) / (j * gap**j) for j in k if j]
    return Taylor(np.array([math.log1p(x0), *rest]), x0, abs(gap))


def _numerical(f: Callable[[float], float], order: int, x0: float) -> Array:
    found, errors = [], []
    for radius in RADII:
        r = radius * max(1.0, abs(x0))
        fits = [_monomials(f, x0, r, degree) for degree in DEGREES]
        if fits[0] is None or fits[1] is None:
            continue
        scale = r ** -np.arange(order + 1.0)
        found.append(fits[0][: order + 1] * scale)
        errors.append(np.abs(fits[0][: order + 1] - fits[1][: order + 1]) * scale)
    if not found:
        raise ValueError(f"f is not defined in any neighbourhood of x0 = {x0:g} that was tried")
    F, best, k = np.array(found), np.argmin(errors, axis=0), np.arange(order + 1)
    a, error = F[best, k], np.array(errors)[best, k]
    if len(F) > 1:  # agreement may be luck: the next radius must agree as well
        sides = [np.clip(best + step, 0, len(F) - 1) for step in (-1, 1)]
        away = [np.where(side == best, np.inf, np.abs(F[side, k] - a)) for side in sides]
        error = np.maximum(error, np.minimum(*away))
    bad = np.flatnonzero(error > DOUBTFUL * np.maximum(1.0, np.abs(a)))
    if len(bad):
        warn(
            f"the coefficient of order {bad[0]} is uncertain by {error[bad[0]]:.2g}: f is not "
            "smooth near x0, or changes too fast"
        )
    a[0] = float(f(x0))
    return np.where(np.abs(a) <= 3 * error, 0.0, a) if not len(bad) else a


def _monomials(f: Callable[[float], float], x0: float, r: float, degree: int) -> Array | None:
    """Coefficients of powers of (x - x0)/r, or None where f is not defined in [x0 - r, x0 + r]."""
    t = chebyshev.chebpts1(degree + 1)
    try:
        with np.errstate(all="ignore"):
            y = np.array([float(f(x0 + r * s)) for s in t])
    except (ValueError, ArithmeticError):  # math.log(-1), 1/0, overflow: outside the domain
        return None
    if not np.isfinite(y).all():
        return None
    return np.asarray(chebyshev.cheb2poly(chebyshev.chebfit(t, y, degree)), dtype=np.float64)


def quadratic_model(f: Callable[[Array], Any], x0: ArrayLike) -> Quadratic:
    """The second-order model f(x0) + g'd + d'H d/2, a Quadratic in the step d = x - x0.

    ``f`` maps a vector to a number; ``x0`` is the centre of the expansion.

    >>> from pellucid.maths import quadratic_model
    >>> model = quadratic_model(lambda x: x[0] ** 2 + x[0] * x[1] + 3, [1.0, 2.0])
    >>> round(model.value([0.5, 0.0]), 6), model.gradient([0.0, 0.0]).round(6)
    (8.25, array([4., 1.]))
    """
    x0 = vector(x0, "x0")
    g = Remembered(f)
    slope, curvature = numerical_gradient(g, x0).value, numerical_hessian(g, x0).value
    if not (np.isfinite(slope).all() and np.isfinite(curvature).all()):
        raise ValueError(f"f is not finite in a neighbourhood of x0 = {x0.tolist()}")
    return Quadratic.canonical(curvature, slope, g(x0))
