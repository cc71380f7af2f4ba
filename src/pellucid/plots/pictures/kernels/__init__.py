"""TODO src/pellucid/plots/pictures/kernels."""
