"""TODO src/pellucid/graphical/inference."""
