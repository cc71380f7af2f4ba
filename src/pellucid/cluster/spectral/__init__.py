"""TODO src/pellucid/cluster/spectral."""
