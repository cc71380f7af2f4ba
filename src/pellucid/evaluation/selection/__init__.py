"""TODO src/pellucid/evaluation/selection."""
