"""Kernel functions and what can be asked of them.

``algebra.py`` re-exports the kernels of ``core.functions.kernels``; ``named.py`` finds one by its
name; ``kernel_check.py`` tests whether a function is a kernel; ``alignment.py`` compares it with a
target.
"""
