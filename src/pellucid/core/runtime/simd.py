"""What Numba does not find by itself: tiles of sums, asking for memory, pairs, meeting threads.

``vectors/tiles.py`` writes them in LLVM's terms, ``vectors/plain.py`` in NumPy's for where there is
no Numba. Everything else in the project is plain Numba. Kernels write ``simd.add_tile_1(...)``: a
name comes from its file when it is first asked for, so that a module with kernels loads no Numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pellucid.core.runtime.jit import why_plain

if TYPE_CHECKING:
    from pellucid.core.runtime.vectors.tiles import (
        LANES,
        TILE_ROWS,
        add_one,
        add_pairs,
        add_singles,
        add_tile_1,
        add_tile_2,
        add_tile_3,
        distance_tile_2,
        give_way,
        look_at,
        prefetch,
        set_tile_3,
        trailing_zeros,
    )

__all__ = [
    "LANES",
    "TILE_ROWS",
    "add_one",
    "add_pairs",
    "add_singles",
    "add_tile_1",
    "add_tile_2",
    "add_tile_3",
    "distance_tile_2",
    "give_way",
    "look_at",
    "prefetch",
    "set_tile_3",
    "trailing_zeros",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "plain" if why_plain() else "tiles"
    value = getattr(import_module(f"pellucid.core.runtime.vectors.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
