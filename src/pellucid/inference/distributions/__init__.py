"""TODO src/pellucid/inference/distributions."""
