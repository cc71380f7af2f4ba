"""TODO src/pellucid/ensemble/forest/kernels."""
