"""TODO src/pellucid/study/examples."""
