"""TODO src/pellucid/report/source."""
