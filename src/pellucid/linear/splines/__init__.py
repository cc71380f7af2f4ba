"""TODO src/pellucid/linear/splines."""
