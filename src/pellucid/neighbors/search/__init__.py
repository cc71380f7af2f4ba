"""TODO src/pellucid/neighbors/search."""
