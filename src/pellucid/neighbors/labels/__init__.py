"""TODO src/pellucid/neighbors/labels."""
