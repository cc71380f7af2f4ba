"""Races of ``pellucid.mixture`` against the fastest peers."""
