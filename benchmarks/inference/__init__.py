"""Races of ``pellucid.inference`` against the fastest peers."""
