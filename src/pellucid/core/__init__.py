"""Pure functions on arrays: the mathematics that every family shares.

``arrays/`` checks, frames and types; ``loops/`` the driver of all iterations and sums over rows;
``algebra/`` linear algebra; ``functions/`` losses, penalties, kernels, distances; ``runtime/``
compiling, threads, randomness and warnings; ``records.py`` cards and summaries.
"""
