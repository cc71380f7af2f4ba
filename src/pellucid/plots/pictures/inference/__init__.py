"""TODO src/pellucid/plots/pictures/inference."""
