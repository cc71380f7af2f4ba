"""Kernels that compare rows. Start with ``search.py``: it picks ``kd_tree.py`` or ``brute.py``."""
