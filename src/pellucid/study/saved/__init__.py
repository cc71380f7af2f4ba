"""TODO src/pellucid/study/saved."""
