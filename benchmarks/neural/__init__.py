"""Races of ``pellucid.neural`` against the fastest peers."""
