r"""Rows in single precision, centred and scaled, with a bound on what that may cost.

    score(q, x) = |x|^2 - 2 q'x = |x - q|^2 - |q|^2        about a common origin

A search ranks or rules out rows by such scores and confirms in double precision what is left.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pellucid.core.arrays.typing import Array
from pellucid.core.runtime.simd_single import COLUMNS
from pellucid.core.runtime.threads import map_threads

LARGEST = 1e145  # of a spread: its square and the reciprocal of that are far from the limits


class Packed(NamedTuple):
    """Rows in single precision, ready for ``filtered_nearest``."""

    origin: Array  # (d,)
    unit: float  # squared distances are divided by it
    tiles: Any  # (blocks, d + 1, COLUMNS) float32
    longest: float  # of the rows about the origin, in these units
    blur: float  # what centring may cost per row: 2^-52 times the largest number
    scale: float  # the root of the unit
    sound: bool  # whether the unit, and so every bound, is an ordinary number


def pack_rows(X: Array) -> Packed:
    """Centre, scale to at most 1 and store by blocks, the squared length as last coordinate.

    Rows whose spread is too large or too small for its square say so: they are not packed.
    """
    n, d = X.shape
    with np.errstate(over="ignore", invalid="ignore"):
        origin = X.mean(axis=0)
        C = X - origin
        scale = float(np.abs(C).max()) or 1.0
    sound = 1.0 / LARGEST < scale < LARGEST
    if not sound:
        return Packed(origin, 1.0, np.empty((0, d + 1, COLUMNS), np.float32), 0.0, 0.0, 1.0, False)
    C /= scale
    squares = np.einsum("it,it->i", C, C)
    blocks = -(-n // COLUMNS)
    padded = np.zeros((blocks * COLUMNS, d + 1), np.float32)
    padded[:n, :d] = C
    padded[:n, d] = squares
    padded[n:, d] = 1e32  # never among the best
    tiles = padded.reshape(blocks, COLUMNS, d + 1).transpose(0, 2, 1)
    longest = float(np.sqrt(squares.max()))
    blur = float(np.abs(X).max()) * 2.0**-51 / scale
    return Packed(origin, scale * scale, np.ascontiguousarray(tiles), longest, blur, scale, True)


def query_scores(packed: Packed, Q: Array) -> tuple[Any, Array]:
    """Queries as (-2 q, 1) in single precision, and |q|^2 - margin.

    A score sums d + 1 products of rounded numbers: its error is below (d + 5) 2^-24 times the sum
    of their sizes, |x|^2 + 2 |q| |x|. Centring moved both rows by at most ``blur`` per coordinate.
    """
    m, d = Q.shape
    with np.errstate(over="ignore", invalid="ignore"):
        C = (Q - packed.origin) / packed.scale
        S = np.ones((m, d + 1), np.float32)
        S[:, :d] = -2 * C
        length = np.sqrt(np.einsum("it,it->i", C, C))
        far = packed.longest
        single = (d + 5) * 2.0**-24 * 1.01 * (far * far + 2 * length * far)
        moved = 2 * np.sqrt(d) * (packed.blur + np.abs(Q).max(axis=1) * 2.0**-51 / packed.scale)
        margin = single + 4 * (length + far) * moved + 4 * moved**2 + d * 1e-37
        margin += (1e-13 + d * 2.0**-52) * (length + far) ** 2
        return S, np.where(length < 1e14, length**2 - margin, np.nan)


def own(A: Array) -> Array:
    """The same rows as the kernels want them: in order and writeable, else they compile anew."""
    return np.require(A, np.float64, ["C", "W"])


def over(function: Callable[[Any], None], items: Sequence[Any]) -> None:
    """Run in threads, or here when there is one item: holding BLAS back costs more than it."""
    if len(items) == 1:
        function(items[0])
    else:
        list(map_threads(function, items))
