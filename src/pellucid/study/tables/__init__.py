"""TODO src/pellucid/study/tables."""
