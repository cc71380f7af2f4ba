"""Races of ``pellucid.tree`` against the fastest peers."""
