"""TODO src/pellucid/compiled/trees."""
