"""TODO src/pellucid/plots/pictures/evaluation."""
