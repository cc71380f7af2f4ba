"""TODO src/pellucid/lab/pages/networks."""
