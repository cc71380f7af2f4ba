"""TODO src/pellucid/ensemble/labels."""
