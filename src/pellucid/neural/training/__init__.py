"""TODO src/pellucid/neural/training."""
