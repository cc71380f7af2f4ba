"""TODO src/pellucid/evaluation/metrics."""
