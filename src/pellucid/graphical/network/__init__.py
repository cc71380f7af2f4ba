"""TODO src/pellucid/graphical/network."""
