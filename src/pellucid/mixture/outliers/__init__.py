"""TODO src/pellucid/mixture/outliers."""
