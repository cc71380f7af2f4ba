"""The functions of ``core.runtime.simd``: ``tiles.py``, ``single.py`` for Numba, in LLVM's terms,
``plain.py`` for where there is none, in NumPy's.
"""
