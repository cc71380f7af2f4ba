"""TODO src/pellucid/plots/pictures/trees."""
