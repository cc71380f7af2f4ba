"""TODO src/pellucid/deep/graphs."""
