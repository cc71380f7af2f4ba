"""TODO src/pellucid/ensemble/boosting."""
