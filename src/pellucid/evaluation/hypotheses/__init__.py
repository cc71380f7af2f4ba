"""TODO src/pellucid/evaluation/hypotheses."""
