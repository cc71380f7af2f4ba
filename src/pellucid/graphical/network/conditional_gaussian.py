r"""Numbers whose line depends on categories: the building block of mixed networks.

Model        x | d, u ~ N(a_d + c_d . u, v_d): one line and one variance for each configuration d of
             the discrete parents, u the continuous ones
Learning     weighted least squares within each configuration, v = residual sum of squares / weight.
             A configuration without enough rows for a line of its own takes the line of all rows.

References: Lauritzen & Wermuth (1989); Koller & Friedman (2009), section 5.5.1.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable
from pellucid.graphical.network.names import Name


class _ConditionalGaussianCPD(NamedTuple):
    variable: Name
    intercepts: Array
    coefficients: Array
    variances: Array
    parents: tuple[Name, ...]
    given: tuple[Name, ...]


@readable
class ConditionalGaussianCPD(_ConditionalGaussianCPD):
    """A normal variable with a line of its own for each state of its discrete parents.

    Parameters
    ----------
    variable : name
        The child.
    intercepts : array of shape (states of the first discrete parent, ...)
        A number where there is none.
    coefficients : array of shape (states..., continuous parents)
        Slopes, one line for each combination of states.
    variances : array of the shape of ``intercepts``, ``> 0``
        Around the lines.
    parents : sequence of names, default=()
        The continuous parents, in the order of the coefficients.
    given : sequence of names, default=()
        The discrete parents, in the order of the axes.

    Examples
    --------
    >>> from pellucid.graphical import CPT, ConditionalGaussianCPD, MixedBayesianNetwork
    >>> sex = CPT("sex", [0.5, 0.5], states=["f", "m"])
    >>> height = ConditionalGaussianCPD("height", [165.0, 178.0], np.empty((2, 0)), [40.0, 50.0],
    ...                                 given=["sex"])
    >>> network = MixedBayesianNetwork(cpds=[sex, height])
    >>> network.query("sex", {"height": 180.0}).values.round(3)
    array([0.065, 0.935])
    >>> network.query("height").mean
    array([171.5])
    """

    def __new__(
        cls,
        variable: Name,
        intercepts: Any,
        coefficients: ArrayLike,
        variances: Any,
        *,
        parents: Any = (),
        given: Sequence[Name] = (),
    ) -> Self:
        parents, given = ((n,) if isinstance(n, str) else tuple(n) for n in (parents, given))
        a, v = np.array(intercepts, np.float64), np.array(variances, np.float64)
        c = np.array(coefficients, np.float64).reshape(*a.shape, -1 if a.size else 0)
        if a.ndim != len(given) or v.shape != a.shape or c.shape[-1] != len(parents):
            raise ValueError(
                f"{variable!r} needs intercepts and variances with {len(given)} axes and "
                f"{len(parents)} coefficients for each, got {a.shape}, {v.shape} and {c.shape}"
            )
        if len({variable, *parents, *given}) != 1 + len(parents) + len(given):
            raise ValueError(f"the parents of {variable!r} must be different others")
        if not (np.isfinite(a).all() and np.isfinite(c).all()):
            raise ValueError(f"intercepts and coefficients of {variable!r} must be finite")
        if not ((v > 0) & np.isfinite(v)).all():
            raise ValueError(f"the variances of {variable!r} must be > 0")
        return super().__new__(cls, variable, a, c, v, parents, given)

    def __getnewargs_ex__(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return tuple(self)[:4], {"parents": self.parents, "given": self.given}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConditionalGaussianCPD):
            return NotImplemented
        same = (self[0], self[4:]) == (other[0], other[4:])
        numbers = zip(self[1:4], other[1:4], strict=True)
        return same and all(np.array_equal(x, y) for x, y in numbers)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        causes = ", ".join(map(str, (*self.given, *self.parents)))
        return f"ConditionalGaussianCPD({self.variable}{f' | {causes}' if causes else ''})"

    def log_density(self, x: Array, cell: Array, U: Array) -> Array:
        """log p of rows: their value, their flat configuration, their continuous parents."""
        a, v = self.intercepts.reshape(-1)[cell], self.variances.reshape(-1)[cell]
        c = self.coefficients.reshape(self.intercepts.size, len(self.parents))[cell]
        gap = x - a - (c * U).sum(axis=1)
        return -0.5 * (np.log(2 * np.pi * v) + gap * gap / v)


class Lines(NamedTuple):
    cpd: ConditionalGaussianCPD
    pooled: tuple[tuple[int, ...], ...]  # configurations that took the line of all rows


def least_squares(x: Array, U: Array, w: Array) -> tuple[float, Array, float] | None:
    """Intercept, slopes and variance; None where the rows do not fix them."""
    total = w.sum()
    if not total > 0:
        return None
    mean, x_mean = w @ U / total, float(w @ x / total)
    root = np.sqrt(w)
    A, b = root[:, None] * (U - mean), root * (x - x_mean)
    slopes, _, rank, _ = np.linalg.lstsq(A, b, rcond=None)
    rest = b - A @ slopes
    v = float(rest @ rest / total)
    if rank < U.shape[1] or not v > 1e-14 * max(float(b @ b / total), 1e-300):
        return None
    return x_mean - float(mean @ slopes), slopes, v


def fit_lines(
    variable: Name,
    x: Array,
    U: Array,
    cell: Array,
    w: Array,
    shape: Sequence[int],
    parents: Sequence[Name],
    given: Sequence[Name],
) -> Lines:
    """A line for each configuration of the discrete parents."""
    everyone = least_squares(x, U, w)
    if everyone is None:
        raise ValueError(
            f"variable {variable!r} is constant or an exact function of its parents "
            f"{tuple(parents)}: its variance would be 0; drop it, or a parent"
        )
    size = int(np.prod(shape))
    a, c, v = np.empty(size), np.empty((size, U.shape[1])), np.empty(size)
    pooled = []
    order = np.argsort(cell, kind="stable")
    edges = np.searchsorted(cell[order], np.arange(size + 1))
    for k in range(size):
        rows = order[edges[k] : edges[k + 1]]
        found = least_squares(x[rows], U[rows], w[rows])
        if found is None:
            pooled.append(tuple(int(i) for i in np.unravel_index(k, shape)) if shape else ())
            found = everyone
        a[k], c[k], v[k] = found
    slopes = c.reshape(*shape, -1) if size * U.shape[1] else np.empty((*shape, 0))
    lines = (a.reshape(shape), slopes, v.reshape(shape))
    cpd = ConditionalGaussianCPD(variable, *lines, parents=parents, given=given)
    return Lines(cpd, tuple(pooled))
