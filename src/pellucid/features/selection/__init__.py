"""TODO src/pellucid/features/selection."""
