"""TODO src/pellucid/inference/decisions."""
