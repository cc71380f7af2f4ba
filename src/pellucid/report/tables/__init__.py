"""TODO src/pellucid/report/tables."""
