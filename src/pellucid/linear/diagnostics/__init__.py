"""TODO src/pellucid/linear/diagnostics."""
