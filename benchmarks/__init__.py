"""Ours against the fastest peers, each in its own process, as ratios."""
