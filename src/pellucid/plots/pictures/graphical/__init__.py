"""TODO src/pellucid/plots/pictures/graphical."""
