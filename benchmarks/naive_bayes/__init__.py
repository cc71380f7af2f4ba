"""Races of ``pellucid.naive_bayes`` against the fastest peers."""
