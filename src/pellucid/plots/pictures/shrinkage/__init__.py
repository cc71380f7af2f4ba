"""TODO src/pellucid/plots/pictures/shrinkage."""
