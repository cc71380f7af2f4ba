"""TODO src/pellucid/study/reading."""
