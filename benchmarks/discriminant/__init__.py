"""Races of ``pellucid.discriminant`` against the fastest peers."""
