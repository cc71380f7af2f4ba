"""Races of ``pellucid.ensemble`` against the fastest peers."""
