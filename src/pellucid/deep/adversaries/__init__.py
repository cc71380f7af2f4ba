"""TODO src/pellucid/deep/adversaries."""
