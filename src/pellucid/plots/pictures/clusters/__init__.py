"""TODO src/pellucid/plots/pictures/clusters."""
