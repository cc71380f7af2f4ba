"""TODO src/pellucid/cluster/density."""
