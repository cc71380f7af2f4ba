"""Races of ``pellucid.evaluation`` against the fastest peers."""
