"""TODO src/pellucid/plots/pictures/neighbors."""
