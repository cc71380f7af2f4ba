"""TODO src/pellucid/features/text."""
