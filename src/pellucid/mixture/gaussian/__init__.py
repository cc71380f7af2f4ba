"""TODO src/pellucid/mixture/gaussian."""
