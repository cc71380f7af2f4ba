"""TODO src/pellucid/deep/transformers."""
