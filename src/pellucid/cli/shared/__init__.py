"""TODO src/pellucid/cli/shared."""
