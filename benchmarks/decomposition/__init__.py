"""Races of ``pellucid.decomposition`` against the fastest peers."""
