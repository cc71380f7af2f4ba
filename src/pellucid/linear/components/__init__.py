"""TODO src/pellucid/linear/components."""
