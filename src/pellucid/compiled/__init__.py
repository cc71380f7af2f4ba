"""Compiled kernels that two or more algorithms share."""
