"""TODO src/pellucid/features/encoding."""
