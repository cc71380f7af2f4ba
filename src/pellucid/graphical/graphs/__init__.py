"""TODO src/pellucid/graphical/graphs."""
