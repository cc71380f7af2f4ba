"""TODO src/pellucid/plots/pictures/regression."""
