"""TODO src/pellucid/lab/pages/descent."""
