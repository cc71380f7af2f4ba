"""TODO src/pellucid/plots/pictures/explanations."""
