"""TODO src/pellucid/maths/matrices."""
