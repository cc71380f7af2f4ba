"""TODO src/pellucid/study/checks."""
