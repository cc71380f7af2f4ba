"""TODO src/pellucid/evaluation/guarantees."""
