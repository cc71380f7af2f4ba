"""TODO src/pellucid/kernel/approximation."""
