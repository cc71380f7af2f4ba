"""TODO src/pellucid/study/columns."""
