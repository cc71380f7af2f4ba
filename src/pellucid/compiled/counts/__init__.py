"""TODO src/pellucid/compiled/counts."""
