"""Kernels that compare rows. Start with ``kd_tree.py``; ``brute.py`` looks at all rows."""
