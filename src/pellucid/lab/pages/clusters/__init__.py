"""TODO src/pellucid/lab/pages/clusters."""
