"""Races of ``pellucid.linear`` against the fastest peers."""
