"""TODO src/pellucid/core/functions."""
