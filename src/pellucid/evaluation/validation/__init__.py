"""TODO src/pellucid/evaluation/validation."""
