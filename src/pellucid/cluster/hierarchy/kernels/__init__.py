"""TODO src/pellucid/cluster/hierarchy/kernels."""
