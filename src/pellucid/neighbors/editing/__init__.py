"""TODO src/pellucid/neighbors/editing."""
