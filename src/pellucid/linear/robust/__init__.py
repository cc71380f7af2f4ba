"""TODO src/pellucid/linear/robust."""
