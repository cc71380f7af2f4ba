"""TODO src/pellucid/kernel/maximum_margin."""
