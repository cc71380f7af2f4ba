"""TODO src/pellucid/core/runtime."""
