"""TODO src/pellucid/evaluation/intervals."""
