"""TODO src/pellucid/deep/values."""
