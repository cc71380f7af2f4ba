"""Races of ``pellucid.study`` against the fastest peers."""
