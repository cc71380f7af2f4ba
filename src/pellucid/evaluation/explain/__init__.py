"""TODO src/pellucid/evaluation/explain."""
