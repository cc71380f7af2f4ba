"""TODO src/pellucid/linear/penalties."""
