"""TODO src/pellucid/cluster/choosing."""
