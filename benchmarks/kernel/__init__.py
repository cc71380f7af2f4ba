"""Races of ``pellucid.kernel`` against the fastest peers."""
