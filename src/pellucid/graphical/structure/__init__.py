"""TODO src/pellucid/graphical/structure."""
