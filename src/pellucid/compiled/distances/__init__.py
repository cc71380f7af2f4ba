"""Kernels that compare rows. Start with ``nearest.py``; then ``kd_tree.py`` and ``brute.py``."""
