"""Kernels that count: words, moments within classes, inversions, basis functions, pooled blocks."""
