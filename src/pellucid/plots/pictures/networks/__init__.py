"""TODO src/pellucid/plots/pictures/networks."""
