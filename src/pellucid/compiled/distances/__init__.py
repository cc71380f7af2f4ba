"""TODO src/pellucid/compiled/distances."""
