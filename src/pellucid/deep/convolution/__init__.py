"""TODO src/pellucid/deep/convolution."""
