"""TODO src/pellucid/cluster/kmeans."""
