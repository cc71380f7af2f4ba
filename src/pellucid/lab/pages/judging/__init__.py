"""TODO src/pellucid/lab/pages/judging."""
