"""Races of ``pellucid.reinforcement`` against the fastest peers."""
