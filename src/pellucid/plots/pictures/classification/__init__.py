"""TODO src/pellucid/plots/pictures/classification."""
