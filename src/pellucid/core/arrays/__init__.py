"""TODO src/pellucid/core/arrays."""
