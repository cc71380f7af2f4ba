"""TODO src/pellucid/cluster/hierarchy."""
