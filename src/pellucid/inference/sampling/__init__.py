"""TODO src/pellucid/inference/sampling."""
