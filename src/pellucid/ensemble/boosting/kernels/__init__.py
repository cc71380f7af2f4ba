"""TODO src/pellucid/ensemble/boosting/kernels."""
