"""TODO src/pellucid/cluster/medoids."""
