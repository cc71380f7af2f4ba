"""Where a generalised linear model starts: offsets, the model without x, the units of X."""

from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.linear.glm.families import Family
from pellucid.linear.glm.sums import Problem, Totals, evaluate
from pellucid.linear.linear_model import first_rows


def null_loss(problem: Problem, null: Array) -> float:
    """Half the deviance of the model without x, whose start may not be its minimum yet."""
    best, family = evaluate(problem, null, ""), problem.family
    powers = family.link == "log" and not np.isnan(family.power)
    exact = powers or first_rows(problem.source).y.ndim == 1  # in ``null_theta``
    while not exact and problem.intercept and np.isfinite(best.objective):
        point = evaluate(problem, best.theta, "expected")
        null = best.theta.copy()
        null[0] -= point.slope[0] / point.curvature[0, 0]
        tried = evaluate(problem, null, "")
        if not best.loss - tried.loss > 1e-12 * best.loss:
            break
        best = tried
    return best.loss


def in_units(problem: Problem, theta: Array) -> tuple[Array, float]:
    """Slopes and intercept for X itself."""
    coef = theta[1:].copy()
    return coef, float(theta[0] - coef @ problem.shift) if problem.intercept else 0.0


def offset_of(family: Family, offset: Any, exposure: Any, n: int) -> Array | None:
    """What is added to b + w.x, (n,), or None."""
    total = None
    if offset is not None:
        total = vector(n, offset=offset)
    if exposure is not None:
        if family.link != "log":
            raise ValueError(f"exposure needs a log link, this model has {family.link!r}")
        e = vector(n, exposure=exposure)
        if not (e > 0).all():
            row = int(np.argmax(~(e > 0)))
            raise ValueError(f"exposure must be > 0, got {e[row]:g} in row {row}")
        total = np.log(e) if total is None else total + np.log(e)
    return total


def vector(n: int, **given: Any) -> Array:
    """A finite number for every row."""
    ((name, value),) = given.items()
    found = np.asarray(value, dtype=np.float64)
    found = np.full(n, found) if found.ndim == 0 else found
    if found.shape != (n,):
        raise ValueError(f"{name} must have one number per row, shape ({n},), got {found.shape}")
    if not np.isfinite(found).all():
        row = int(np.argmax(~np.isfinite(found)))
        raise ValueError(f"{name} must be finite, got {found[row]} in row {row}")
    return found


def null_theta(problem: Problem, totals: Totals) -> Array:
    """The fit without x: exact for a log link with V = mu^p, and without an offset."""
    theta = np.zeros(len(problem.ridge))
    if not problem.intercept:
        return theta
    with np.errstate(invalid="ignore"):
        share = totals.shares[0] / totals.shares[1]
    if not np.isfinite(totals.shares).all():
        raise ValueError("the means overflow: the offset is too large")
    if problem.family.link == "identity":
        theta[0] = share
    elif not share > 0:
        raise ValueError(f"a log link needs a positive mean of y, got {totals.y / totals.weight:g}")
    else:
        theta[0] = np.log(share)
    return theta
