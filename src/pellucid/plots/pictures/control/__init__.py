"""TODO src/pellucid/plots/pictures/control."""
