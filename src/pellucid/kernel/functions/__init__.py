"""TODO src/pellucid/kernel/functions."""
