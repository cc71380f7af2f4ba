"""TODO src/pellucid/kernel/graphs."""
