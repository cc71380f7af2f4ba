"""TODO src/pellucid/graphical/learning."""
