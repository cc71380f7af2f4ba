"""Kernels that sweep over rows to fit linear models. Start with ``epochs.py``."""
