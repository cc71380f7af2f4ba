"""Races of ``pellucid.maths`` against the fastest peers."""
