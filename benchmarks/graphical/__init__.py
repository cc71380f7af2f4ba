"""Races of ``pellucid.graphical`` against the fastest peers."""
