"""TODO src/pellucid/study/candidates."""
