"""TODO src/pellucid/inference/beliefs."""
