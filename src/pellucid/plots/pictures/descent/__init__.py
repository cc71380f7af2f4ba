"""TODO src/pellucid/plots/pictures/descent."""
