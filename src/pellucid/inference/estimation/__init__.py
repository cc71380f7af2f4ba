"""TODO src/pellucid/inference/estimation."""
