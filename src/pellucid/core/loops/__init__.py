"""TODO src/pellucid/core/loops."""
