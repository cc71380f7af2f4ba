"""TODO src/pellucid/ensemble/forest."""
