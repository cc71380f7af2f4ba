"""Races of ``pellucid.features`` against the fastest peers."""
