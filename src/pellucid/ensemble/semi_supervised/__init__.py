"""TODO src/pellucid/ensemble/semi_supervised."""
