"""TODO src/pellucid/features/scaling."""
