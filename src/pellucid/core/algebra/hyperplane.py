r"""A hyperplane w.x + w0 = 0, with its distances and margins.

    score f(x) = w.x + w0,   distance f(x)/|w|,   projection x - f(x) w/|w|^2,
    functional margin y f(x), geometric margin y f(x)/|w|     (y = -1 or +1)

The same plane has many (w, w0); the canonical one of separated data has min y f = 1, so that the
margin is 1/|w|.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pellucid.core.arrays.typing import Array, ArrayLike
from pellucid.core.readable import readable


@readable
@dataclass(frozen=True, eq=False)
class Hyperplane:
    """The set of points with ``coef . x + intercept = 0``.

    Parameters
    ----------
    coef : array-like of shape (n_features,)
        The normal w; not all zero.
    intercept : float
        The offset w0.

    Examples
    --------
    >>> plane = Hyperplane((3, 4), -5)
    >>> plane.score([[3, 4]]), plane.distance([[3, 4]]), plane.origin_distance
    (array([20.]), array([4.]), 1.0)
    >>> plane.project([[3, 4]]), plane.equation()
    (array([[0.6, 0.8]]), '3 x0 + 4 x1 - 5 = 0')
    """

    coef: Any
    intercept: float

    def __post_init__(self) -> None:
        w = np.array(self.coef, dtype=np.float64).ravel()
        w0 = float(self.intercept)
        if not (np.isfinite(w).all() and np.isfinite(w0)):
            raise ValueError("coef and intercept of a hyperplane must be finite numbers")
        if not w.any():
            raise ValueError("coef is zero: no hyperplane has a normal of length 0")
        w.flags.writeable = False
        object.__setattr__(self, "coef", w)
        object.__setattr__(self, "intercept", w0)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hyperplane):
            return NotImplemented
        return self.intercept == other.intercept and np.array_equal(self.coef, other.coef)

    def __hash__(self) -> int:
        return hash((self.coef.tobytes(), self.intercept))

    @property
    def norm(self) -> float:
        """The length of the normal, safe from overflow in its squares."""
        return float(np.hypot.reduce(self.coef))

    @property
    def origin_distance(self) -> float:
        """Distance of the plane from the origin, |w0|/|w|."""
        return abs(self.intercept) / self.norm

    def score(self, X: ArrayLike) -> Array:
        """w.x + w0 of each row, shape (n,)."""
        return self._points(X) @ self.coef + self.intercept

    def distance(self, X: ArrayLike) -> Array:
        """Signed distance of each row; positive on the side the normal points to."""
        return self.score(X) / self.norm

    def project(self, X: ArrayLike) -> Array:
        """The nearest point of the plane to each row."""
        unit = self.coef / self.norm
        return self._points(X) - np.outer(self.distance(X), unit)

    def margins(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Functional margins y f(x) for labels -1 and +1; positive where the side is right."""
        labels = np.asarray(y, dtype=np.float64).ravel()
        if not np.isin(labels, (-1.0, 1.0)).all():
            raise ValueError("margins need labels -1 and +1 in y")
        scores = self.score(X)
        if len(labels) != len(scores):
            raise ValueError(f"X and y need as many rows, got {len(scores)} and {len(labels)}")
        return labels * scores

    def geometric_margins(self, X: ArrayLike, y: ArrayLike) -> Array:
        """Margins in units of distance, y f(x)/|w|."""
        return self.margins(X, y) / self.norm

    def canonical(self, X: ArrayLike, y: ArrayLike) -> "Hyperplane":
        """The same plane scaled so that the smallest functional margin is 1.

        >>> Hyperplane((2.0,), -6.0).canonical([[1.0], [5.0]], [-1, 1])
        Hyperplane(coef=array([0.5]), intercept=-1.5)
        """
        smallest = float(self.margins(X, y).min(initial=np.inf))
        if not 0 < smallest < np.inf:
            side = "every row on its right side (all margins > 0)"
            raise ValueError(f"a canonical hyperplane needs {side}, got a margin of {smallest:g}")
        return Hyperplane(self.coef / smallest, self.intercept / smallest)

    def equation(self, feature_names: Sequence[str] | None = None) -> str:
        """The plane in words, ``3 x0 + 4 x1 - 5 = 0``."""
        names = [f"x{j}" for j in range(len(self.coef))] if feature_names is None else feature_names
        if len(names) != len(self.coef):
            raise ValueError(f"feature_names must have {len(self.coef)} names, got {len(names)}")
        terms = [(w, f"{abs(w):.6g} {name}") for w, name in zip(self.coef, names, strict=True) if w]
        if self.intercept:
            terms.append((self.intercept, f"{abs(self.intercept):.6g}"))
        text = "".join(f" {'-' if value < 0 else '+'} {term}" for value, term in terms)
        return f"{'-' if terms[0][0] < 0 else ''}{text[3:]} = 0"

    def _points(self, X: ArrayLike) -> Array:
        points = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if points.shape[1] != len(self.coef):
            raise ValueError(f"the plane has {len(self.coef)} dimensions, rows {points.shape[1]}")
        return points
