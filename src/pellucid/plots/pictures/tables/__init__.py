"""TODO src/pellucid/plots/pictures/tables."""
