"""What Numba does not find by itself: tiles of sums, asking for memory, pairs, meeting threads.

``vectors/tiles.py`` writes them in LLVM's terms, ``vectors/plain.py`` in NumPy's for where there is
no Numba. Everything else in the project is plain Numba.
"""

from pellucid.core.runtime.jit import COMPILED

if COMPILED:
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
else:
    from pellucid.core.runtime.vectors.plain import (
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
