"""TODO src/pellucid/linear/lars."""
