"""TODO src/pellucid/plots/pictures/projections."""
