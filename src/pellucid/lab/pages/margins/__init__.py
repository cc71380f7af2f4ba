"""TODO src/pellucid/lab/pages/margins."""
