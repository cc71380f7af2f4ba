"""Races of ``pellucid.deep`` against the fastest peers."""
