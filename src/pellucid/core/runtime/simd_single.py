"""A tile of single-precision products, for filters that double precision confirms.

``vectors/single.py`` writes it in LLVM's terms, ``vectors/plain.py`` in NumPy's for where there is
no Numba.
"""

from pellucid.core.runtime.jit import why_plain

if why_plain():
    from pellucid.core.runtime.vectors.plain import COLUMNS, ROWS, product_tile
else:
    from pellucid.core.runtime.vectors.single import COLUMNS, ROWS, product_tile

__all__ = ["COLUMNS", "ROWS", "product_tile"]
