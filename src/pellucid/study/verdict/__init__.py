"""TODO src/pellucid/study/verdict."""
