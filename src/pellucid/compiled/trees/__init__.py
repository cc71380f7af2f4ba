"""Kernels of decision trees, for ``tree`` and ``ensemble``. Start with ``growth.py``."""
