"""TODO src/pellucid/deep/recurrence."""
