"""TODO src/pellucid/plots/pictures/maths."""
