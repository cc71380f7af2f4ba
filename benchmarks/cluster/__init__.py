"""Races of ``pellucid.cluster`` against the fastest peers."""
