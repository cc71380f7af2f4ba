"""TODO src/pellucid/lab/pages/projections."""
