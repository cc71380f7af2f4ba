"""TODO src/pellucid/study/judging."""
