"""TODO src/pellucid/maths/chance."""
