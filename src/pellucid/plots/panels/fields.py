"""Functions of one or two numbers on a grid, for the pictures of calculus."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.maths import critical_point
from pellucid.maths import gradient as numerical_gradient
from pellucid.maths import hessian as numerical_hessian

SIDE = 61
NEWTON = 12
MOST_POINTS = 12


class Field(NamedTuple):
    """f on the grid of two lines; row i is y[i]."""

    x: Array  # (k,)
    y: Array  # (k,)
    z: Array  # (k, k)


class Stationary(NamedTuple):
    """A point where the gradient is zero, and what it is."""

    x: float
    y: float
    value: float
    kind: str


def function_of(f: Any) -> Callable[[Array], float]:
    """f(vector) as a number; objects with ``value`` (such as Quadratic) too."""
    inner = f.value if hasattr(f, "value") else f
    if not callable(inner):
        raise TypeError(f"f must be a function of a vector, got {type(f).__name__}")
    return lambda x: float(np.asarray(inner(x)).reshape(()))


def field_of(f: Callable[[Array], float], box: Sequence[float], side: int = SIDE) -> Field:
    """f over ((x low, x high), (y low, y high))."""
    bounds = np.asarray(box, dtype=np.float64)
    if bounds.shape != (2, 2) or not (bounds[:, 0] < bounds[:, 1]).all():
        raise ValueError(f"box must be ((x low, x high), (y low, y high)), got {box!r}")
    x, y = (np.linspace(low, high, side) for low, high in bounds)
    z = np.array([[f(np.array([a, b])) for a in x] for b in y])
    if not np.isfinite(z).all():
        raise ValueError("f must be finite in the whole box, got NaN or infinity")
    return Field(x, y, z)


def stationary_points(f: Callable[[Array], float], field: Field) -> tuple[Stationary, ...]:
    """Minima, maxima and saddle points in the box: the flattest cells, refined by Newton steps."""
    slopes = np.gradient(field.z, field.y, field.x)
    steep = np.hypot(*slopes)
    near = np.pad(steep, 1, constant_values=np.inf)
    sides = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    rows, columns = near.shape
    around = [near[1 + i : rows - 1 + i, 1 + j : columns - 1 + j] for i, j in sides]
    flat = np.argwhere(steep <= np.min(around, axis=0))
    flat = flat[np.argsort(steep[tuple(flat.T)], kind="stable")][:MOST_POINTS]
    cell = np.array([field.x[1] - field.x[0], field.y[1] - field.y[0]])
    size = max(float(np.ptp(field.z)), 1e-12) / float(np.hypot(*(cell * (SIDE - 1))))
    found: list[Stationary] = []
    for i, j in flat:
        at = newton(f, np.array([field.x[j], field.y[i]]), size)
        if at is None or not inside(at, field, cell):
            continue
        if any(np.all(np.abs(at - (p.x, p.y)) < cell) for p in found):
            continue
        kind = critical_point(f, at, tol=1e-4 * size).kind
        if kind == "undecided" and any(p.kind == kind for p in found):
            continue  # one point stands for the floor of a valley
        if kind != "not stationary":
            found.append(Stationary(float(at[0]), float(at[1]), f(at), kind))
    return tuple(found)


def newton(f: Callable[[Array], float], x: Array, size: float) -> Array | None:
    """Where the gradient vanishes near x, or None."""
    for _ in range(NEWTON):
        g = numerical_gradient(f, x)
        if np.linalg.norm(g) <= 1e-6 * size:
            return x
        step, *_ = np.linalg.lstsq(numerical_hessian(f, x), -g, rcond=1e-9)
        x = x + step
        if not np.isfinite(x).all() or not np.isfinite(f(x)):
            return None
    return x if np.linalg.norm(numerical_gradient(f, x)) <= 1e-4 * size else None


def inside(at: Array, field: Field, cell: Array) -> bool:
    low, high = np.array([field.x[0], field.y[0]]), np.array([field.x[-1], field.y[-1]])
    return bool(np.all((at >= low - 1e-9 * cell) & (at <= high + 1e-9 * cell)))
