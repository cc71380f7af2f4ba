"""TODO src/pellucid/graphical/files."""
