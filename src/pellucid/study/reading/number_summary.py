r"""Everything about one numeric column from one sort.

With s the sorted finite cells: distinct values are the steps of s, the median and quartiles are
places in it, a histogram is a search for its edges. The robust z of a cell is

    z = |x - median| / scale,   scale = 1.4826 median |x - median|,  or IQR / 1.349 where that is 0

(both are the standard deviation for a normal column). Where every cell is positive the same is done
with logarithms and the smaller count holds, and more than 1 % of the cells are only outliers if a
gap sets them apart, so that a long tail is not called a mistake.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array

FAR = 6.0  # robust standard deviations
TAIL, GAP = 0.01, 2.0  # a larger share of far cells needs a gap of so many scales
BINS = 12
FEW = 10  # whole numbers with no more values than this are codes: none of them is an outlier
ISOLATED = 5.0  # a code stands apart if it is this many scales from the nearest other value
CODES = (
    -9.0,
    -99.0,
    -999.0,
    -9999.0,
    -99999.0,
    -999999.0,
    99.0,
    999.0,
    9999.0,
    99999.0,
    999999.0,
    9999999.0,
    -32768.0,
    -2147483648.0,
    2147483647.0,
    1e20,
    1e30,
    -1e20,
    -1e30,
)


class Ordered(NamedTuple):
    """Statistics of the finite cells of a column."""

    n: int  # finite cells
    missing: int
    infinite: int
    infinite_kinds: int  # 0, 1 or 2: signs of infinity that occur
    distinct: int
    whole: bool
    low: float
    high: float
    median: float
    mean: float
    sd: float
    top: int  # cells that equal the commonest value if it fills more than half, else 0
    far: int  # outliers
    far_low: float  # the cells beyond these bounds are far
    far_high: float
    codes: tuple[tuple[float, int], ...]  # sentinels and how often they occur
    counts: tuple[tuple[str, int], ...]


def ordered(x: Array) -> Ordered:
    """Sort once, then read everything off.

    >>> ordered(np.array([1.0, 2.0, np.nan, 2.0])).distinct
    2
    """
    absent = np.isnan(x)
    missing = int(np.count_nonzero(absent))
    s = np.sort(x)  # NaN last
    s = s[: len(s) - missing]
    minus, plus = int(np.searchsorted(s, -np.inf, "right")), int(np.searchsorted(s, np.inf))
    infinite = minus + len(s) - plus
    kinds = (minus > 0) + (plus < len(s))
    s = s[minus:plus]
    n = len(s)
    if n == 0:
        nan = float("nan")
        return Ordered(
            0, missing, infinite, kinds, 0, False, nan, nan, nan, nan, nan, 0, 0, nan, nan, (), ()
        )
    distinct = int(np.count_nonzero(s[1:] != s[:-1])) + 1
    low, high = float(s[0]), float(s[-1])
    whole = low.is_integer() and high.is_integer() and bool((s == np.rint(s)).all())
    median = middle(s)
    top = int(np.searchsorted(s, median, "right") - np.searchsorted(s, median))
    centre, sd = (low, 0.0) if low == high else mean_and_sd(s)
    codes = sentinels(s) if distinct > 1 else ()
    far, far_low, far_high = outliers(s, whole and distinct <= FEW, codes)
    return Ordered(
        n,
        missing,
        infinite,
        kinds,
        distinct,
        whole,
        low,
        high,
        median,
        centre,
        sd,
        top if 2 * top > n else 0,
        far,
        far_low,
        far_high,
        codes,
        histogram(s, whole, distinct),
    )


def mean_and_sd(s: Array) -> tuple[float, float]:
    """Of sorted finite numbers; where a square could overflow or vanish, in another unit.

    >>> mean_and_sd(np.array([1e308, 1.5e308])), mean_and_sd(np.array([0.0, 2e-300]))[1]
    ((1.25e+308, 2.5e+307), 1e-300)
    """
    size = max(-float(s[0]), float(s[-1]))
    unit = 2.0**600 if size < 1e-100 else 2.0**-600 if size > 1e100 else 1.0
    return float((s * unit).mean()) / unit, float((s * unit).std()) / unit


def middle(s: Array) -> float:
    """The median of sorted numbers."""
    n = len(s)
    return float(s[n // 2]) if n % 2 else float(0.5 * s[n // 2 - 1] + 0.5 * s[n // 2])


def robust_scale(s: Array) -> float:
    """1.4826 MAD of sorted numbers; IQR / 1.349 where more than half are equal; else 0."""
    d = np.abs(s - middle(s))
    k = len(d) // 2
    spread = 1.4826 * float(np.partition(d, k)[k])
    if spread == 0:
        spread = float(s[(3 * len(s)) // 4] - s[len(s) // 4]) / 1.349
    return spread


def outliers(
    s: Array, coded: bool, codes: tuple[tuple[float, int], ...]
) -> tuple[int, float, float]:
    """How many cells are far, and the bounds beyond which they are; sentinels are counted apart."""
    none = (0, float("-inf"), float("inf"))
    if coded or len(s) < 10:
        return none
    for value, _ in codes:
        s = s[s != value]
    if len(s) < 10:
        return none
    far, low, high = _beyond(s)
    if far and s[0] > 0:
        fewer, low_log, high_log = _beyond(np.log(s))
        if fewer < far:
            far, low, high = fewer, float(np.exp(low_log)), _exp(high_log)
    return far, low, high


def _exp(value: float) -> float:
    return float(np.exp(value)) if value < 700 else float("inf")


def _beyond(s: Array) -> tuple[int, float, float]:
    scale = robust_scale(s)
    if not 0 < scale < float("inf"):
        return 0, float("-inf"), float("inf")
    centre = middle(s)
    low, high = centre - FAR * scale, centre + FAR * scale
    a, b = int(np.searchsorted(s, low)), int(np.searchsorted(s, high, "right"))
    far = a + len(s) - b
    if far > TAIL * len(s):
        apart = (a == 0 or s[a] - s[a - 1] > GAP * scale) and (
            b == len(s) or s[b] - s[b - 1] > GAP * scale
        )
        if not apart:
            return 0, float("-inf"), float("inf")
    return far, low, high


def sentinels(s: Array) -> tuple[tuple[float, int], ...]:
    """Codes at the ends of sorted numbers that stand apart from everything else.

    A code stands apart when it is farther from the nearest other value than the others are from
    each other; a negative one of -99 or below also when all others are >= 0, and one that repeats
    when it is ``ISOLATED`` robust scales away.

    >>> sentinels(np.array([-999.0, -999.0, 1.0, 2.0, 3.0]))
    ((-999.0, 2),)
    """
    if s[0] not in CODES and s[-1] not in CODES:
        return ()
    found, rest = [], s
    for _ in range(4):  # several codes may be in use, the outermost is seen first
        for value, at_end in ((float(rest[0]), False), (float(rest[-1]), True)):
            if value not in CODES:
                continue
            cut = np.searchsorted(rest, value, "left" if at_end else "right")
            others = rest[:cut] if at_end else rest[cut:]
            count = len(rest) - len(others)
            if len(others) > max(2, count / 9) and _apart(value, count, others):
                found.append((value, count))
                rest = others
                break
        else:
            break
    return tuple(sorted(found))


def _apart(value: float, count: int, others: Array) -> bool:
    clean = others[~np.isin(others, CODES)]
    if len(clean) < 3 or clean[0] == clean[-1]:
        return False
    gap = value - float(clean[-1]) if value > clean[-1] else float(clean[0]) - value
    if gap > float(clean[-1] - clean[0]):
        return True
    if value <= -99 and clean[0] >= 0:
        return True
    scale = robust_scale(clean)
    return count > 1 and abs(value) >= 99 and scale > 0 and gap > ISOLATED * scale


def histogram(s: Array, whole: bool, distinct: int) -> tuple[tuple[str, int], ...]:
    """Counts of few whole numbers, or of 12 equal intervals."""
    n = len(s)
    if whole and distinct <= BINS:
        start = np.concatenate([[0], np.flatnonzero(s[1:] != s[:-1]) + 1, [n]])
        return tuple((f"{s[a]:.15g}", int(b - a)) for a, b in pairwise(start.tolist()))
    with np.errstate(over="ignore", invalid="ignore"):
        edges = s[0] + (s[-1] - s[0]) * (np.arange(BINS + 1) / BINS)
    if not np.isfinite(edges).all() or edges[0] == edges[-1]:
        return ((f"{s[0]:.4g} to {s[-1]:.4g}", n),)
    cuts = np.concatenate([[0], np.searchsorted(s, edges[1:-1]), [n]])
    digits = 4
    while digits < 15 and len({f"{edge:.{digits}g}" for edge in edges}) <= BINS:
        digits += 1
    return tuple(
        (f"{edges[i]:.{digits}g} to {edges[i + 1]:.{digits}g}", int(cuts[i + 1] - cuts[i]))
        for i in range(BINS)
    )
