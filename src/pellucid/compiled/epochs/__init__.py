"""TODO src/pellucid/compiled/epochs."""
