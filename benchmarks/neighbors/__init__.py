"""Races of ``pellucid.neighbors`` against the fastest peers."""
