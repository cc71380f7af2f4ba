"""Races of ``pellucid.solvers`` against the fastest peers."""
