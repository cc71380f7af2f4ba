"""TODO src/pellucid/cluster/soft."""
