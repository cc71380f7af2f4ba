"""TODO src/pellucid/features/missing."""
