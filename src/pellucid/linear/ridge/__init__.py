"""TODO src/pellucid/linear/ridge."""
