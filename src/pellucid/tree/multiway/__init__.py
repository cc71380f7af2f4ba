"""TODO src/pellucid/tree/multiway."""
