"""TODO src/pellucid/plots/pictures/mixtures."""
