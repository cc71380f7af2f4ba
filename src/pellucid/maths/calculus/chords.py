r"""Is a function convex? Chords can refute it, never prove it.

    convex:  f(lam a + (1-lam) b) <= lam f(a) + (1-lam) f(b)      for all a, b, 0 < lam < 1

Chords are drawn at random in a box, and, at some points, along the flattest and the most sharply
falling direction of the Hessian, where random chords would hardly ever lie: x'Ax with a null
direction is not strictly convex, and one narrow dent refutes convexity. A gap counts when it is
beyond the rounding of f and of the points.

Known by theory: H positive semidefinite everywhere iff convex; H positive definite everywhere
implies strictly convex (x^4 shows that the converse fails); sums of convex functions, and their
products with numbers >= 0, are convex.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.algebra.derivatives import numerical_hessian
from pellucid.core.algebra.linalg import EPS
from pellucid.core.arrays import check
from pellucid.core.arrays.matrices import numeric_matrix
from pellucid.core.arrays.typing import Array, ArrayLike, Rng, Seed
from pellucid.core.readable import readable
from pellucid.core.runtime.random import generator
from pellucid.maths.calculus.differentiation import Remembered
from pellucid.maths.inputs import vector
from pellucid.maths.wording import folded, number, one_line, point

AIMED = 20  # points at which the Hessian aims two chords
AIMED_UP_TO = 20  # variables; a Hessian costs 2 p^2 values


@readable
class Chord(NamedTuple):
    """Two points and a weight; gap = f(lam a + (1-lam) b) - lam f(a) - (1-lam) f(b).

    >>> Chord(np.zeros(1), np.ones(1), 0.5, 0.25).gap
    0.25
    """

    a: Array  # one end
    b: Array  # the other end
    lam: float  # weight of a, between 0 and 1
    gap: float | None  # None for sets

    def __repr__(self) -> str:
        return one_line(self)


@readable
class Convexity(NamedTuple):
    """What the chords tried say about convexity.

    >>> print(convexity(lambda x: abs(x[0]), -1.0, 1.0))
    convex: not refuted. No chord speaks against it, which is no proof.
    """

    verdict: str  # see ``convexity`` and ``convex_set``
    counterexample: Chord | None  # the worst chord, None: none found

    def __repr__(self) -> str:
        return one_line(self)

    def __str__(self) -> str:
        chord = self.counterexample
        if chord is None:
            return f"{self.verdict}. No chord speaks against it, which is no proof."
        m = chord.lam * chord.a + (1 - chord.lam) * chord.b
        ends = f"between {point(chord.a)} and {point(chord.b)}"
        if chord.gap is None:
            return folded(f"{self.verdict}. {point(m)} lies {ends}, but not in the set.")
        words = f"{self.verdict}. Not convex"
        if self.verdict == "neither":
            words = "neither convex nor concave"
        gap = number(chord.gap)
        return folded(f"{words}: {ends}, at {point(m)}, the function is {gap} above its chord.")


def convexity(
    f: Callable[[Array], Any],
    low: ArrayLike,
    high: ArrayLike,
    n_samples: int = 2000,
    random_state: Seed = 0,
) -> Convexity:
    """Look for chords that refute convexity, strict convexity and concavity in a box.

    ``f`` maps a vector to a number, ``low`` and ``high`` are the corners of the box, ``n_samples``
    the number of random chords and ``random_state`` their seed. The verdict is "strictly convex:
    not refuted", "convex: not refuted", "concave: not refuted" or "neither"; the counterexample is
    the chord with the largest gap, or None.

    >>> from pellucid.maths import convexity
    >>> convexity(lambda x: x @ x, [-1, -1], [1, 1]).verdict
    'strictly convex: not refuted'
    >>> convexity(lambda x: (x[0] + x[1]) ** 2, [-1, -1], [1, 1]).verdict
    'convex: not refuted'
    """
    check.whole(n_samples=n_samples)
    low, high = vector(low, "low"), vector(high, "high")
    low, high = np.broadcast_arrays(low, high)
    if not (low < high).all():
        raise ValueError(f"low must be below high, got {low.tolist()} and {high.tolist()}")
    g, rng = Remembered(f), generator(random_state)
    a, b = (rng.uniform(low, high, (n_samples, len(low))) for _ in range(2))
    if len(low) <= AIMED_UP_TO:
        aimed = _aimed(g, low, high, rng)
        a, b = np.vstack([a, aimed[0]]), np.vstack([b, aimed[1]])
    lam = rng.uniform(0.1, 0.9, len(a))
    gaps, rounding = _gaps(g, a, b, lam)
    worst = int(np.argmax(gaps - rounding))
    if gaps[worst] > rounding[worst]:
        verdict = "concave: not refuted" if (gaps >= -rounding).all() else "neither"
        return Convexity(verdict, Chord(a[worst], b[worst], float(lam[worst]), float(gaps[worst])))
    strict = bool((gaps < -rounding).all())
    return Convexity("strictly convex: not refuted" if strict else "convex: not refuted", None)


def _gaps(f: Callable[[Array], float], a: Array, b: Array, lam: Array) -> tuple[Array, Array]:
    """The gap of each chord and the size that rounding alone could give it."""
    middle = lam[:, None] * a + (1 - lam)[:, None] * b
    fa, fb, fm = (np.array([f(x) for x in points]) for points in (a, b, middle))
    if not (np.isfinite(fa) & np.isfinite(fb) & np.isfinite(fm)).all():
        raise ValueError("f is not finite everywhere in the box: choose low and high inside it")
    gaps = fm - lam * fa - (1 - lam) * fb
    values = 16 * EPS * (np.abs(fa) + np.abs(fb) + np.abs(fm))
    reach = np.maximum(np.abs(a), np.abs(b)).sum(axis=1)
    steepest = float((np.abs(fa - fb) / np.linalg.norm(a - b, axis=1)).max())
    rounding = values + 64 * EPS * steepest * reach  # generous: the steepest slope everywhere
    for i in np.flatnonzero(np.abs(gaps) <= rounding):  # look closer where it could matter
        moved = max(_moved(f, x) for x in (a[i], b[i], middle[i]))
        rounding[i] = values[i] + 8 * EPS * moved
    return gaps, rounding


def _moved(f: Callable[[Array], float], x: Array) -> float:
    """sum_j |df/dx_j| max(1e-3, |x_j|): what rounding of x, in units of eps, does to f."""
    h = 1e-6 * np.maximum(1.0, np.abs(x))
    slopes = [abs(f(x + step) - f(x - step)) for step in np.diag(h)] / (2 * h)
    slopes = np.where(np.isfinite(slopes), slopes, 0.0)
    return float(slopes @ np.maximum(1e-3, np.abs(x)))


def _aimed(f: Callable[[Array], float], low: Array, high: Array, rng: Rng) -> tuple[Array, Array]:
    """Chords along the flattest and the most negative direction of the Hessian at some points."""
    starts, ends = [], []
    for x in rng.uniform(low + 0.1 * (high - low), high - 0.1 * (high - low), (AIMED, len(low))):
        H = numerical_hessian(f, x).value
        if not np.isfinite(H).all():
            continue
        values, V = np.linalg.eigh(H)
        for j in {0, int(np.argmin(np.abs(values)))}:
            v = V[:, j]
            room = np.min(np.minimum(x - low, high - x) / np.maximum(np.abs(v), EPS))
            starts.append(x - room * v)
            ends.append(x + room * v)
    shape = (len(starts), len(low))
    return np.reshape(starts, shape), np.reshape(ends, shape)


def convex_set(
    contains: Callable[[Array], Any],
    points: ArrayLike,
    n_samples: int = 2000,
    random_state: Seed = 0,
) -> Convexity:
    """Look for two points of a set whose segment leaves it.

    ``contains`` is True of a vector inside the set. ``points`` are rows: those outside are left
    out, at least two must be inside. ``n_samples`` segments are tried, with the seed
    ``random_state``. The verdict is "convex: not refuted" or "not convex".

    >>> from pellucid.maths import convex_set
    >>> ring = convex_set(lambda x: 1 <= x @ x <= 4, [[2, 0], [-2, 0], [0, 1.5]])
    >>> ring.verdict
    'not convex'
    """
    check.whole(n_samples=n_samples)
    X = numeric_matrix(points, "points")
    X = X[[bool(contains(x.copy())) for x in X]]
    if len(X) < 2:
        raise ValueError(f"points must hold at least two points of the set, got {len(X)}")
    rng = generator(random_state)
    for _ in range(n_samples):
        i, j = rng.choice(len(X), 2, replace=False)
        lam = float(rng.uniform())
        if not contains(lam * X[i] + (1 - lam) * X[j]):
            return Convexity("not convex", Chord(X[i], X[j], lam, None))
    return Convexity("convex: not refuted", None)
