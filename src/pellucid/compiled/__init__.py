"""Compiled kernels that two or more algorithms share.

``trees/`` growing and walking trees; ``distances/`` nearest rows; ``epochs/`` sweeps of linear
models; ``counts/`` words, moments, inversions.
"""
