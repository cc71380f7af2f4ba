"""TODO src/pellucid/graphical/sequences."""
