"""TODO src/pellucid/features/bases."""
