"""TODO src/pellucid/lab/pages/control."""
